import { type Kind, Namespace, Node, Pod, type StoredObject } from '@openstack-operator/kube';
import { conditionOf, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, readyCloud } from './cloud.ts';
import { claimantOf, edgeNetwork, nodeOf, onNode, removed } from './edge-network.ts';
import { asUser, userImage } from './servers.ts';

const ControlPlane = OpenStackControlPlane as Kind;
const marker = 'openstack.k8s.io/released-from';
const cleaned = 'openstack.k8s.io/cleaned-for';
const ourLabels = (cloud: Cloud, name?: string) =>
  Object.keys(nodeOf(cloud, name)?.labels ?? {}).filter((label) => label.startsWith('openstack.k8s.io/'));
const releasedFrom = (cloud: Cloud, name?: string) =>
  nodeOf(cloud, name)?.annotations?.[marker]?.split('/').slice(0, 2).join('/');
const cleaners = (cloud: Cloud) =>
  [...cloud.list('DaemonSet'), ...cloud.list('Pod')].filter(({ metadata }) => metadata.name.includes('node-cleaning'));

const told = (cloud: Cloud, kind = 'OVNNetwork', name = 'net', namespace = 'second') => {
  const object = cloud.get(kind, name, namespace);
  return object && conditionOf(object, 'NodesReady');
};
const agentOf = (cloud: Cloud, namespace: string, agent: string) =>
  cloud
    .list('Pod')
    .find(({ metadata }) => metadata.namespace === namespace && metadata.name.includes(agent)) as StoredObject;
const inAgent = async (cloud: Cloud, namespace: string, agent: string, script: string) => {
  const { name } = agentOf(cloud, namespace, agent).metadata;
  const run = cloud.rehearsal.sandbox.pods.exec({ namespace, name }, ['bash', '-c', script]);
  return (await cloud.settle(run)).stdout.trim();
};
const mark = async (cloud: Cloud, name: string) =>
  await cloud.change(Node, name, { metadata: { annotations: { [marker]: 'first/net' } } });

test('a cloud gets the nodes of another one when its agents have ended, and finds nothing of it there', async () => {
  const { cloud } = await readyCloud();
  const identity = 'cat /var/lib/nova/compute_id';
  const before = await inAgent(cloud, 'openstack', 'nova-compute', identity);
  expect(before).toMatch(/^[-0-9a-f]{36}$/);
  await inAgent(
    cloud,
    'openstack',
    'nova-compute',
    'mkdir /var/lib/nova/instances/x; echo secret > /var/lib/nova/instances/x/disk',
  );
  await inAgent(cloud, 'openstack', 'nova-compute', 'echo hidden > /var/lib/nova/.hidden');
  await inAgent(cloud, 'openstack', 'ovs-settings', 'ovs-vsctl set open_vswitch . external_ids:system-id=of-the-first');
  const slow = agentOf(cloud, 'openstack', 'ovn-controller').metadata.name;
  await cloud.change(Pod, slow, { metadata: { finalizers: ['example.com/hold'] } });
  await cloud.remove(ControlPlane, 'my-cloud');
  const second = controlPlane({}, 'other');
  await cloud.settle(cloud.rehearsal.create({ ...second, metadata: { ...second.metadata, namespace: 'second' } }));
  await cloud.until(() => cloud.get('OpenStackControlPlane', 'my-cloud') === undefined, 5);
  await cloud.clock.advance(300_000);
  expect(ourLabels(cloud)).toEqual([]);
  expect(releasedFrom(cloud)).toBe('openstack/my-cloud');
  expect(told(cloud, 'OpenStackControlPlane', 'other')).toMatchObject({
    status: 'False',
    message: expect.stringContaining(
      `0 of 1 nodes of group default are claimed; node node-1, which openstack/my-cloud has left, is not clean: pod ${slow} of namespace openstack has not ended there; a node is eligible`,
    ),
  });

  await cloud.change(Pod, slow, { metadata: { finalizers: null } });
  await cloud.until(() => {
    const object = cloud.get('OpenStackControlPlane', 'other', 'second');
    return object !== undefined && conditionOf(object, 'Ready')?.status === 'True';
  });
  expect(claimantOf(cloud)).toBe('second.other');
  expect(releasedFrom(cloud)).toBeUndefined();
  expect(nodeOf(cloud)?.labels).not.toHaveProperty(cleaned);
  await cloud.clock.advance(60_000);
  expect(cleaners(cloud)).toEqual([]);
  expect(await inAgent(cloud, 'second', 'nova-compute', 'ls -A /var/lib/nova/instances')).not.toContain('x');
  expect(await inAgent(cloud, 'second', 'nova-compute', 'ls -A /var/lib/nova')).not.toContain('hidden');
  const after = await inAgent(cloud, 'second', 'nova-compute', identity);
  expect(after).toMatch(/^[-0-9a-f]{36}$/);
  expect(after).not.toBe(before);
  const chassis = 'ovs-vsctl get open_vswitch . external_ids:system-id';
  expect(await inAgent(cloud, 'second', 'ovs-settings', chassis)).toContain('node-1');
});

