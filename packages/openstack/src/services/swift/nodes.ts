import { digest } from '../../engine/names/digest.ts';
import { bytesOf } from '../../engine/names/quantity.ts';
import type { Component } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { Found } from '../../engine/vocabulary/service.ts';
import { counts, first, fixedOf, type HostPath, type StorageGroup, volumeSize } from './groups.ts';
import { type HeldGroup, isHeldGroup, isWithin } from './held-group.ts';
import { type HostNode, hostNodesOf, idOf } from './host-nodes.ts';
import { defaults, type Swift } from './kind.ts';

/** The field under which the storage nodes are remembered. */
export const nodesField = 'spec.storageNodes';

/** What is remembered of storage nodes. */
interface Held {
  /** So many run of those of `spec.storageNodes`, those that leave among them. */
  readonly size: number;
  /** They were fewer once than before: rings may have devices without weight. */
  readonly haveMoved: boolean;
  /** The groups that run. */
  readonly groups?: readonly HeldGroup[];
  /** Of nodes with devices of their own, a digest of the names of those that were wanted last. */
  readonly members?: string;
  /** So many times these have changed: what a Job has found counts for one of them. */
  readonly turn?: number;
}

/** Storage nodes that are alike: those of `spec.storageNodes`, or of one of `spec.storageGroups`. */
export interface NodeGroup {
  readonly component: string;
  /** The condition of its step. */
  readonly step: string;
  readonly zone: number;
  /** Weight of each of its devices. */
  readonly weight: number;
  readonly devices: readonly string[];
  readonly storage: NonNullable<StorageGroup['storage']>;
  readonly scheduling?: NonNullable<Component['scheduling']>;
  readonly wanted: number;
  /** Those that are wanted, and those that leave: they run until the rings have nothing of them. */
  readonly running: number;
  /** A node of the cluster with devices of its own: one storage node. */
  readonly host?: HostPath & { readonly node: string; readonly group: string };
}

/** The storage nodes that there are. */
export interface Nodes {
  /** Those of `spec.storageNodes` first. */
  readonly groups: readonly NodeGroup[];
  /** Those of nodes that are gone, and that the rings may have. */
  readonly lost: readonly NodeGroup[];
  /** Whether some leave now. */
  readonly areLeaving: boolean;
  /** Whether there are, or were, some that leave. */
  readonly haveMoved: boolean;
}

/** Which storage nodes a Swift has, as far as it remembers. */
export function nodesOf(context: Context<Swift>): Nodes {
  const { spec, surroundings } = context;
  const { storageGroups = [], storage = {} } = spec;
  const { size, haveMoved, groups: held = [] } = heldBy(surroundings.remembered[nodesField]);
  const haveLeft = foundBy(context)[found] === leftWords(context);
  const counted = (wanted: number, size = 0) => ({ wanted, running: haveLeft ? wanted : Math.max(wanted, size) });
  const sizeOf = (name: string) => held.find((one) => one.name === name)?.size;
  const base = counted(wantedBy(context), size);
  const baseBytes = deviceBytes(context, { ...spec, component: 'storage', ...base });
  const onVolumes = (group: StorageGroup, { wanted, running }: ReturnType<typeof counted>): NodeGroup => {
    const common = groupOf(group);
    const bytes = deviceBytes(context, { ...group, component: common.component, running });
    // The builder says two places of it.
    const bySize = Math.max(0.01, (first.weight * bytes) / Math.max(1, baseBytes));
    return { ...common, weight: group.weight ?? bySize, wanted, running };
  };
  const all: readonly NodeGroup[] = [
    {
      component: 'storage',
      step: 'StorageNodesReady',
      ...first,
      devices: devicesOf(spec),
      storage,
      ...base,
    },
    ...storageGroups.flatMap((one) =>
      one.hostPath === undefined
        ? onVolumes(one, counted(one.storageNodes ?? counts.storageNodes, sizeOf(one.name)))
        : onNodes(context, one),
    ),
    ...goneFrom(context).flatMap((one) =>
      one.hostPath === undefined ? onVolumes(one, counted(0, one.size)) : onNodes(context, one),
    ),
  ];
  // What has left is as if it had never been there.
  const known = haveLeft ? all.filter(({ host, wanted }) => host === undefined || wanted > 0) : all;
  const lost = known.filter(({ host, running }) => host !== undefined && running === 0);
  const areLeaving = lost.length > 0 || known.some(({ wanted, running }) => running > wanted);
  const isFewer =
    size > wantedBy(context) ||
    held.some(({ name, size, hostPath }) => hostPath === undefined && size > (wantedOf(context, name) ?? 0));
  return {
    groups: known.filter(({ running }) => running > 0),
    lost,
    areLeaving,
    haveMoved: haveMoved || isFewer || areLeaving,
  };
}

