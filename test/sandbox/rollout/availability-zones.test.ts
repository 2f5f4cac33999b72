import { Node } from '@openstack-operator/kube';
import { annotations, Nova, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud } from './cloud.ts';
import { ask, login, request } from './keystone.ts';

const compute = 'http://my-cloud-nova-api.openstack.svc:8774/v2.1';
const placement = 'http://my-cloud-placement-api.openstack.svc:8778';
const nova = 'my-cloud-nova';

/** Two groups, each of the nodes of a rack. The audit runs every five minutes: what is to be seen takes less time. */
const spec = (zones: Readonly<Record<string, string | undefined>>, more: object = {}) => ({
  nova: {
    virtType: 'qemu',
    recordsAudit: { schedule: '*/5 * * * *' },
    nodeGroups: ['a', 'b'].map((name) => ({
      name,
      nodeSelector: { rack: name },
      ...(zones[name] === undefined ? {} : { availabilityZone: zones[name] }),
      ...more,
    })),
  },
});
const addNode = (cloud: Cloud, name: string, rack: string) =>
  cloud.rehearsal.sandbox.nodes.add({ name, labels: { rack }, capacity: { cpu: '4', memory: '16Gi' } });
const audited = (cloud: Cloud) => cloud.clock.advance(8 * 60_000);

async function zonedCloud(
  zones: Readonly<Record<string, string | undefined>>,
  more: object = {},
  stated: Readonly<Record<string, unknown>> = spec(zones, more),
): Promise<Cloud> {
  const cloud = await createCloud({ nodes: [] });
  addNode(cloud, 'node-1', 'a');
  addNode(cloud, 'node-2', 'b');
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane(stated)));
  await cloud.ready();
  return cloud;
}

interface Aggregate {
  readonly id: number;
  readonly name: string;
  readonly uuid: string;
  readonly availability_zone?: string;
  readonly hosts: readonly string[];
}

async function get<T>(cloud: Cloud, url: string): Promise<T> {
  return JSON.parse(await ask(cloud, await login(cloud), url)) as T;
}

async function post<T>(cloud: Cloud, path: string, body: object): Promise<T> {
  return JSON.parse(await request(cloud, await login(cloud), 'POST', `${compute}${path}`, body)) as T;
}

async function aggregatesOf(cloud: Cloud): Promise<readonly Aggregate[]> {
  return (await get<{ aggregates: readonly Aggregate[] }>(cloud, `${compute}/os-aggregates`)).aggregates;
}

/** Hosts of each aggregate, by its name. */
const hosts = async (cloud: Cloud) =>
  Object.fromEntries((await aggregatesOf(cloud)).map(({ name, hosts: all }) => [name, all.toSorted()]));

interface Provider {
  readonly uuid: string;
  readonly name: string;
  readonly generation: number;
}

const providersOf = async (cloud: Cloud): Promise<readonly Provider[]> =>
  (await get<{ resource_providers: readonly Provider[] }>(cloud, `${placement}/resource_providers`)).resource_providers;

/** Providers of Placement that are in an aggregate, by its name. */
async function providers(cloud: Cloud): Promise<Readonly<Record<string, readonly string[]>>> {
  const found: Record<string, string[]> = {};
  for (const { uuid, name } of await providersOf(cloud)) {
    const path = `${placement}/resource_providers/${uuid}/aggregates`;
    const { aggregates: ids } = await get<{ aggregates: readonly string[] }>(cloud, path);
    for (const one of await aggregatesOf(cloud)) if (ids.includes(one.uuid)) (found[one.name] ??= []).push(name);
  }
  return found;
}

/** The host of a new server that asks for a zone; its state, where it has none. */
async function boot(cloud: Cloud, zone: string): Promise<string> {
  await post(cloud, '/flavors', { flavor: { name: 'tiny', vcpus: 1, ram: 64, disk: 1 } });
  const server = { name: 'guest', flavorRef: '1', networks: 'none', availability_zone: zone };
  const { server: made } = await post<{ server: { id: string } }>(cloud, '/servers', { server });
  await cloud.clock.advance(60_000);
  const { server: now } = await get<{ server: Record<string, string> }>(cloud, `${compute}/servers/${made.id}`);
  return now['OS-EXT-SRV-ATTR:host'] ?? now['status'] ?? '';
}

const act = async (cloud: Cloud, name: string, action: object) => {
  const found = (await aggregatesOf(cloud)).find((one) => one.name === name);
  await post(cloud, `/os-aggregates/${found?.id}/action`, action);
};
const [a, b] = [`${nova}-zone-a`, `${nova}-zone-b`];
const told = (cloud: Cloud) => cloud.condition(Nova, nova, 'ResourcesReady');

