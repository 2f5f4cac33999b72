import { Node } from '@openstack-operator/kube';
import { type ClaimedNode, Neutron, Nova, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, readyCloud } from './cloud.ts';
import { asUser, userImage } from './servers.ts';

const nodesIn = (cloud: Cloud, kind: string, name: string) =>
  (((cloud.get(kind, name)?.['status'] ?? {}) as { nodes?: readonly ClaimedNode[] }).nodes ?? []).map(
    ({ name: node, phase }) => `${node} ${phase}`,
  );
const listed = (cloud: Cloud) =>
  [
    ['OpenStackControlPlane', 'my-cloud'],
    ['Nova', 'my-cloud-nova'],
    ['Neutron', 'my-cloud-neutron'],
    ['OVNNetwork', 'my-cloud-ovn'],
  ].map(([kind = '', name = '']) => nodesIn(cloud, kind, name).join(', '));
const forget = (cloud: Cloud, names: string | null) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', {
    metadata: { annotations: { 'openstack.k8s.io/forget-nodes': names } },
  });
const said = (cloud: Cloud, kind: typeof Nova | typeof Neutron, name: string) =>
  cloud.condition(kind, name, 'ForgettingReady')?.message ?? '';
const nova = (cloud: Cloud) => said(cloud, Nova, 'my-cloud-nova');
const recorded = async (cloud: Cloud) => ({
  hosts: Object.keys(JSON.parse(await asUser(cloud, 'hosts')) as object).toSorted(),
  providers: Object.keys(JSON.parse(await asUser(cloud, 'inventories')) as object).toSorted(),
  agents: (await asUser(cloud, 'agents')).split(' ').toSorted(),
});

test('what is recorded of a node that is gone is deleted when somebody says so, and no server was there', async () => {
  const { cloud } = await readyCloud({
    nodes: ['node-1', 'node-2'],
    images: [userImage],
    spec: { nova: { virtType: 'qemu' } },
  });
  await asUser(cloud, 'boot', 'guest');
  const servers = JSON.parse(await asUser(cloud, 'hosts')) as Record<string, { servers: readonly string[] }>;
  const gone = Object.entries(servers).find(([, host]) => host.servers.length > 0)?.[0] ?? '';
  const other = gone === 'node-1' ? 'node-2' : 'node-1';
  const both = ['node-1', 'node-2'];

  // A node that is there is not forgotten, nor is another one beside it.
  await forget(cloud, `node-9, ${gone}`);
  await cloud.until(() => nova(cloud).includes('no node is forgotten while'), 5);
  expect(nova(cloud)).toContain(`these are nodes of the cluster: ${gone};`);
  expect(cloud.list('Job').filter(({ metadata }) => metadata.name.endsWith('-forget'))).toEqual([]);
  expect(cloud.condition(OpenStackControlPlane, 'my-cloud')).toMatchObject({ status: 'True' });

  await cloud.settle(cloud.rehearsal.sandbox.client().delete(Node, { name: gone }));
  cloud.rehearsal.sandbox.nodes.stop(gone);
  await forget(cloud, gone);
  // Nova keeps what has servers.
  await cloud.until(() => nova(cloud).includes('hosting instances'), 10);
  expect(nova(cloud)).toContain(`${gone}: Unable to delete compute service that is hosting instances.`);
  expect((await recorded(cloud)).hosts).toEqual(both);
  expect(nodesIn(cloud, 'Nova', 'my-cloud-nova')).toContain(`${gone} Lost`);

  await asUser(cloud, 'delete', 'guest');
  await cloud.until(() => listed(cloud).every((nodes) => nodes === `${other} Joined`), 40);
  expect(await recorded(cloud)).toEqual({ hosts: [other], providers: [other], agents: [other] });
  const events = cloud.list('Event').filter(({ reason }) => reason === 'NodeForgotten');
  expect(events.some(({ message }) => String(message).startsWith(`node ${gone}: `))).toBe(true);
  // What ran there starts on the other one.
  await cloud.until(() => cloud.condition(OpenStackControlPlane, 'my-cloud')?.status === 'True', 40);

  await forget(cloud, null);
  await cloud.until(() => cloud.list('Job').every(({ metadata }) => !metadata.name.endsWith('-forget')), 5);
  expect(cloud.condition(Neutron, 'my-cloud-neutron', 'ForgettingReady')).toBeUndefined();
});
