import { expect, test } from 'vitest';
import { admin } from './fixture.ts';
import { openstack } from './running-cloud.ts';

interface Hypervisor {
  readonly name: string;
  readonly state: string;
  readonly status: string;
}

interface Inventory {
  readonly resource_class: string;
  readonly total: number;
}

interface Agent {
  readonly Binary: string;
  readonly Host: string;
  readonly Alive: boolean;
  readonly State: boolean;
}

test('every service of Nova is up', async () => {
  const services = await openstack<{ Binary: string; Status: string; State: string }[]>('compute', 'service', 'list');
  const binaries = services.map(({ Binary }) => Binary);
  expect(binaries).toEqual(expect.arrayContaining(['nova-compute', 'nova-conductor', 'nova-scheduler']));
  expect(services.filter(({ Status, State }) => Status !== 'enabled' || State !== 'up')).toEqual([]);
});

test("every agent of Neutron is alive, on every hypervisor's node", async () => {
  const agents = await openstack<Agent[]>('network', 'agent', 'list');
  expect(agents.filter(({ Alive, State }) => !Alive || !State)).toEqual([]);
  const binaries = (host: string) => agents.filter(({ Host }) => Host === host).map(({ Binary }) => Binary);
  for (const { name } of await admin.call<Hypervisor[]>('compute.hypervisors', { details: true })) {
    expect(binaries(name), name).toEqual(expect.arrayContaining(['ovn-controller', 'neutron-ovn-metadata-agent']));
  }
});

test('every hypervisor is up, and Placement knows what it has', async () => {
  const hypervisors = await admin.call<Hypervisor[]>('compute.hypervisors', { details: true });
  expect(hypervisors.length).toBeGreaterThan(0);
  const providers = await admin.call<{ id: string; name: string }[]>('placement.resource_providers');
  for (const { name, state, status } of hypervisors) {
    expect({ name, state, status }).toEqual({ name, state: 'up', status: 'enabled' });
    const provider = providers.find((one) => one.name === name);
    const inventories = await admin.call<Inventory[]>('placement.resource_provider_inventories', provider?.id);
    const total = (kind: string) => inventories.find((one) => one.resource_class === kind)?.total ?? 0;
    expect(total('VCPU')).toBeGreaterThan(0);
    expect(total('MEMORY_MB')).toBeGreaterThan(0);
    expect(total('DISK_GB')).toBeGreaterThan(0);
  }
});
