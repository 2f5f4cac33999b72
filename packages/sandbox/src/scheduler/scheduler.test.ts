import { Node, PersistentVolumeClaim, Pod } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { startTestSandbox, type TestSandbox } from '../testing/test-sandbox.ts';

const reasonOf = (world: TestSandbox, name: string) =>
  world.get(name)?.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message;

test('a pod that fits nowhere says why, and is bound when it fits', async () => {
  const world = await startTestSandbox({ nodes: [{ name: 'a' }, { name: 'b', capacity: { cpu: '1' } }] });
  await world.pod('p', { resources: { requests: { cpu: '500' } } });
  await world.pod('q', {}, { nodeSelector: { role: 'compute' } });
  await world.clock.advance(10);
  expect(reasonOf(world, 'p')).toBe(
    '0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.',
  );
  expect(reasonOf(world, 'q')).toBe(
    "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
  );
  expect(world.events('q')).toEqual([expect.stringMatching(/^Warning FailedScheduling: 0\/2 nodes are available/)]);
  await world.sandbox.client().patch(Node, { name: 'b' }, 'merge', { metadata: { labels: { role: 'compute' } } });
  await world.ready('q');
  expect(world.get('q')?.spec.nodeName).toBe('b');
});

test('taints keep pods off, and host ports are given once a node', async () => {
  const taint = { key: 'dedicated', value: 'net', effect: 'NoSchedule' as const };
  const world = await startTestSandbox({ nodes: [{ name: 'a' }, { name: 'net', taints: [taint] }] });
  const port = { ports: [{ containerPort: 80, hostPort: 80 }] };
  await world.pod('first', port);
  await world.pod('second', port);
  await world.clock.advance(10);
  expect(world.get('first')?.spec.nodeName).toBe('a');
  expect(reasonOf(world, 'second')).toBe(
    "0/2 nodes are available: 1 node(s) didn't have free ports for the requested pod ports, 1 node(s) had untolerated taint(s). no new claims to deallocate, preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.",
  );
  await world.pod('tolerant', port, { tolerations: [{ key: 'dedicated', operator: 'Exists' }] });
  await world.ready('tolerant');
  expect(world.get('tolerant')?.spec.nodeName).toBe('net');
});

test('replicas that keep apart go to different nodes', async () => {
  const world = await startTestSandbox({ nodes: [{ name: 'a' }, { name: 'b' }] });
  const labels = { app: 'db' };
  const term = { labelSelector: { matchLabels: labels }, topologyKey: 'kubernetes.io/hostname' };
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  for (const name of ['one', 'two', 'three']) await world.pod(name, {}, { affinity }, labels);
  await world.ready('one', 'two');
  expect(new Set(['one', 'two'].map((name) => world.get(name)?.spec.nodeName))).toEqual(new Set(['a', 'b']));
  expect(reasonOf(world, 'three')).toContain("2 node(s) didn't match pod anti-affinity rules");
});

test('pods that had rather not share a zone do where there is no other, and do not count those of another revision', async () => {
  const zone = (name: string) => ({ labels: { 'topology.kubernetes.io/zone': name } });
  const nodes = [
    { name: 'a', ...zone('east') },
    { name: 'b', ...zone('east') },
    { name: 'c', ...zone('west') },
  ];
  const world = await startTestSandbox({ nodes });
  const podAffinityTerm = {
    topologyKey: 'topology.kubernetes.io/zone',
    labelSelector: { matchLabels: { app: 'api' } },
    matchLabelKeys: ['revision'],
  };
  const affinity = {
    podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm }] },
  };
  const place = async (name: string, revision: string) => {
    await world.pod(name, {}, { affinity }, { app: 'api', revision });
    await world.ready(name);
    return world.get(name)?.spec.nodeName;
  };
  expect([await place('one', 'old'), await place('two', 'old'), await place('three', 'old')]).toEqual(['a', 'c', 'b']);
  // Each node has one pod: the first one is taken, then a zone without any of the new ones.
  expect([await place('four', 'new'), await place('five', 'new')]).toEqual(['a', 'c']);
});

const claim = (name: string, more = {}) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'default' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Ki' } }, ...more },
});
const data = { volumeMounts: [{ name: 'data', mountPath: '/data' }] };
const volumes = (claimName: string) => ({ volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] });

test('a pod waits for its claim; the volume is made for its first consumer, and can grow', async () => {
  const world = await startTestSandbox();
  await world.pod('p', data, volumes('data'));
  await world.clock.advance(10);
  expect(reasonOf(world, 'p')).toMatch(/^0\/1 nodes are available: persistentvolumeclaim "data" not found\./);
  await world.create(claim('data'));
  await world.ready('p');
  expect(await world.exec('p', 'write', '/data/x', 'y'.repeat(2000))).toMatchObject({
    code: 1,
    stderr: "No space left on device: '/data/x'\n",
  });
  const resources = { requests: { storage: '8Ki' } };
  await world.sandbox
    .client()
    .patch(PersistentVolumeClaim, { namespace: 'default', name: 'data' }, 'merge', { spec: { resources } });
  await world.clock.advance(10);
  expect(world.sandbox.api.store.get(PersistentVolumeClaim, 'default/data')).toMatchObject({
    status: { capacity: { storage: '8Ki' } },
  });
  expect(await world.exec('p', 'write', '/data/x', 'y'.repeat(2000))).toMatchObject({ code: 0 });
});

test('a volume that only one node may have is refused to the others', async () => {
  const world = await startTestSandbox({ nodes: [{ name: 'a' }, { name: 'b' }] });
  await world.create(claim('data'));
  await world.pod('one', data, { ...volumes('data'), nodeSelector: { 'kubernetes.io/hostname': 'a' } });
  await world.ready('one');
  await world.pod('two', data, { ...volumes('data'), nodeSelector: { 'kubernetes.io/hostname': 'b' } });
  await world.clock.advance(1000);
  expect(world.events('two')).toContainEqual(
    expect.stringMatching(/^Warning FailedAttachVolume: Multi-Attach error for volume "pvc-/),
  );
  await world.sandbox.client().delete(Pod, { namespace: 'default', name: 'one' });
  await world.ready('two');
});
