import { Node, type StoredObject } from '@openstack-operator/kube';
import { kinds, Neutron, Nova, OpenStackControlPlane, OVNNetwork } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud, readyCloud } from './cloud.ts';
import { sharedCloud } from './shared-cloud.ts';

const nodes = ['node-1', 'node-2'];
const group = 'openstack.k8s.io/node-group';
const nova = (...names: string[]) => ({ virtType: 'qemu', nodeGroups: names.map((name) => ({ name })) });
/** Pods of agents that are there, by uid. */
const agents = (cloud: Cloud) =>
  cloud
    .list('Pod')
    .filter(({ metadata: { ownerReferences: [owner] = [] } }) => owner?.kind === 'DaemonSet')
    .map(({ metadata: { uid } }) => uid)
    .sort();
/** The agents that are new, as `<DaemonSet> on <node>`. */
const replaced = (cloud: Cloud, before: readonly string[]) =>
  cloud
    .list('Pod')
    .flatMap(({ metadata: { uid, ownerReferences: [owner] = [] }, spec }) =>
      owner?.kind === 'DaemonSet' && !before.includes(uid)
        ? [`${owner.name} on ${(spec as { nodeName: string }).nodeName}`]
        : [],
    )
    .sort();
const roll = 'openstack.k8s.io/roll-node-agents';
const claims = (cloud: Cloud) => cloud.condition(OpenStackControlPlane, 'my-cloud', 'NodesReady');

test('a group that is renamed takes no agent from its nodes, until each is given to another one', async () => {
  const { cloud } = await readyCloud({ nodes, spec: { nova: nova('big') } });
  const before = agents(cloud);
  expect(before.length).toBeGreaterThan(10);

  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { nova: nova('huge') } });
  await cloud.clock.advance(120_000);
  expect(claims(cloud)).toMatchObject({ status: 'True', reason: 'Degraded' });
  expect(claims(cloud)?.message).toContain('node-1 (big), node-2 (big); their agents are not changed');
  expect(agents(cloud)).toEqual(before);

  await cloud.change(Node, 'node-1', { metadata: { labels: { [group]: 'huge' } } });
  await cloud.until(() => replaced(cloud, before).length === 3);
  await cloud.clock.advance(120_000);
  expect(replaced(cloud, before)).toEqual(
    ['compute', 'libvirt', 'ovs-settings'].map((agent) => expect.stringMatching(`-${agent}-huge on node-1$`)),
  );
  await cloud.change(Node, 'node-2', { metadata: { labels: { [group]: 'huge' } } });
  await cloud.ready();
  expect(replaced(cloud, before)).toHaveLength(6);
});

test('no agent is replaced where groups change places, one is added, or one comes to differ, but by the roll of its own', async () => {
  const on = (name: string, more: object = {}) => ({
    name,
    nodeSelector: { 'kubernetes.io/hostname': name === 'big' ? 'node-1' : 'node-2' },
    ...more,
  });
  const groups = (...nodeGroups: object[]) => ({ nova: { virtType: 'qemu', nodeGroups } });
  const { cloud } = await readyCloud({ nodes, spec: groups(on('big', { virtType: 'kvm' }), on('small')) });
  const before = agents(cloud);

  const third = { name: 'third', nodeSelector: { none: 'yet' }, virtType: 'kvm' };
  const reordered = groups(third, on('small'), on('big', { virtType: 'kvm' }));
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: reordered });
  await cloud.clock.advance(120_000);
  expect(agents(cloud)).toEqual(before);

  await cloud.change(OpenStackControlPlane, 'my-cloud', {
    spec: groups(on('small', { virtType: 'kvm' }), on('big', { virtType: 'kvm' })),
  });
  await cloud.ready();
  expect(agents(cloud)).toEqual(before);

  await cloud.change(OpenStackControlPlane, 'my-cloud', { metadata: { annotations: { [roll]: 'true' } } });
  await cloud.until(() => replaced(cloud, before).length > 0);
  await cloud.ready();
  await cloud.clock.advance(120_000);
  expect(replaced(cloud, before)).toEqual(['my-cloud-nova-compute-small on node-2']);
});

test('what stands alone keeps the agents of a group that is renamed, too', async () => {
  const cloud = await createCloud({ nodes });
  await cloud.startOperator();
  const on = (node: string) => ({ 'kubernetes.io/hostname': node });
  const groups = (other: string) => ({
    nodeGroups: [
      { name: 'plain', nodeSelector: on('node-1') },
      { name: other, nodeSelector: on('node-2'), bridgeMappings: [{ physicalNetwork: 'outside', bridge: 'br-ex' }] },
    ],
  });
  const metadata = { name: 'net', namespace: 'openstack' };
  const network = { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'OVNNetwork', metadata, spec: groups('edge') };
  await cloud.settle(cloud.rehearsal.create(network));
  await cloud.until(() => cloud.isReady('OVNNetwork', 'net'));
  const before = agents(cloud);

  await cloud.change(OVNNetwork, 'net', { spec: groups('border') });
  await cloud.clock.advance(120_000);
  expect(cloud.condition(OVNNetwork, 'net', 'NodesReady')?.reason).toBe('Degraded');
  expect(agents(cloud)).toEqual(before);
});