test('hosts are in the zone of their group, and come, move, are repaired and go with their nodes', async () => {
  const cloud = await zonedCloud({ a: 'a', b: 'b' });
  expect(await hosts(cloud)).toEqual({ [a]: ['node-1'], [b]: ['node-2'] });
  expect(await providers(cloud)).toEqual({ [a]: ['node-1'], [b]: ['node-2'] });
  expect(await boot(cloud, 'b')).toBe('node-2');
  await expect(boot(cloud, 'c')).rejects.toThrow('The requested availability zone is not available');

  // What users have of aggregates stays as it is.
  await post(cloud, '/os-aggregates', { aggregate: { name: 'fast' } });
  await act(cloud, 'fast', { add_host: { host: 'node-1' } });

  addNode(cloud, 'node-3', 'b');
  await cloud.until(() => JSON.stringify(cloud.get('Nova', nova)?.['status']).includes('node-3'), 10);
  await cloud.ready();
  await cloud.clock.advance(120_000);
  expect(await hosts(cloud)).toEqual({ [a]: ['node-1'], [b]: ['node-2', 'node-3'], fast: ['node-1'] });
  expect(await providers(cloud)).toMatchObject({ [b]: ['node-2', 'node-3'] });

  await act(cloud, b, { remove_host: { host: 'node-3' } });
  expect((await hosts(cloud))[b]).toEqual(['node-2']);
  await audited(cloud);
  expect((await hosts(cloud))[b]).toEqual(['node-2', 'node-3']);

  await cloud.change(Node, 'node-3', { metadata: { labels: { 'openstack.k8s.io/node-group': 'a' } } });
  await cloud.clock.advance(300_000);
  expect(await hosts(cloud)).toEqual({ [a]: ['node-1', 'node-3'], [b]: ['node-2'], fast: ['node-1'] });

  await cloud.settle(cloud.rehearsal.sandbox.client().delete(Node, { name: 'node-3' }));
  cloud.rehearsal.sandbox.nodes.stop('node-3');
  // It may come back.
  await audited(cloud);
  expect(await hosts(cloud)).toMatchObject({ [a]: ['node-1', 'node-3'] });
  const forget = (names: string | null) =>
    cloud.change(OpenStackControlPlane, 'my-cloud', {
      metadata: { annotations: { [annotations.forgetNodes]: names } },
    });
  await forget('node-3');
  await cloud.until(() => !JSON.stringify(cloud.get('Nova', nova)?.['status']).includes('node-3'), 40);
  await forget(null);
  await cloud.ready();
  expect(await hosts(cloud)).toEqual({ [a]: ['node-1'], [b]: ['node-2'], fast: ['node-1'] });

  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: spec({ b: 'b' }) });
  await cloud.clock.advance(300_000);
  await cloud.ready();
  expect(await hosts(cloud)).toEqual({ [b]: ['node-2'], fast: ['node-1'] });
});

test('what Placement has lost of the aggregates is put back there: without it no server of a zone would boot', async () => {
  const cloud = await zonedCloud({ a: 'a', b: 'b' });
  const [one] = (await providersOf(cloud)).filter(({ name }) => name === 'node-2');
  const path = `${placement}/resource_providers/${one?.uuid}/aggregates`;
  await request(cloud, await login(cloud), 'PUT', path, {
    resource_provider_generation: one?.generation,
    aggregates: [],
  });
  expect(await providers(cloud)).toEqual({ [a]: ['node-1'] });
  expect(await boot(cloud, 'b')).toBe('ERROR');
  await audited(cloud);
  expect(await providers(cloud)).toEqual({ [a]: ['node-1'], [b]: ['node-2'] });
});

test('what Placement did not hear of a host that left a zone is taken away there: servers of that zone would boot on it', async () => {
  const cloud = await zonedCloud({ a: 'a', b: 'b' });
  const [one] = (await providersOf(cloud)).filter(({ name }) => name === 'node-2');
  await request(cloud, await login(cloud), 'PUT', `${placement}/resource_providers/${one?.uuid}/aggregates`, {
    resource_provider_generation: one?.generation,
    aggregates: (await aggregatesOf(cloud)).map(({ uuid }) => uuid),
  });
  expect(await providers(cloud)).toEqual({ [a]: ['node-1', 'node-2'], [b]: ['node-2'] });
  await audited(cloud);
  expect(await providers(cloud)).toEqual({ [a]: ['node-1'], [b]: ['node-2'] });
});