test('where guests run nothing is removed: the claim says so, other nodes go on, and it ends with the guests', async () => {
  const { cloud } = await readyCloud({ images: [userImage] });
  await asUser(cloud, 'boot');
  await inAgent(cloud, 'openstack', 'nova-compute', 'echo disk > /var/lib/nova/instances/disk');
  await cloud.change(ControlPlane, 'my-cloud', {
    metadata: { annotations: { 'openstack.k8s.io/delete-with-resources': 'true' } },
  });
  await cloud.remove(ControlPlane, 'my-cloud');
  await cloud.until(() => cloud.list('Pod').length === 0, 10);
  cloud.rehearsal.sandbox.nodes.add({ name: 'node-2', capacity: { cpu: '8', memory: '16Gi' } });
  await cloud.settle(cloud.rehearsal.create(edgeNetwork('second')));
  await cloud.until(() => told(cloud)?.reason === 'Degraded', 5);
  expect(told(cloud)).toMatchObject({
    status: 'True',
    message: expect.stringMatching(
      /^node node-1, which openstack\/my-cloud has left, is not clean: container node-cleaning ended with 1: guests of another cloud run on it \(1 processes qemu-\*\), and nothing is removed/,
    ),
  });
  await cloud.until(() => agentOf(cloud, 'second', 'ovn-controller') !== undefined, 5);
  expect([claimantOf(cloud), claimantOf(cloud, 'node-2')]).toEqual([undefined, 'second.standalone']);
  expect(nodeOf(cloud)?.labels?.[cleaned]).toBe('OVNNetwork.second.net');

  cloud.rehearsal.sandbox.nodes.stop('node-1');
  await cloud.clock.advance(300_000);
  cloud.rehearsal.sandbox.nodes.start('node-1');
  await cloud.until(() => claimantOf(cloud) === 'second.standalone', 10);
  await cloud.until(() => told(cloud)?.message === '', 5);
  expect(releasedFrom(cloud)).toBeUndefined();
});

test('a namespace that is deleted at once leaves its nodes marked, and the next cloud cleans them', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(edgeNetwork('first')));
  await cloud.until(() => claimantOf(cloud) === 'first.standalone');
  await cloud.settle(cloud.rehearsal.sandbox.client().delete(Namespace, { name: 'first' }));
  await cloud.until(() => cloud.list('Namespace').every(({ metadata }) => metadata.name !== 'first'), 10);
  expect([ourLabels(cloud), releasedFrom(cloud)]).toEqual([[], 'first/net']);
  await cloud.settle(cloud.rehearsal.create(edgeNetwork('second')));
  await cloud.until(() => claimantOf(cloud) === 'second.standalone', 10);
  expect(releasedFrom(cloud)).toBeUndefined();
});