/** The storage nodes of a group with devices of nodes. */
function onNodes(context: Context<Swift>, group: StorageGroup): readonly NodeGroup[] {
  const { hostPath, name } = group;
  if (hostPath === undefined) return [];
  const { tolerations } = group;
  return hostsOf(context, group).map(({ node, component, state }) => ({
    ...groupOf(group),
    component,
    weight: group.weight ?? first.weight,
    devices: hostPath.devices,
    host: { ...hostPath, node, group: name },
    scheduling: { ...(tolerations && { tolerations }), node },
    wanted: state === 'wanted' ? 1 : 0,
    running: state === 'lost' ? 0 : 1,
  }));
}

function hostsOf(context: Context<Swift>, group: StorageGroup): readonly HostNode[] {
  const groups = Map.groupBy(heldGroups(context), ({ name }) => name === group.name);
  const nodesOf = (isIts: boolean) => groups.get(isIts)?.flatMap(({ nodes = [] }) => nodes) ?? [];
  return hostNodesOf(context, {
    group,
    isStated: wantedOf(context, group.name) !== undefined,
    held: nodesOf(true),
    ofOthers: nodesOf(false),
    isInRings: (node) => wordOf(context, node) !== undefined,
    isOffRings: (node) => isOffRings(context, node),
  });
}

/** Nodes with devices of their own that are wanted, and how many times these have changed; none where there never were any. */
function membership(context: Context<Swift>): Pick<Held, 'members' | 'turn'> {
  // Without a memory it goes on after the last one that a Job has told of.
  const last = Number(/at their turn (\d+),/u.exec(foundBy(context)[found] ?? '')?.[1] ?? 0);
  const { members, turn = last } = heldBy(context.surroundings.remembered[nodesField]);
  const stated = (context.spec.storageGroups ?? []).filter(({ hostPath }) => hostPath !== undefined);
  const wanted = stated.flatMap((group) =>
    hostsOf(context, group).flatMap(({ node, state }) => (state === 'wanted' ? `${group.name} ${node}` : [])),
  );
  if (members === undefined && wanted.length === 0) return {};
  const now = digest(wanted);
  return { members: now, turn: now === members ? turn : turn + 1 };
}

/** The groups that it remembers, as they were stated last. */
export const heldGroups = ({ surroundings }: Context<Swift>): readonly HeldGroup[] =>
  heldBy(surroundings.remembered[nodesField]).groups ?? [];

/** Remembered groups that are stated no more. */
function goneFrom(context: Context<Swift>): readonly HeldGroup[] {
  return heldGroups(context).filter(({ name }) => wantedOf(context, name) === undefined);
}

function wantedOf({ spec: { storageGroups = [] } }: Context<Swift>, group: string): number | undefined {
  const stated = storageGroups.find(({ name }) => name === group);
  return stated && (stated.storageNodes ?? counts.storageNodes);
}

const devicesOf = ({ devicesPerNode = counts.devicesPerNode }: Pick<StorageGroup, 'devicesPerNode'>) =>
  Array.from({ length: devicesPerNode }, (_, index) => `d${index + 1}`);

/**
 * Bytes of each device of storage nodes with volumes: of those that are there the least, as a volume may not have grown to what
 * is stated.
 */
function deviceBytes(
  { surroundings, named }: Context<Swift>,
  nodes: Pick<StorageGroup, 'devicesPerNode' | 'storage'> & { readonly component: string; readonly running: number },
): number {
  const { component, running, storage: { size = volumeSize } = {} } = nodes;
  const there = Array.from({ length: running }, (_, ordinal) => `${named(component)}-${ordinal}`).flatMap((pod) =>
    devicesOf(nodes).flatMap((device) => surroundings.claimBytes(`${device}-${pod}`) ?? []),
  );
  return there.length === 0 ? (bytesOf(size) ?? 1) : Math.min(...there);
}

function groupOf(group: StorageGroup) {
  const { name, zone, storage = {}, nodeSelector, tolerations } = group;
  const words = name.split('-').map((word) => word.slice(0, 1).toUpperCase() + word.slice(1));
  return {
    component: `storage-${name}`,
    step: `StorageNodes${words.join('')}Ready`,
    zone,
    devices: devicesOf(group),
    storage,
    scheduling: { ...(nodeSelector && { nodeSelector }), ...(tolerations && { tolerations }) },
  };
}