test('labels alone take no agent from its node, claim none, and are told', async () => {
  const cloud = await createCloud({ nodes });
  await cloud.startOperator();
  await cloud.change(Node, 'node-2', { spec: { unschedulable: true } });
  const metadata = { name: 'net', namespace: 'openstack' };
  const spec = { nodeGroups: [{ name: 'edge' }] };
  const network = { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'OVNNetwork', metadata, spec };
  await cloud.settle(cloud.rehearsal.create(network));
  await cloud.until(() => cloud.isReady('OVNNetwork', 'net'));
  const before = agents(cloud);
  const cloudsOfNodes = () => cloud.list('Node').map(({ metadata }) => metadata.labels?.['openstack.k8s.io/cloud']);
  expect(cloudsOfNodes()).toEqual(['openstack.standalone', undefined]);

  const [manager, instance] = ['app.kubernetes.io/managed-by', 'app.kubernetes.io/instance'];
  const relabel = (labels: object) => cloud.change(OVNNetwork, 'net', { metadata: { labels } });
  await relabel({ [manager]: 'openstack-operator', [instance]: 'evil' });
  await cloud.change(Node, 'node-2', { spec: { unschedulable: false } });
  await cloud.clock.advance(600_000);
  expect(agents(cloud)).toEqual(before);
  expect(cloudsOfNodes()).toEqual(['openstack.standalone', undefined]);
  expect(cloud.condition(OVNNetwork, 'net', 'NodesReady')).toMatchObject({ status: 'False', reason: 'CloudDiffers' });
  expect(cloud.condition(OVNNetwork, 'net')?.message).toMatch(
    /cloud openstack\.evil.*openstack\.standalone.*labels back/,
  );

  await relabel({ [manager]: null, [instance]: null });
  await cloud.until(() => cloud.isReady('OVNNetwork', 'net'));
  expect(cloudsOfNodes()).toEqual(['openstack.standalone', 'openstack.standalone']);
  expect(agents(cloud)).toEqual(expect.arrayContaining(before));
});

const shared = sharedCloud(() => readyCloud({ nodes }));

test('children that lose their control plane keep the nodes, and every agent', async () => {
  const { cloud } = await shared();
  const before = agents(cloud);
  const labels = () => cloud.list('Node').map(({ metadata }) => metadata.labels);
  const claimed = labels();
  const orphan = { propagationPolicy: 'Orphan' } as const;
  const ref = { namespace: 'openstack', name: 'my-cloud' };
  await cloud.settle(cloud.rehearsal.sandbox.client().delete(OpenStackControlPlane, ref, orphan));
  await cloud.clock.advance(600_000);
  expect(cloud.get('OpenStackControlPlane', 'my-cloud')).toBeUndefined();
  expect(agents(cloud)).toEqual(before);
  expect(labels()).toEqual(claimed);
  expect(cloud.isReady('Nova', 'my-cloud-nova')).toBe(true);

  for (const kind of [OVNNetwork, Neutron, Nova]) {
    const { name } = cloud.list(kind.kind)[0]?.metadata ?? { name: '' };
    const relabel = (instance: string) =>
      cloud.change(kind, name, { metadata: { labels: { 'app.kubernetes.io/instance': instance } } });
    await relabel('evil');
    await cloud.clock.advance(60_000);
    expect(cloud.condition(kind, name, 'NodesReady')?.reason).toBe('CloudDiffers');
    await relabel('my-cloud');
    await cloud.until(() => cloud.isReady(kind.kind, name));
  }
  expect(agents(cloud)).toEqual(before);
  expect(labels()).toEqual(claimed);

  const annotations = { 'openstack.k8s.io/adopt': 'OpenStackControlPlane.my-cloud' };
  for (const kind of kinds) {
    for (const { metadata } of cloud.list(kind.kind)) {
      await cloud.change(kind, metadata.name, { metadata: { annotations } });
    }
  }
  await cloud.settle(cloud.rehearsal.create(controlPlane()));
  await cloud.ready();
  expect(agents(cloud)).toEqual(before);
});

// The last one of the cloud that is shared: its nodes stay in the groups of before.
test('groups that come to differ leave the nodes of none of them without agents', async () => {
  const { cloud } = await shared();
  const before = agents(cloud);
  const differing = {
    ...nova('small', 'big'),
    nodeGroups: [
      { name: 'small', replicas: 1 },
      { name: 'big', virtType: 'kvm' },
    ],
  };
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { nova: differing } });
  // New nodes are of the new groups, and do not make up for the old ones.
  cloud.rehearsal.sandbox.nodes.add({ name: 'node-3', capacity: { cpu: '2', memory: '8Gi' } });
  await cloud.clock.advance(120_000);
  const labels = (cloud.get('Node', 'node-1', undefined) as StoredObject).metadata.labels ?? {};
  expect(labels[group]).toBe('default');
  expect(claims(cloud)?.message).toContain('node-1 (default), node-2 (default)');
  expect(agents(cloud)).toEqual(expect.arrayContaining(before));
});
