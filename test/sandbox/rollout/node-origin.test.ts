import { Node, type OwnerReference, Pod, Secret } from '@openstack-operator/kube';
import { conditionOf, OVNNetwork } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, createCloud } from './cloud.ts';
import { claimantOf, edgeNetwork, nodeOf, onNode, removed } from './edge-network.ts';

const marker = 'openstack.k8s.io/released-from';
const isCleaner = (name: string) => name.includes('node-cleaning');
const told = (cloud: Cloud, namespace: string) => {
  const network = cloud.get('OVNNetwork', 'net', namespace);
  return (network && conditionOf(network, 'NodesReady')?.message) ?? '';
};
/** A network of namespace `first` on node-1, with a guest's disk there. */
async function withDisk(spec: object = {}): Promise<Cloud> {
  const cloud = await createCloud();
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(edgeNetwork('first', spec)));
  await cloud.until(() => claimantOf(cloud) === 'first.standalone', 10);
  await onNode(cloud, 'mkdir -p /var/lib/nova/instances/guest; echo disk > /var/lib/nova/instances/guest/disk');
  return cloud;
}
const diskOf = (cloud: Cloud) => onNode(cloud, 'cat /var/lib/nova/instances/guest/disk 2>/dev/null || echo none');
const claimed = async (cloud: Cloud, namespace: string) => {
  await cloud.settle(cloud.rehearsal.create(edgeNetwork(namespace)));
  await cloud.until(() => claimantOf(cloud) === `${namespace}.standalone`, 10);
};

test.each([
  ['that somebody took the label off', false, false],
  ['that was restored before the deletion, without labels', true, false],
  ['that was lost after the deletion, and restored', false, true],
])('Retain: a network made again finds its node as it was, with a digest key %s', async (_what, before, after) => {
  const cloud = await withDisk();
  const client = cloud.rehearsal.sandbox.client();
  const ref = { namespace: 'first', name: 'openstack-digest-key' };
  const key = cloud.get('Secret', ref.name, ref.namespace) as Secret;
  const restore = async (labels: Record<string, string>) => {
    await cloud.settle(client.delete(Secret, ref));
    const { apiVersion, kind, data } = key;
    await cloud.settle(
      client.create(Secret, { apiVersion, kind, metadata: { ...ref, labels }, ...(data && { data }) }),
    );
  };
  if (before) await restore({});
  else if (!after) {
    const labels = { 'app.kubernetes.io/managed-by': null };
    await cloud.settle(client.patch(Secret, ref, 'merge', { metadata: { labels } }));
  }
  await cloud.clock.advance(600_000);
  await removed(cloud, 'first');
  if (after) await restore(key.metadata.labels ?? {});
  await claimed(cloud, 'first');
  expect(await diskOf(cloud)).toBe('disk');
});

test('Retain: a network made again with another digest key leaves its node as it is, until somebody says what is to be done', async () => {
  const cloud = await withDisk();
  const client = cloud.rehearsal.sandbox.client();
  await removed(cloud, 'first');
  await cloud.settle(client.delete(Secret, { namespace: 'first', name: 'openstack-digest-key' }));
  await cloud.settle(cloud.rehearsal.create(edgeNetwork('first')));
  await cloud.until(() => told(cloud, 'first').includes('at the time of another openstack-digest-key'), 10);
  await cloud.clock.advance(600_000);
  expect(claimantOf(cloud)).toBeUndefined();
  expect(await diskOf(cloud)).toBe('disk');
  await cloud.change(Node, 'node-1', { metadata: { annotations: { [marker]: 'first/net' } } });
  await cloud.until(() => claimantOf(cloud) === 'first.standalone', 10);
  expect(await diskOf(cloud)).toBe('none');
});

test('a network that wanted a node, and never cleaned it, leaves the note of whose it is', async () => {
  const cloud = await withDisk();
  await removed(cloud, 'first');
  const note = nodeOf(cloud)?.annotations?.[marker];
  expect(note).toMatch(/^first\/net\/.+/);
  const images = { 'ovs-vswitchd': 'registry.invalid/no-such:1' };
  await cloud.settle(cloud.rehearsal.create(edgeNetwork('second', { images })));
  await cloud.until(() => nodeOf(cloud)?.labels?.['openstack.k8s.io/cleaned-for'] !== undefined, 10);
  await cloud.clock.advance(60_000);
  await removed(cloud, 'second');
  expect(nodeOf(cloud)?.annotations?.[marker]).toBe(note);
  await claimed(cloud, 'first');
  expect(await diskOf(cloud)).toBe('disk');
});