/** Whoever may write ConfigMaps may have written it. */
function heldBy(entry: unknown): Held {
  const { size, haveMoved, groups, members, turn } = (entry ?? {}) as Partial<Record<keyof Held, unknown>>;
  const trusted = Array.isArray(groups) ? (groups as (HeldGroup | null)[]).filter(isHeldGroup) : [];
  return {
    size: isWithin(size, 100) ? size : 0,
    haveMoved: haveMoved === true,
    groups: trusted,
    ...(typeof members === 'string' && { members }),
    ...(isWithin(turn, Number.MAX_SAFE_INTEGER) && { turn }),
  };
}

/** `status.lasting`: a number that may change is no part of what it says. */
export const lastingNodes = (): Readonly<Record<string, string>> => ({ [nodesField]: 'the devices of the rings' });

/** How many run, for every time after this, and for a Swift of this name that comes later. */
export function rememberedNodes(context: Context<Swift>): Readonly<Record<string, object>> {
  const { groups, lost, haveMoved } = nodesOf(context);
  const running = (component: string) => groups.find((one) => one.component === component)?.running ?? 0;
  const before = heldGroups(context);
  const stated = (context.spec.storageGroups ?? []).map((one) => {
    const was = before.find(({ name }) => name === one.name);
    // Of one that is refused it stays what it was.
    return was !== undefined && digest(fixedOf(was)) !== digest(fixedOf(one)) ? was : one;
  });
  const named = [...stated, ...goneFrom(context)].map((one): HeldGroup => {
    if (one.hostPath === undefined) return { ...one, size: running(`storage-${one.name}`) };
    const known = [...groups, ...lost].filter(({ host }) => host?.group === one.name);
    const nodes = known.flatMap(({ host }) => host?.node ?? []);
    return { ...one, size: nodes.length, nodes };
  });
  const held = named.filter(({ size }) => size > 0);
  const entry: Held = {
    size: running('storage'),
    haveMoved,
    ...(held.length === 0 ? {} : { groups: held }),
    ...membership(context),
  };
  return { [nodesField]: entry };
}

/** Keys of `status.found`: what has left, and which nodes the rings have. */
const found = 'storageNodes';
const inRings = 'nodesInRings';

const foundBy = ({ resource }: Context<Swift>): Found => resource.status?.found ?? {};

/**
 * What the Job says that has found nothing in the rings of the nodes that leave: it counts for this generation of the
 * resource alone, because a later one may have sent data there again.
 */
export function leftWords(context: Context<Swift>): string {
  const { storageGroups = [] } = context.spec;
  const groups = storageGroups
    .filter(({ hostPath }) => hostPath === undefined)
    .map(({ name }) => `, of ${name} ${wantedOf(context, name)} and up,`)
    .join('');
  const { turn } = membership(context);
  const nodes = turn === undefined ? '' : `, of nodes at their turn ${turn},`;
  return `storage nodes ${wantedBy(context)} and up${groups}${nodes} had left in generation ${context.resource.metadata.generation ?? 0}`;
}

const wantedBy = ({ spec }: Context<Swift>): number => spec.storageNodes ?? defaults.storageNodes;

/** Remembers it. */
export function nodesThatLeft(words: readonly string[], before: Found): Found {
  const left = words.find((line) => line.startsWith('storage nodes '));
  return left === undefined ? before : { ...before, [found]: left };
}

const ringsHave = 'the rings have nodes';

/** A node in the words of that Job, which have little room: none of its devices can be taken away, so that their number tells which. */
const ringWord = ({ node, devices }: HostPath & { readonly node: string }) => `${idOf(node)}/${devices.length}`;

/** What the Job that makes rings says in the end: the nodes with devices of their own that they have from then on, and those that have not left yet. */
export const ringWords = (context: Context<Swift>): string =>
  [
    ringsHave,
    ...nodesOf(context).groups.flatMap(({ host, wanted }) =>
      host === undefined ? [] : wanted > 0 ? ringWord(host) : (wordOf(context, host.node) ?? []),
    ),
  ].join(' ');

/** Remembers it. */
export function nodesInRings(words: readonly string[], before: Found): Found {
  const told = words.find((line) => line.startsWith(ringsHave));
  return told === undefined ? before : { ...before, [inRings]: told };
}

/** What that Job has said of a node. */
function wordOf(context: Context<Swift>, node: string): string | undefined {
  const { [inRings]: words = '' } = foundBy(context);
  return words.split(' ').find((word) => word.startsWith(`${idOf(node)}/`));
}

/** Whether that Job has said which nodes they have, and not this one. */
export const isOffRings = (context: Context<Swift>, node: string): boolean =>
  foundBy(context)[inRings] !== undefined && wordOf(context, node) === undefined;

/** Whether the rings have had all devices of a node: it has come up with them then. */
export const isInRings = (context: Context<Swift>, host: NonNullable<NodeGroup['host']>): boolean =>
  wordOf(context, host.node) === ringWord(host);