test('a cloud that never stated a zone asks nothing of aggregates, and leaves them to their owners, whatever their names are', async () => {
  const policy = { 'os_compute_api:os-aggregates:index': 'role:aggregates' };
  const groups = spec({});
  const cloud = await zonedCloud({}, {}, { nova: { ...groups.nova, policy } });
  expect(told(cloud)).toBeUndefined();
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { nova: { policy: null } } });
  await cloud.clock.advance(300_000);
  await cloud.ready();
  const theirs = { [a]: ['node-1'], [`${nova}-zone-mine`]: ['node-2'] };
  for (const [name, [host]] of Object.entries(theirs)) {
    await post(cloud, '/os-aggregates', { aggregate: { name, availability_zone: 'mine' } });
    await act(cloud, name, { add_host: { host } });
  }
  await audited(cloud);
  expect(await hosts(cloud)).toEqual(theirs);
  // Not even once zones are stated.
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: spec({ a: 'a' }) });
  await cloud.until(() => told(cloud)?.reason === 'Degraded', 10);
  expect(told(cloud)?.message).toContain(
    `host aggregate ${a} is not the operator's: rename it, or set its metadata openstack.k8s.io:nova=${nova} to hand it over`,
  );
  expect(await hosts(cloud)).toEqual(theirs);
  await act(cloud, a, { set_metadata: { metadata: { 'openstack.k8s.io:nova': nova } } });
  await audited(cloud);
  expect((await aggregatesOf(cloud)).find(({ name }) => name === a)).toMatchObject({ availability_zone: 'a' });
  await cloud.until(() => told(cloud)?.reason === 'Done', 10);
});

test('when node groups are taken out of the spec, hosts leave their zones, and the aggregates go', async () => {
  const cloud = await zonedCloud({ a: 'a', b: 'b' });
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { nova: { nodeGroups: null } } });
  await cloud.clock.advance(300_000);
  expect(await hosts(cloud)).toEqual({});
  expect(await providers(cloud)).toEqual({});
});

test('a host with servers stays in its zone, and is told, until these are gone; the others go', async () => {
  const cloud = await zonedCloud({ a: 'a', b: 'b' });
  expect(await boot(cloud, 'b')).toBe('node-2');
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: spec({ a: 'c', b: 'd' }) });
  await cloud.until(() => told(cloud)?.reason === 'Degraded', 10);
  await cloud.ready();
  expect(told(cloud)?.message).toContain(`node-2 stays in host aggregate ${b}: Cannot remove host from aggregate`);
  expect(told(cloud)?.message).toContain('already has 1 instance(s)');
  expect(told(cloud)?.message).toContain(`it is tried again by each run of the CronJob ${nova}-records-audit`);
  expect(cloud.condition(OpenStackControlPlane, 'my-cloud')).toMatchObject({
    status: 'True',
    message: expect.stringContaining('node-2 stays in host aggregate') as string,
  });
  expect(await hosts(cloud)).toEqual({ [`${nova}-zone-c`]: ['node-1'], [`${nova}-zone-d`]: [], [b]: ['node-2'] });

  const { servers } = await get<{ servers: readonly { id: string }[] }>(cloud, `${compute}/servers?all_tenants=1`);
  for (const { id } of servers) await request(cloud, await login(cloud), 'DELETE', `${compute}/servers/${id}`);
  await audited(cloud);
  expect(await hosts(cloud)).toEqual({ [`${nova}-zone-c`]: ['node-1'], [`${nova}-zone-d`]: ['node-2'] });
  await cloud.until(() => told(cloud)?.reason === 'Done', 10);
});

test('a host that runs servers already is not taken into a zone, and is told; traits reach Placement with the agents', async () => {
  const cloud = await zonedCloud({}, { traits: ['CUSTOM_SSD'] });
  expect(await hosts(cloud)).toEqual({});
  const traitsOf = async (uuid: string) =>
    (await get<{ traits: string[] }>(cloud, `${placement}/resource_providers/${uuid}/traits`)).traits;
  for (const { uuid } of await providersOf(cloud)) expect(await traitsOf(uuid)).toEqual(['CUSTOM_SSD']);
  const used = await boot(cloud, 'nova');
  const [zone, other] = used === 'node-1' ? [a, b] : [b, a];
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: spec({ a: 'a', b: 'b' }, { traits: ['CUSTOM_SSD'] }) });
  await cloud.until(() => told(cloud)?.reason === 'Degraded', 10);
  expect(told(cloud)?.message).toContain(`${used} is not taken into host aggregate ${zone}: Cannot add host`);
  expect(await hosts(cloud)).toEqual({ [zone]: [], [other]: [used === 'node-1' ? 'node-2' : 'node-1'] });
});
