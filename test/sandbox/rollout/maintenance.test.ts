import { Node } from '@openstack-operator/kube';
import { type ClaimedNode, Nova, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, readyCloud } from './cloud.ts';
import { asUser, userImage } from './servers.ts';
import { sharedCloud } from './shared-cloud.ts';

const nova = (enabled: boolean) => ({ nova: { virtType: 'qemu', liveMigration: { enabled } } });
const bringUp = (enabled: boolean) =>
  readyCloud({ nodes: ['node-1', 'node-2'], images: [userImage], spec: nova(enabled) });
const shared = sharedCloud(() => bringUp(true));

interface Host {
  readonly status: string;
  readonly reason: string | null;
  readonly servers: readonly string[];
}
const hosts = async (cloud: Cloud) => JSON.parse(await asUser(cloud, 'hosts')) as Record<string, Host>;

const maintain = (cloud: Cloud, node: string, reason: string | null) =>
  cloud.change(Node, node, { metadata: { annotations: { 'openstack.k8s.io/maintenance': reason } } });
const nodeIn = (cloud: Cloud, kind: string, name: string, node: string) =>
  ((cloud.get(kind, name)?.['status'] ?? {}) as { nodes?: readonly ClaimedNode[] }).nodes?.find(
    (one) => one.name === node,
  );
const maintenance = (cloud: Cloud, node: string) => nodeIn(cloud, 'Nova', 'my-cloud-nova', node)?.maintenance;
const notes = (cloud: Cloud, reason: string) =>
  cloud.list('Event').flatMap((event) => (event['reason'] === reason ? [String(event['message'])] : []));
const job = (cloud: Cloud) => cloud.get('Job', 'my-cloud-nova-maintenance');

/** Two servers of one node. Gives that, and the other one. */
async function twoServers(cloud: Cloud): Promise<{ one: string; other: string }> {
  await asUser(cloud, 'boot', 'mover', 'net');
  await asUser(cloud, 'boot', 'sleeper');
  const found = Object.entries(await hosts(cloud)).sort(([, a], [, b]) => b.servers.length - a.servers.length);
  expect(found.map(([, { servers }]) => servers)).toEqual([['mover ACTIVE', 'sleeper ACTIVE'], []]);
  const [one = '', other = ''] = found.map(([host]) => host);
  return { one, other };
}

test('a node in maintenance gets no servers, those that run leave it, and what stays is named; then it is as before', async () => {
  const { cloud } = await shared();
  const { one, other } = await twoServers(cloud);
  await asUser(cloud, 'act', 'sleeper', '{"os-stop":null}', 'SHUTOFF');
  await maintain(cloud, one, 'new kernel');
  expect(maintenance(cloud, one)).toEqual({ phase: 'Emptying' });
  await cloud.until(() => maintenance(cloud, one)?.phase === 'Occupied', 5);
  expect(maintenance(cloud, one)?.message).toMatch(/^[0-9a-f-]{36} \(sleeper\) is SHUTOFF$/);
  expect(await hosts(cloud)).toEqual({
    [one]: { status: 'disabled', reason: 'openstack.k8s.io/maintenance: new kernel', servers: ['sleeper SHUTOFF'] },
    [other]: { status: 'enabled', reason: null, servers: ['mover ACTIVE'] },
  });
  expect(nodeIn(cloud, 'OpenStackControlPlane', 'my-cloud', one)?.maintenance).toEqual(maintenance(cloud, one));
  expect(await asUser(cloud, 'ports')).toBe(`${other} ovs ACTIVE`);
  // It is tried again, and nothing waits for it.
  expect(cloud.condition(Nova, 'my-cloud-nova', 'MaintenanceReady')).toMatchObject({ status: 'True', reason: 'Done' });
  expect(cloud.condition(OpenStackControlPlane, 'my-cloud')).toMatchObject({ status: 'True', message: '' });
  await asUser(cloud, 'boot', 'later');
  expect((await hosts(cloud))[other]?.servers).toEqual(['mover ACTIVE', 'later ACTIVE']);

  await asUser(cloud, 'delete', 'sleeper');
  await cloud.until(() => maintenance(cloud, one)?.phase === 'Emptied', 20);
  expect(maintenance(cloud, one)).toEqual({ phase: 'Emptied' });
  expect(notes(cloud, 'NodeOccupied')).toEqual([expect.stringContaining(`node ${one}: `)]);
  expect(notes(cloud, 'NodeEmptied')).toEqual([`node ${one} is empty`]);
  const run = job(cloud)?.metadata.uid;
  await cloud.clock.advance(1_200_000);
  expect(job(cloud)?.metadata.uid, 'what is empty is not asked for again').toBe(run);

  await maintain(cloud, one, null);
  await cloud.until(() => maintenance(cloud, one) === undefined, 5);
  expect((await hosts(cloud))[one]).toEqual({ status: 'enabled', reason: null, servers: [] });
  expect(notes(cloud, 'NodeReturned')).toHaveLength(1);
  await cloud.until(() => job(cloud) === undefined, 2);
  expect(cloud.condition(Nova, 'my-cloud-nova', 'MaintenanceReady')).toBeUndefined();
  await asUser(cloud, 'delete');
});

