import { minimalControlPlane } from '@openstack-operator/cli';
import { type Client, DaemonSet, Node, Pod, realClock, type StoredObject, sleep } from '@openstack-operator/kube';
import { conditionOf, isStale, OpenStackControlPlane } from '@openstack-operator/openstack';
import type { Asked } from './server.ts';

/** A cloud on hollow nodes. */
export interface Cloud {
  readonly client: Client;
  /** With which it began. */
  readonly nodes: number;
  /** Has something done to its nodes. */
  readonly play: <T = unknown>(asked: Asked) => Promise<T>;
}

/** Something that happens to a cloud. */
export interface Scenario {
  readonly name: string;
  /** Nodes that it is about, of so many; with 0 it is left out. */
  readonly changed: (nodes: number) => number;
  /** Has it happen, and resolves when the cloud is as it should be. */
  readonly run: (cloud: Cloud, changed: number) => Promise<void>;
}

/** Seconds after which something that does not come is given up. */
const PATIENCE = 3600;
/** A zone is a tenth of the nodes, and so many may be without an agent at once, of twenty. */
const TENTH = 10;
const AT_ONCE = 20;
const ref = { namespace: 'openstack', name: minimalControlPlane.metadata.name ?? '' };
const one = () => 1;
const all = (nodes: number) => nodes;
const zone = (nodes: number) => Math.floor(nodes / TENTH);
const image = 'registry.example.org/openstack.kolla/agent:2';

/** What the nodes of a cloud are called with which it begins. */
export function startingWith(nodes: number): string[] {
  return Array.from({ length: nodes }, (_, index) => `compute-${String(index + 1).padStart(4, '0')}`);
}

/** In this order: each begins where the one before has ended. */
export const scenarios: readonly Scenario[] = [
  {
    name: 'rollout',
    changed: all,
    async run({ client, nodes }) {
      const nodeGroups = [{ name: 'default', maxUnavailable: Math.ceil(nodes / AT_ONCE) }];
      const spec = { nova: { virtType: 'qemu', nodeGroups } };
      await client.create(OpenStackControlPlane, { ...minimalControlPlane, spec } as unknown as OpenStackControlPlane);
      await untilWell(client);
    },
  },
  {
    name: 'every node reports',
    changed: all,
    run: async ({ play }) => await play({ act: 'report' }),
  },
  {
    name: 'a node joins',
    changed: one,
    async run({ client, play }) {
      const name = 'compute-new';
      await play({ act: 'add', names: [name] });
      const agents = (await client.list(DaemonSet, { namespace: ref.namespace })).items.length;
      await until(async () => {
        const { items } = await client.list(Pod, { namespace: ref.namespace, fieldSelector: `spec.nodeName=${name}` });
        return items.filter((pod) => conditionOf(pod, 'Ready')?.status === 'True').length >= agents;
      });
    },
  },
  { name: 'a node is lost', changed: one, run: lose },
  { name: 'it is back', changed: one, run: comeBack },
  { name: 'a zone is lost', changed: zone, run: lose },
  { name: 'the zone is back', changed: zone, run: comeBack },
  {
    name: 'agents are rolled',
    changed: all,
    async run({ client }) {
      const metadata = { annotations: { 'openstack.k8s.io/roll-node-agents': 'true' } };
      const spec = {
        nova: { images: { libvirt: image, compute: image } },
        ovnNetwork: { images: { 'ovn-controller': image } },
      };
      await client.patch(OpenStackControlPlane, ref, 'merge', { metadata, spec });
      await untilWell(client);
    },
  },
  {
    name: 'passwords are rotated',
    changed: all,
    async run({ client }) {
      const metadata = { annotations: { 'openstack.k8s.io/rotate-at': 'now' } };
      await client.patch(OpenStackControlPlane, ref, 'merge', { metadata });
      await until(async () => !isWell(await client.get(OpenStackControlPlane, ref)));
      await untilWell(client);
    },
  },
];

/** Nodes are silent, and the cloud tells so. */
async function lose({ client, play }: Cloud, changed: number): Promise<void> {
  const names = (await play<string[]>({ act: 'without control plane' })).slice(0, changed);
  await play({ act: 'silence', names });
  await untilReady(client, names, 'Unknown');
}

/** All nodes answer again, and the cloud has nothing to tell. */
async function comeBack({ client, play }: Cloud): Promise<void> {
  const { items } = await client.list(Node);
  const silent = items.filter((node) => conditionOf(node, 'Ready')?.status !== 'True');
  const names = silent.map(({ metadata }) => metadata.name);
  await play({ act: 'restore', names });
  await untilReady(client, names, 'True');
  await untilWell(client);
}

async function untilReady(client: Client, names: readonly string[], status: string): Promise<void> {
  await until(async () => {
    const { items } = await client.list(Node);
    const those = items.filter(({ metadata }) => names.includes(metadata.name));
    return those.every((node) => conditionOf(node, 'Ready')?.status === status);
  });
  if (status !== 'True') await until(async () => !isWell(await client.get(OpenStackControlPlane, ref)));
}

function isWell(controlPlane: StoredObject): boolean {
  const ready = conditionOf(controlPlane, 'Ready');
  return ready?.status === 'True' && ready.message === '' && !isStale(ready, controlPlane);
}

/** Until the control plane is Ready, and has nothing to tell. */
async function untilWell(client: Client): Promise<void> {
  await until(async () => isWell(await client.get(OpenStackControlPlane, ref)));
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const end = realClock.monotonic() + PATIENCE * 1000;
  while (!(await holds())) {
    if (realClock.monotonic() > end) throw new Error(`what was awaited has not come after ${PATIENCE} s`);
    await sleep(realClock, 500);
  }
}
