import { Node, type StoredObject } from '@openstack-operator/kube';
import { conditionOf, Nova, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud } from './cloud.ts';

const cloudLabel = 'openstack.k8s.io/cloud';
const nodes = ['node-1', 'node-2', 'node-3'];
const labelsOf = (cloud: Cloud, node: string) => cloud.get('Node', node, undefined)?.metadata.labels ?? {};
const claimedOf = (cloud: Cloud) =>
  cloud.list('Node').flatMap(({ metadata }) => (metadata.labels?.[cloudLabel] === undefined ? [] : [metadata.name]));
const warnings = (cloud: Cloud) =>
  cloud.list('Event').filter((event) => event['type'] === 'Warning' && event['reason'] === 'Degraded');
const discovery = (cloud: Cloud) => cloud.get('Job', 'my-cloud-nova-host-discovery');
const runsOf = (job: StoredObject | undefined) => {
  const { template } = (job?.['spec'] ?? {}) as {
    template?: { spec: { containers: { env?: { name: string; value?: string }[] }[] } };
  };
  const variables = template?.spec.containers.flatMap(({ env = [] }) => env) ?? [];
  return { run: job?.metadata.uid, nodes: variables.find(({ name }) => name === 'NODES')?.value };
};
const isNotReady = (cloud: Cloud, name: string) => () => {
  const node = cloud.get('Node', name, undefined);
  return node !== undefined && conditionOf(node, 'Ready')?.status !== 'True';
};

test('a node that fails leaves the cloud Ready; which one it is stands in the conditions, and a warning tells of it', async () => {
  const taint = { key: 'guests', effect: 'NoSchedule' as const };
  const cloud = await createCloud({ nodes: ['control-1'] });
  for (const name of nodes)
    cloud.rehearsal.sandbox.nodes.add({ name, capacity: { cpu: '2', memory: '8Gi' }, taints: [taint] });
  await cloud.startOperator();
  const spec = {
    nova: { virtType: 'qemu', nodeGroups: [{ name: 'default', tolerations: [{ key: 'guests', operator: 'Exists' }] }] },
  };
  await cloud.settle(cloud.rehearsal.create(controlPlane(spec)));
  await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
  const before = runsOf(discovery(cloud));
  expect(before.nodes).toBe('control-1 node-1 node-2 node-3');

  cloud.rehearsal.sandbox.nodes.stop('node-3');
  await cloud.until(isNotReady(cloud, 'node-3'));
  await cloud.clock.advance(60_000);
  const agents = cloud.condition(Nova, 'my-cloud-nova', 'AgentsReady');
  expect(agents).toMatchObject({ status: 'True', reason: 'Degraded' });
  expect(agents?.message).toMatch(/^agents are up on 3 of 4 nodes; node-3: the node is not Ready: .*Kubelet/);
  expect(cloud.isReady('OpenStackControlPlane', 'my-cloud')).toBe(true);
  expect(cloud.condition(OpenStackControlPlane, 'my-cloud')?.message).toContain('node-3: the node is not Ready');
  expect(warnings(cloud).length).toBeGreaterThan(0);

  cloud.rehearsal.sandbox.nodes.start('node-3');
  await cloud.until(() => cloud.condition(Nova, 'my-cloud-nova', 'AgentsReady')?.reason === 'Done');
  await cloud.until(() => cloud.condition(OpenStackControlPlane, 'my-cloud')?.message === '');
  expect(runsOf(discovery(cloud)), 'a node that was off for a while is a host already').toEqual(before);
});

test('a node on which agents never come up holds back itself: the cloud gets Ready, and new nodes become hosts', async () => {
  const cloud = await createCloud({ nodes });
  await cloud.startOperator();
  // No directory can be mounted there: the kubelet starts none of the agents that need it.
  cloud.rehearsal.sandbox.nodes.add({
    name: 'node-9',
    capacity: { cpu: '2', memory: '8Gi' },
    files: { '/var/lib/libvirt': 'a file' },
  });
  await cloud.settle(cloud.rehearsal.create(controlPlane()));
  await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
  const message = cloud.condition(Nova, 'my-cloud-nova', 'AgentsReady')?.message ?? '';
  expect(message).toMatch(
    /^agents are up on 3 of 4 nodes; node-9: pod my-cloud-nova-[-a-z0-9]+: .*\/var\/lib\/libvirt/,
  );
  expect(runsOf(discovery(cloud)).nodes).toBe('node-1 node-2 node-3');

  cloud.rehearsal.sandbox.nodes.add({ name: 'node-4', capacity: { cpu: '2', memory: '8Gi' } });
  await cloud.until(() => runsOf(discovery(cloud)).nodes === 'node-1 node-2 node-3 node-4');
  await cloud.ready();
});

test('a cloud whose only node is bad is not Ready', async () => {
  const cloud = await createCloud({ nodes: [] });
  cloud.rehearsal.sandbox.nodes.add({
    name: 'node-1',
    capacity: { cpu: '8', memory: '16Gi' },
    files: { '/var/lib/libvirt': 'a file' },
  });
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane()));
  await cloud.clock.advance(20 * 60_000);
  expect(cloud.isReady('OpenStackControlPlane', 'my-cloud')).toBe(false);
  expect(cloud.condition(Nova, 'my-cloud-nova', 'AgentsReady')).toMatchObject({
    status: 'False',
    reason: 'ProgressDeadlineExceeded',
  });
});

test('a tainted node is claimed by a group that tolerates its taint only; a claimed one stays, and so do its agents', async () => {
  const taint = { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' as const };
  const dedicated = { key: 'dedicated', value: 'openstack', effect: 'NoExecute' as const };
  const cloud = await createCloud({ nodes: ['node-1'] });
  const capacity = { cpu: '2', memory: '8Gi' };
  cloud.rehearsal.sandbox.nodes.add({ name: 'control-1', capacity, taints: [taint] });
  cloud.rehearsal.sandbox.nodes.add({ name: 'network-1', capacity, taints: [dedicated], labels: { role: 'network' } });
  await cloud.startOperator();
  const spec = {
    ovnNetwork: {
      nodeGroups: [
        {
          name: 'gateways',
          nodeSelector: { role: 'network' },
          tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'openstack' }],
        },
      ],
    },
  };
  await cloud.settle(cloud.rehearsal.create(controlPlane(spec)));
  await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
  expect(claimedOf(cloud)).toEqual(['network-1', 'node-1']);
  expect(labelsOf(cloud, 'network-1')['openstack.k8s.io/node-group']).toBe('gateways');

  const agents = () =>
    cloud
      .list('Pod')
      .filter((pod) => (pod['spec'] as { nodeName?: string; hostNetwork?: boolean }).nodeName === 'node-1')
      .filter((pod) => (pod['spec'] as { hostNetwork?: boolean }).hostNetwork === true)
      .map(({ metadata }) => metadata.uid)
      .sort();
  const before = agents();
  expect(before.length).toBeGreaterThan(5);
  await cloud.change(Node, 'node-1', { spec: { taints: [{ key: 'maintenance', effect: 'NoExecute' }] } });
  await cloud.clock.advance(60_000);
  expect(agents()).toEqual(before);
  expect(claimedOf(cloud)).toEqual(['network-1', 'node-1']);
});
