import { Node, Secret } from '@openstack-operator/kube';
import { type ClaimedNode, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, readyCloud } from './cloud.ts';
import { asUser, userImage } from './servers.ts';

const agents = (cloud: Cloud, component: string) =>
  cloud.list('Pod').filter(({ metadata }) => metadata.name.startsWith(`my-cloud-nova-${component}-`));
const uids = (cloud: Cloud, component: string) => agents(cloud, component).map(({ metadata }) => metadata.uid);
const log = (cloud: Cloud, component: string) =>
  agents(cloud, component)
    .map(({ metadata: { name } }) => cloud.rehearsal.sandbox.pods.logs({ namespace: 'openstack', name }))
    .join('\n');
const hosts = async (cloud: Cloud) =>
  JSON.parse(await asUser(cloud, 'hosts')) as Record<string, { readonly servers: readonly string[] }>;
const act = (cloud: Cloud, action: object, status: string) =>
  asUser(cloud, 'act', 'mover', JSON.stringify(action), status);
const hostOf = async (cloud: Cloud, server: string) =>
  Object.entries(await hosts(cloud)).find(([, { servers }]) => servers.includes(server))?.[0] ?? '';
const maintenance = (cloud: Cloud, node: string) => {
  const { nodes = [] } = (cloud.get('Nova', 'my-cloud-nova')?.['status'] ?? {}) as { nodes?: readonly ClaimedNode[] };
  return nodes.find(({ name }) => name === node)?.maintenance;
};
const maintain = (cloud: Cloud, node: string, reason: string | null) =>
  cloud.change(Node, node, { metadata: { annotations: { 'openstack.k8s.io/maintenance': reason } } });

test('servers that are off leave their node, and those that are resized, once it is enabled; other keys replace no nova-compute', async () => {
  const { cloud } = await readyCloud({
    nodes: ['node-1', 'node-2'],
    images: [userImage],
    spec: { nova: { virtType: 'qemu' } },
  });
  await asUser(cloud, 'boot', 'mover', 'net');
  const one = await hostOf(cloud, 'mover ACTIVE');
  const other = one === 'node-1' ? 'node-2' : 'node-1';
  // Nobody is there who takes its disk: it stays as it is, and the log says why.
  await act(cloud, { migrate: null }, 'ACTIVE');
  expect(await hostOf(cloud, 'mover ACTIVE')).toBe(one);
  expect(log(cloud, 'compute')).toMatch(
    /Resize error: not able to execute ssh command: .*\nCommand: ssh -o BatchMode=yes 10\.\S+ mkdir -p \/var\/lib\/nova\/instances\/\S+\nExit code: 255\n.*\nStderr: 'ssh: connect to host 10\.\S+ port 22: Connection refused/,
  );

  const before = [...uids(cloud, 'compute'), ...uids(cloud, 'libvirt')];
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { nova: { coldMigration: { enabled: true } } } });
  await cloud.clock.advance(120_000);
  // The sshd stands in nobody's way; guests live by the others.
  expect(agents(cloud, 'ssh')).toHaveLength(2);
  expect([...uids(cloud, 'compute'), ...uids(cloud, 'libvirt')]).toEqual(before);
  const annotations = { 'openstack.k8s.io/roll-node-agents': 'true' };
  await cloud.change(OpenStackControlPlane, 'my-cloud', { metadata: { annotations } });
  await cloud.clock.advance(300_000);
  await cloud.ready();
  expect(uids(cloud, 'compute').some((uid) => before.includes(uid))).toBe(false);
  expect(uids(cloud, 'libvirt')).toEqual(before.slice(2));

  await act(cloud, { migrate: null }, 'VERIFY_RESIZE');
  expect(await hostOf(cloud, 'mover VERIFY_RESIZE')).toBe(other);
  expect(await asUser(cloud, 'ports')).toBe(`${other} ovs ACTIVE`);
  await act(cloud, { confirmResize: null }, 'ACTIVE');
  await act(cloud, { resize: { flavorRef: '1' } }, 'VERIFY_RESIZE');
  await act(cloud, { confirmResize: null }, 'ACTIVE');
  expect(await hostOf(cloud, 'mover ACTIVE')).toBe(one);

  // With other keys it goes on without a new nova-compute: that reads them each time.
  const rolled = uids(cloud, 'compute');
  await cloud.remove(Secret, 'my-cloud-nova-migration-ssh');
  await cloud.clock.advance(600_000);
  await cloud.ready();
  expect(uids(cloud, 'compute')).toEqual(rolled);

  // A node in maintenance is left by servers that are off as well; they start where they have come to.
  await act(cloud, { 'os-stop': null }, 'SHUTOFF');
  await maintain(cloud, one, 'new kernel');
  await cloud.until(() => maintenance(cloud, one)?.phase === 'Emptied', 10);
  expect(await hostOf(cloud, 'mover SHUTOFF')).toBe(other);
  await act(cloud, { 'os-start': null }, 'ACTIVE');
  await maintain(cloud, one, null);
  await cloud.until(() => maintenance(cloud, one) === undefined, 5);
});