test('where the cloud says so a cordon is a maintenance, and ends with it', async () => {
  const { cloud } = await shared();
  await asUser(cloud, 'boot', 'mover', 'net');
  const one = Object.entries(await hosts(cloud)).find(([, { servers }]) => servers.length > 0)?.[0] ?? '';
  const cordon = (unschedulable: true | null) => cloud.change(Node, one, { spec: { unschedulable } });
  const say = (onCordon: boolean | null) =>
    cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { nova: { maintenance: { onCordon } } } });
  const of = async () => (await hosts(cloud))[one];
  await cordon(true);
  await cloud.clock.advance(300_000);
  expect([maintenance(cloud, one), (await of())?.status]).toEqual([undefined, 'enabled']);

  await say(true);
  await cloud.until(() => maintenance(cloud, one)?.phase === 'Emptied', 5);
  expect(await of()).toEqual({
    status: 'disabled',
    reason: 'openstack.k8s.io/maintenance: cordoned',
    servers: [],
  });
  expect(Object.values(await hosts(cloud)).flatMap(({ servers }) => servers)).toEqual(['mover ACTIVE']);
  // The annotation's own reason, and its own end.
  await maintain(cloud, one, 'new kernel');
  await cordon(null);
  await cloud.clock.advance(300_000);
  expect((await of())?.status).toBe('disabled');
  await maintain(cloud, one, null);
  await cloud.until(() => maintenance(cloud, one) === undefined, 5);
  expect(await of()).toEqual({ status: 'enabled', reason: null, servers: [] });

  await cordon(true);
  await cloud.until(() => maintenance(cloud, one)?.phase === 'Emptied', 5);
  await cordon(null);
  await cloud.until(() => maintenance(cloud, one) === undefined, 5);
  expect((await of())?.status).toBe('enabled');
  await say(null);
  await cloud.ready();
  await asUser(cloud, 'delete');
});

test('what somebody else has disabled stays so', async () => {
  const { cloud } = await shared();
  await asUser(cloud, 'disable', 'node-2', 'its disk is broken');
  await maintain(cloud, 'node-2', 'new disk');
  await cloud.until(() => maintenance(cloud, 'node-2')?.phase === 'Emptied', 5);
  await maintain(cloud, 'node-2', null);
  await cloud.until(() => maintenance(cloud, 'node-2') === undefined, 5);
  expect((await hosts(cloud))['node-2']).toEqual({ status: 'disabled', reason: 'its disk is broken', servers: [] });
});

test('a node that has lost its labels, and the annotation with them, is let in again', async () => {
  const { cloud } = await shared();
  await maintain(cloud, 'node-1', 'new board');
  await cloud.until(() => maintenance(cloud, 'node-1')?.phase === 'Emptied', 5);
  const labels = Object.fromEntries(
    ['cloud', 'node-group', 'compute'].map((name) => [`openstack.k8s.io/${name}`, null]),
  );
  const annotations = { 'openstack.k8s.io/maintenance': null };
  await cloud.change(Node, 'node-1', { metadata: { labels, annotations }, spec: { unschedulable: true } });
  await cloud.until(() => nodeIn(cloud, 'Nova', 'my-cloud-nova', 'node-1')?.phase === 'Lost', 5);
  await cloud.change(Node, 'node-1', { spec: { unschedulable: null } });
  await cloud.until(() => maintenance(cloud, 'node-1') === undefined, 10);
  await cloud.ready();
  expect((await hosts(cloud))['node-1']).toMatchObject({ status: 'enabled', reason: null });
});

test('without live migration servers stay, and it is said why', async () => {
  const { cloud } = await bringUp(false);
  const { one } = await twoServers(cloud);
  await maintain(cloud, one, 'say $(OS_PASSWORD) "{{aloud}}"');
  await cloud.until(() => maintenance(cloud, one)?.phase === 'Occupied', 5);
  expect(maintenance(cloud, one)?.message).toMatch(
    /\(mover\): spec\.liveMigration\.enabled is not set; .*\(sleeper\): spec\.liveMigration\.enabled is not set$/,
  );
  expect((await hosts(cloud))[one]).toEqual({
    status: 'disabled',
    reason: 'openstack.k8s.io/maintenance: say $(OS_PASSWORD) "{{aloud}}"',
    servers: ['mover ACTIVE', 'sleeper ACTIVE'],
  });
});
