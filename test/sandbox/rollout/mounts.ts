import { Node } from '@openstack-operator/kube';
import { Swift } from '@openstack-operator/openstack';
import { type Cloud, controlPlane, createCloud } from './cloud.ts';
import { builder, name, spec, swift } from './swift.ts';

/** What nodes with disks are labelled with. */
const label = 'example.com/disks';
/** The storage group of these nodes. */
export const group = { name: 'disks', zone: 1, nodeSelector: { [label]: 'yes' }, hostPath: { devices: ['sdb'] } };
/** The user of Swift, to whom disks belong. */
export const owner = 42_445;
/** Where the disk of each node is mounted. */
export const disk = '/srv/node/sdb';
/** The step of the group. */
export const step = 'StorageNodesDisksReady';

/** What a condition of the Swift says. */
export const told = (cloud: Cloud, condition: string) => cloud.condition(Swift, name, condition)?.message ?? '';
/** Labels a node, or takes the label away. */
export const tag = (cloud: Cloud, node: string, value: string | null) =>
  cloud.change(Node, node, { metadata: { labels: { [label]: value } } });

/** The StatefulSet of the storage node on a node of the cluster. */
export const setOn = (cloud: Cloud, node: string) =>
  cloud.list('StatefulSet').find(({ spec }) => JSON.stringify(spec).includes(`"values":["${node}"]`))?.metadata.name;
/** Devices of the rings, by the node of the cluster, with their weights. */
export const inRings = (cloud: Cloud, nodes: readonly string[]) =>
  Object.fromEntries(
    nodes.flatMap((node) => {
      const set = setOn(cloud, node);
      return builder(cloud)
        .devices.filter(({ ip }) => ip === `${set}-0.${set}.openstack.svc`)
        .map(({ device, weight }) => [`${node}/${device}`, weight]);
    }),
  );
/** Whether the pods of a StatefulSet are ready. */
export const isReady = (cloud: Cloud, set: string) =>
  (cloud.get('StatefulSet', set)?.['status'] as { readyReplicas?: number } | undefined)?.readyReplicas === 1;

/** Names of the nodes. */
export const four = ['node-1', 'node-2', 'node-3', 'node-4'];

/** What disks of nodes are, beside xfs of Swift's user. */
export type Disks = Readonly<Record<string, { readonly type?: string; readonly owner?: number }>>;

/** A cloud whose first three nodes are storage nodes, with a disk each; the fourth has one, and no label. */
export async function onDisks(disks: Disks = {}, before?: (cloud: Cloud) => void): Promise<Cloud> {
  const cloud = await createCloud({ nodes: four });
  for (const node of four) cloud.rehearsal.sandbox.nodes.mount(node, disk, { owner, ...disks[node] });
  before?.(cloud);
  for (const node of four.slice(0, 3)) await tag(cloud, node, 'yes');
  await cloud.startOperator();
  const hosts = { ...swift, storageNodes: 0, storageGroups: [group] };
  // A test takes other nodes away.
  const here = { nodeSelector: { 'kubernetes.io/hostname': 'node-4' } };
  const others = { mariadb: here, memcached: here, keystone: here, swift: { ...hosts, ...here } };
  await cloud.settle(cloud.rehearsal.create(controlPlane({ ...spec, ...others })));
  return cloud;
}
