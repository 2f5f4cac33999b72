import { Pod, type StoredObject } from '@openstack-operator/kube';
import { Nova, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud } from './cloud.ts';
import { asUser, userImage } from './servers.ts';

const capacity = { cpu: '8', memory: '32Gi', 'ephemeral-storage': '500Gi' };
const guests = { memory: '24Gi', cpus: 6, disk: '400Gi' };
const group = (name: string, more: object) => ({ name, nodeSelector: { group: name }, ...more });
const nova = (...nodeGroups: readonly object[]) => ({ spec: { nova: { virtType: 'qemu', nodeGroups } } });

/** A cloud with a node for each of these groups, and one for the rest. */
async function cloudOf(nodes: Readonly<Record<string, object>>, groups: readonly object[]) {
  const cloud = await createCloud({ nodes: ['control-1'], images: [userImage] });
  for (const [name, options] of Object.entries(nodes))
    cloud.rehearsal.sandbox.nodes.add({ name, capacity, ...options });
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane(nova(...groups).spec)));
  await cloud.ready();
  return cloud;
}

const roll = { metadata: { annotations: { 'openstack.k8s.io/roll-node-agents': 'true' } } };
const nodeOf = ({ spec }: StoredObject) => (spec as { nodeName?: string }).nodeName;
const agentOn = (cloud: Cloud, agent: string, node: string) =>
  cloud.list('Pod').find((pod) => pod.metadata.name.startsWith(`my-cloud-nova-${agent}-`) && nodeOf(pod) === node);
const requestsOf = (pod: StoredObject | undefined) => {
  const { containers } = (pod?.['spec'] ?? {}) as { containers?: { resources: { requests: object } }[] };
  return containers?.[0]?.resources.requests;
};
const inventories = async (cloud: Cloud) =>
  JSON.parse(await asUser(cloud, 'inventories')) as Record<string, Record<string, object>>;

test('what guests may use is given to no pod, and Nova gives no more; guests and other groups go on meanwhile', async () => {
  const nodes = { 'big-1': { labels: { group: 'big' } }, 'plain-1': { labels: { group: 'plain' } } };
  const cloud = await cloudOf(nodes, [group('plain', {}), group('big', {})]);
  const atLibvirt = async (node: string, argv: string[]) => {
    const name = agentOn(cloud, 'libvirt', node)?.metadata.name ?? '';
    const { stdout } = await cloud.settle(cloud.rehearsal.sandbox.pods.exec({ namespace: 'openstack', name }, argv));
    return stdout.trim();
  };
  const guestsOn = (node: string) => atLibvirt(node, ['virsh', 'list', '--uuid']);
  // The kernel makes these files with a control group.
  const weights = ['/host/cgroup/openstack/cpu.weight', '/host/cgroup/cpu/openstack/cpu.shares'];
  await atLibvirt('big-1', ['mkdir', '-p', '/host/cgroup/openstack', '/host/cgroup/cpu/openstack']);
  await atLibvirt('big-1', ['bash', '-c', weights.map((file) => `echo 0 > ${file}`).join(';')]);
  await asUser(cloud, 'boot');
  const running = await guestsOn('big-1');
  expect(running).not.toBe('');
  // That of the libvirt pod is -997.
  expect(await atLibvirt('big-1', ['bash', '-c', 'cat /proc/100000/comm /proc/100000/oom_score_adj'])).toBe(
    'qemu-system-x86\n0',
  );
  const plain = agentOn(cloud, 'libvirt', 'plain-1')?.metadata.uid;
  /** Changes the cloud, and waits until the group has other agents. */
  const change = async (of: object) => {
    const old = ['libvirt', 'compute'].map((agent) => agentOn(cloud, agent, 'big-1')?.metadata.uid);
    const isNew = (agent: string) => ![undefined, ...old].includes(agentOn(cloud, agent, 'big-1')?.metadata.uid);
    await cloud.change(OpenStackControlPlane, 'my-cloud', of);
    await cloud.until(() => isNew('libvirt') && isNew('compute'));
    await cloud.clock.advance(60_000);
    await cloud.ready();
  };

  await change({ ...roll, ...nova(group('plain', {}), group('big', { guests })) });
  expect(agentOn(cloud, 'libvirt', 'plain-1')?.metadata.uid).toBe(plain);
  expect(requestsOf(agentOn(cloud, 'libvirt', 'big-1'))).toEqual({
    cpu: '6050m',
    memory: '24832Mi',
    'ephemeral-storage': '400Gi',
  });
  expect(await atLibvirt('big-1', ['cat', ...weights])).toBe('235\n6144');
  const given = await inventories(cloud);
  expect(given['plain-1']).toMatchObject({ MEMORY_MB: { total: 32_768, reserved: 512 }, DISK_GB: { reserved: 0 } });
  expect(given['big-1']).toMatchObject({
    VCPU: { total: 8, reserved: 2 },
    MEMORY_MB: { total: 32_768, reserved: 8192 },
    DISK_GB: { total: 500, reserved: 100 },
  });
  const containers = [{ name: 'main', image: 'user', resources: { requests: { memory: '10Gi' } } }];
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'other', namespace: 'openstack' } } as const;
  const spec = { nodeSelector: { group: 'big' }, containers };
  await cloud.settle(cloud.rehearsal.sandbox.client().create(Pod, { ...pod, spec }));
  await cloud.clock.advance(5000);
  expect(JSON.stringify(cloud.get('Pod', 'other')?.status)).toContain('Insufficient memory');
  await cloud.remove(Pod, 'other');

  await change({ ...roll, ...nova(group('plain', {}), group('big', { guests: { memory: '28Gi' } })) });
  expect(requestsOf(agentOn(cloud, 'libvirt', 'big-1'))).toEqual({ cpu: '50m', memory: '28928Mi' });
  expect(await atLibvirt('big-1', ['cat', ...weights])).toBe('313\n8192');
  expect((await inventories(cloud))['big-1']).toMatchObject({
    VCPU: { reserved: 0 },
    MEMORY_MB: { reserved: 4096 },
    DISK_GB: { reserved: 0 },
  });
  expect(await guestsOn('big-1')).toBe(running);
});

test('a node with less than its guests may use is told alone; the others go on, and it follows when the number fits', async () => {
  const labels = { group: 'big' };
  const small = { labels, capacity: { ...capacity, memory: '16Gi' } };
  const cloud = await cloudOf({ 'big-1': { labels }, 'small-1': small }, [group('big', { guests })]);
  expect(cloud.condition(Nova, 'my-cloud-nova', 'AgentsReady')).toMatchObject({
    status: 'True',
    reason: 'Degraded',
    message: expect.stringMatching(
      /^agents are up on 1 of 2 nodes; small-1: pod my-cloud-nova-libvirt-big-\w+: .*Insufficient memory/,
    ),
  });
  expect(Object.keys(await inventories(cloud))).toEqual(['big-1']);
  await cloud.change(OpenStackControlPlane, 'my-cloud', nova(group('big', { guests: { ...guests, memory: '12Gi' } })));
  // The agents of the other node run with more than that until somebody asks.
  const older = /^DaemonSet my-cloud-nova-libvirt-big: of an older revision on 1 of 2 nodes; /;
  await cloud.until(() => older.test(cloud.condition(Nova, 'my-cloud-nova', 'AgentsReady')?.message ?? ''));
  // Its nova-compute was never up beside no libvirtd, and follows as well.
  await cloud.clock.advance(60_000);
  expect((await inventories(cloud))['small-1']).toMatchObject({ MEMORY_MB: { total: 16_384, reserved: 4096 } });
});