test.each([
  ['Retain', true],
  ['Delete', false],
])(
  'a cloud with deletionPolicy %s that is made again gets its nodes back, as they were: %s',
  async (deletionPolicy, kept) => {
    const cloud = await createCloud();
    await cloud.startOperator();
    const net = edgeNetwork('second');
    const stated = { ...net, spec: { ...net.spec, deletionPolicy } };
    await cloud.settle(cloud.rehearsal.create(stated));
    await cloud.until(() => claimantOf(cloud) === 'second.standalone', 10);
    await onNode(cloud, 'echo x > /var/lib/nova/compute_id');
    await removed(cloud, 'second');
    const labels = new Set<string>();
    await cloud.settle(cloud.rehearsal.create(stated));
    await cloud.until(() => {
      for (const label of ourLabels(cloud)) labels.add(label);
      return claimantOf(cloud) === 'second.standalone';
    }, 10);
    expect(labels.has(cleaned)).toBe(!kept);
    expect(releasedFrom(cloud)).toBeUndefined();
    expect(await onNode(cloud, 'ls /var/lib/nova')).toBe(kept ? 'compute_id' : '');
  },
);

test('an operator that is killed while a node is being cleaned goes on where it was', async () => {
  const cloud = await createCloud();
  const first = await cloud.startOperator();
  await mark(cloud, 'node-1');
  await cloud.settle(cloud.rehearsal.create(edgeNetwork('second')));
  await cloud.until(() => nodeOf(cloud)?.labels?.[cleaned] !== undefined, 5);
  first.kill();
  await cloud.clock.advance(120_000);
  expect(claimantOf(cloud)).toBeUndefined();
  await cloud.startOperator();
  await cloud.until(() => claimantOf(cloud) === 'second.standalone', 5);
  await cloud.until(() => cleaners(cloud).length === 0, 5);
});

test('of two clouds that want a node one cleans it; deleted meanwhile, it leaves it to the other', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  await mark(cloud, 'node-1');
  for (const namespace of ['second', 'third']) await cloud.settle(cloud.rehearsal.create(edgeNetwork(namespace)));
  await cloud.until(() => nodeOf(cloud)?.labels?.[cleaned] !== undefined, 5);
  const [, winner = ''] = nodeOf(cloud)?.labels?.[cleaned]?.split('.') ?? [];
  expect(new Set(cleaners(cloud).map(({ metadata }) => metadata.namespace))).toEqual(new Set([winner]));
  await removed(cloud, winner);
  const other = winner === 'second' ? 'third' : 'second';
  await cloud.until(() => claimantOf(cloud) === `${other}.standalone`, 10);
});

test('a node that cannot be cleaned is let be as soon as another one is there', async () => {
  const cloud = await createCloud({ nodes: [] });
  const capacity = { cpu: '8', memory: '16Gi' };
  const files = { '/proc/4711/comm': 'qemu-system-x86\n', '/var/lib/nova/compute_id': 'x' };
  cloud.rehearsal.sandbox.nodes.add({ name: 'node-1', capacity, files });
  const claims = () => told(cloud, 'OpenStackControlPlane', 'my-cloud', 'openstack');
  await cloud.startOperator();
  await cloud.until(() => nodeOf(cloud) !== undefined);
  await mark(cloud, 'node-1');
  await cloud.settle(cloud.rehearsal.create(controlPlane({ nova: { computeReplicas: 1 } })));
  await cloud.until(() => claims()?.message.includes('guests of another cloud run on it') === true, 5);
  expect(claims()).toMatchObject({ status: 'False', reason: 'NoNodes' });
  cloud.rehearsal.sandbox.nodes.add({ name: 'node-2', capacity });
  await cloud.until(() => claimantOf(cloud, 'node-2') === 'openstack.my-cloud', 5);
  await cloud.until(() => cleaners(cloud).length === 0, 5);
  expect(await onNode(cloud, 'cat /var/lib/nova/compute_id')).toBe('x');
  expect([ourLabels(cloud), releasedFrom(cloud)]).toEqual([[], 'openstack/my-cloud']);
});
