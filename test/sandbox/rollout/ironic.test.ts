import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { identityOnly, readyCloud, withResources } from './cloud.ts';
import { ask, entitiesOf, login, request } from './keystone.ts';

const url = 'http://my-cloud-ironic-api.openstack.svc:6385/v1';
const spec = { ...identityOnly, rabbitmq: {}, glance: {}, ironic: { enabledDrivers: ['fake-hardware'] } };

test('a machine is enrolled, managed, made available, deployed and powered; it outlives that Ironic was disabled', async () => {
  const { cloud } = await readyCloud({ spec });
  expect(cloud.isReady('Ironic', 'my-cloud-ironic')).toBe(true);
  expect(await entitiesOf(cloud, 'services')).toContainEqual(
    expect.objectContaining({ name: 'ironic', type: 'baremetal' }),
  );
  const token = await login(cloud);
  const made = await request(cloud, token, 'POST', `${url}/nodes`, { name: 'rack-1', driver: 'fake-hardware' });
  const { uuid, provision_state: enrolled } = JSON.parse(made) as Record<string, string>;
  expect(enrolled).toBe('enroll');
  const node = async () => JSON.parse(await ask(cloud, token, `${url}/nodes/${uuid}`)) as Record<string, string>;
  for (const [target, state] of [
    ['manage', 'manageable'],
    ['provide', 'available'],
    ['active', 'active'],
  ]) {
    await request(cloud, token, 'PUT', `${url}/nodes/${uuid}/states/provision`, { target });
    expect(await node()).toMatchObject({ provision_state: state });
  }
  await request(cloud, token, 'PUT', `${url}/nodes/${uuid}/states/power`, { target: 'power on' });
  expect(await node()).toMatchObject({ power_state: 'power on' });
  const other = await ask(cloud, token, `${url}/nodes`, { name: 'rack-2', driver: 'ipmi' });
  expect(other).toContain('No conductor service registered which supports driver ipmi');
  await cloud.change(OpenStackControlPlane, 'my-cloud', { ...withResources, spec: { ironic: { enabled: false } } });
  await cloud.until(() => cloud.get('Ironic', 'my-cloud-ironic') === undefined);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { ironic: { enabled: null } } });
  await cloud.ready();
  expect(JSON.parse(await ask(cloud, await login(cloud), `${url}/nodes`))).toMatchObject({
    nodes: [{ name: 'rack-1' }],
  });
});

test('machines boot by a node: its proxy leads to the files of the conductor', async () => {
  const provisioning = { interface: 'eth1', address: '192.0.2.1' };
  const dhcpRange = '192.0.2.50-192.0.2.99';
  const { cloud } = await readyCloud({ spec: { ...spec, ironic: { ...spec.ironic, provisioning, dhcpRange } } });
  const [pod] = cloud.list('Pod').filter(({ metadata }) => metadata.name.includes('ironic-boot'));
  expect(pod).toMatchObject({ spec: { hostNetwork: true }, status: { phase: 'Running' } });
  const { hostIP } = (pod?.['status'] ?? {}) as { hostIP?: string };
  expect(await ask(cloud, '', `http://${hostIP}:8088/boot.ipxe`)).toContain('#!ipxe');
});