test('a node that has lost its labels when its cloud goes is cleaned for the next one', async () => {
  const cloud = await withDisk({ deletionPolicy: 'Delete' });
  await cloud.clock.advance(300_000);
  const labels = { 'openstack.k8s.io/cloud': null, 'openstack.k8s.io/node-group': null };
  await cloud.change(Node, 'node-1', { spec: { unschedulable: true }, metadata: { labels } });
  await cloud.clock.advance(60_000);
  await removed(cloud, 'first');
  expect(nodeOf(cloud)?.annotations?.[marker]).toBe('first/net');
  await cloud.change(Node, 'node-1', { spec: { unschedulable: null } });
  await claimed(cloud, 'second');
  expect(await diskOf(cloud)).toBe('none');
});

test('a copy that was restored with its status into another namespace lets no node of the original go', async () => {
  const cloud = await withDisk();
  const client = cloud.rehearsal.sandbox.client();
  await cloud.clock.advance(300_000);
  const agents = () =>
    cloud.list('Pod').flatMap(({ metadata: { namespace, uid } }) => (namespace === 'first' ? [uid] : []));
  const before = agents();
  expect(before).not.toEqual([]);
  const status = cloud.get('OVNNetwork', 'net', 'first')?.['status'];
  expect(status).toMatchObject({ cloud: 'first.standalone' });
  await cloud.settle(cloud.rehearsal.create(edgeNetwork('second')));
  const ref = { namespace: 'second', name: 'net' };
  await cloud.settle(client.patch(OVNNetwork, ref, 'merge', { status }, { subresource: 'status' }));
  await cloud.clock.advance(120_000);
  await removed(cloud, 'second');
  await cloud.clock.advance(300_000);
  expect(claimantOf(cloud)).toBe('first.standalone');
  expect(agents()).toEqual(before);
  expect(await diskOf(cloud)).toBe('disk');
});

test('a pod that a user of the namespace makes does not stand for the one that cleans a node', async () => {
  const cloud = await createCloud({ nodes: [] });
  const client = cloud.rehearsal.sandbox.client();
  const files = { '/proc/4711/comm': 'qemu-system-x86\n', '/var/lib/nova/compute_id': 'x' };
  cloud.rehearsal.sandbox.nodes.add({ name: 'node-1', capacity: { cpu: '8', memory: '16Gi' }, files });
  await cloud.startOperator();
  await cloud.until(() => nodeOf(cloud) !== undefined);
  await cloud.change(Node, 'node-1', { metadata: { annotations: { [marker]: 'first/net' } } });
  await cloud.settle(cloud.rehearsal.create(edgeNetwork('second')));
  await cloud.until(() => told(cloud, 'second').includes('guests of another cloud'), 10);
  const cleaner = cloud.list('DaemonSet').find(({ metadata }) => isCleaner(metadata.name))?.metadata;
  const { name = '', labels = {} } = cloud.list('Pod').find(({ metadata }) => isCleaner(metadata.name))?.metadata ?? {};
  // Held by a finalizer, the real one exists, and no other one is made in its place.
  const finalizers = ['example.com/hold'];
  await cloud.settle(client.patch(Pod, { namespace: 'second', name }, 'merge', { metadata: { finalizers } }));
  await cloud.settle(client.delete(Pod, { namespace: 'second', name }));
  await cloud.until(() => cloud.get('ServiceAccount', 'default', 'second') !== undefined);
  const owner: OwnerReference = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    name: cleaner?.name ?? '',
    uid: cleaner?.uid ?? '',
    controller: true,
  };
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'not-a-cleaner', namespace: 'second', labels, ownerReferences: [owner] },
    spec: { nodeName: 'node-1', containers: [{ name: 'a', image: 'nova-libvirt', command: ['sleep', '6000'] }] },
  };
  await cloud.settle(client.create(Pod, pod));
  await cloud.clock.advance(120_000);
  const planted = cloud.get('Pod', 'not-a-cleaner', 'second');
  expect(planted && conditionOf(planted, 'Ready')?.status).toBe('True');
  expect(claimantOf(cloud)).toBeUndefined();
});

test('a pod of somebody else does not keep a released node from anybody', async () => {
  const cloud = await withDisk();
  const client = cloud.rehearsal.sandbox.client();
  await removed(cloud, 'first');
  const labels = {
    'app.kubernetes.io/managed-by': 'openstack-operator',
    'app.kubernetes.io/component': 'node-cleaning',
  };
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'in-the-way', namespace: 'default', labels },
    spec: { nodeName: 'node-1', containers: [{ name: 'a', image: 'nova-libvirt', command: ['sleep', '6000'] }] },
  };
  await cloud.settle(client.create(Pod, pod));
  await cloud.clock.advance(60_000);
  await claimed(cloud, 'first');
  expect(await diskOf(cloud)).toBe('disk');
});
