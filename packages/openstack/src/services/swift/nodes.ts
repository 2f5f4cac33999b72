import { digest } from '../../engine/names/digest.ts';
import { bytesOf } from '../../engine/names/quantity.ts';
import type { Component } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { Found } from '../../engine/vocabulary/service.ts';
import { counts, first, fixedOf, type StorageGroup, volumeSize } from './groups.ts';
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
}

/** A group, as it was stated last. */
interface HeldGroup extends StorageGroup {
  /** So many of its storage nodes run. */
  readonly size: number;
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
}

/** The storage nodes that there are. */
export interface Nodes {
  /** Those of `spec.storageNodes` first. */
  readonly groups: readonly NodeGroup[];
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
  const all: readonly NodeGroup[] = [
    {
      component: 'storage',
      step: 'StorageNodesReady',
      ...first,
      devices: devicesOf(spec),
      storage,
      ...counted(wantedBy(context), size),
    },
    ...storageGroups.map((one) => ({
      ...groupOf(context, one),
      ...counted(one.storageNodes ?? counts.storageNodes, sizeOf(one.name)),
    })),
    ...goneFrom(context).map((one) => ({ ...groupOf(context, one), ...counted(0, one.size) })),
  ];
  const areLeaving = all.some(({ wanted, running }) => running > wanted);
  const isFewer = size > wantedBy(context) || held.some((one) => one.size > (wantedOf(context, one.name) ?? 0));
  return { groups: all.filter(({ running }) => running > 0), areLeaving, haveMoved: haveMoved || isFewer };
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

function groupOf({ spec }: Context<Swift>, group: StorageGroup) {
  const { name, zone, storage = {}, nodeSelector, tolerations } = group;
  const bytes = (size = volumeSize) => bytesOf(size) ?? 1;
  const bySize = (first.weight * bytes(storage.size)) / Math.max(1, bytes(spec.storage?.size));
  const words = name.split('-').map((word) => word.slice(0, 1).toUpperCase() + word.slice(1));
  return {
    component: `storage-${name}`,
    step: `StorageNodes${words.join('')}Ready`,
    zone,
    // The builder says two places of it.
    weight: group.weight ?? Math.max(0.01, bySize),
    devices: devicesOf(group),
    storage,
    scheduling: { ...(nodeSelector && { nodeSelector }), ...(tolerations && { tolerations }) },
  };
}

/** Whoever may write ConfigMaps may have written it. */
function heldBy(entry: unknown): Held {
  const { size, haveMoved, groups } = (entry ?? {}) as Partial<Record<keyof Held, unknown>>;
  const isGroup = (one: Partial<HeldGroup> | null) =>
    /^[a-z]([-a-z0-9]{0,5}[a-z0-9])?$/u.test(one?.name ?? '') &&
    isWithin(one?.size, 100) &&
    isWithin(one?.zone, 255) &&
    ['number', 'undefined'].includes(typeof one?.weight) &&
    isWithin(one?.devicesPerNode ?? 1, 16);
  const trusted = Array.isArray(groups) ? (groups as (HeldGroup | null)[]).filter((one) => isGroup(one)) : [];
  return { size: isWithin(size, 100) ? size : 0, haveMoved: haveMoved === true, groups: trusted as HeldGroup[] };
}

const isWithin = (value: unknown, most: number): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value <= most;

/** `status.lasting`: a number that may change is no part of what it says. */
export const lastingNodes = (): Readonly<Record<string, string>> => ({ [nodesField]: 'the devices of the rings' });

/** How many run, for every time after this, and for a Swift of this name that comes later. */
export function rememberedNodes(context: Context<Swift>): Readonly<Record<string, object>> {
  const { groups, haveMoved } = nodesOf(context);
  const running = (component: string) => groups.find((one) => one.component === component)?.running ?? 0;
  const before = heldGroups(context);
  const stated = (context.spec.storageGroups ?? []).map((one) => {
    const was = before.find(({ name }) => name === one.name);
    // Of one that is refused it stays what it was.
    return was !== undefined && digest(fixedOf(was)) !== digest(fixedOf(one)) ? was : one;
  });
  const named = [...stated, ...goneFrom(context)].map(
    (one): HeldGroup => ({ ...one, size: running(`storage-${one.name}`) }),
  );
  const held = named.filter(({ size }) => size > 0);
  const entry: Held = { size: running('storage'), haveMoved, ...(held.length === 0 ? {} : { groups: held }) };
  return { [nodesField]: entry };
}

/** Key of `status.found`. */
const found = 'storageNodes';

const foundBy = ({ resource }: Context<Swift>): Found => resource.status?.found ?? {};

/**
 * What the Job says that has found nothing in the rings of the nodes that leave: it counts for this generation of the
 * resource alone, because a later one may have sent data there again.
 */
export function leftWords(context: Context<Swift>): string {
  const { storageGroups = [] } = context.spec;
  const groups = storageGroups.map(({ name }) => `, of ${name} ${wantedOf(context, name)} and up,`).join('');
  return `storage nodes ${wantedBy(context)} and up${groups} had left in generation ${context.resource.metadata.generation ?? 0}`;
}

const wantedBy = ({ spec }: Context<Swift>): number => spec.storageNodes ?? defaults.storageNodes;

/** Remembers it. */
export function nodesThatLeft(words: readonly string[], before: Found): Found {
  const left = words.find((line) => line.startsWith('storage nodes '));
  return left === undefined ? before : { ...before, [found]: left };
}
