import type { Context } from '../../engine/vocabulary/context.ts';
import type { Found } from '../../engine/vocabulary/service.ts';
import { defaults, type Swift } from './kind.ts';

/** The field under which the storage nodes are remembered. */
export const nodesField = 'spec.storageNodes';

/** What is remembered of storage nodes. */
interface Held {
  /** So many run, those that leave among them. */
  readonly size: number;
  /** They were fewer once than before: rings may have devices without weight. */
  readonly haveMoved: boolean;
}

/** How many storage nodes there are. */
export interface Nodes {
  readonly wanted: number;
  /** Those that are wanted, and those that leave: they run until the rings have nothing of them. */
  readonly running: number;
  /** Whether there are, or were, some that leave. */
  readonly haveMoved: boolean;
}

/** How many storage nodes a Swift has, as far as it remembers. */
export function nodesOf(context: Context<Swift>): Nodes {
  const wanted = wantedBy(context);
  const { size, haveMoved } = heldBy(context.surroundings.remembered[nodesField]);
  const haveLeft = foundBy(context)[found] === leftWords(context);
  const running = haveLeft ? wanted : Math.max(wanted, size);
  return { wanted, running, haveMoved: haveMoved || size > wanted };
}

/** Whoever may write ConfigMaps may have written it. */
function heldBy(entry: unknown): Held {
  const { size, haveMoved } = (entry ?? {}) as Partial<Record<keyof Held, unknown>>;
  const isNumber = typeof size === 'number' && Number.isSafeInteger(size) && size > 0 && size <= 100;
  return { size: isNumber ? size : 0, haveMoved: haveMoved === true };
}

/** `status.lasting`: a number that may change is no part of what it says. */
export const lastingNodes = (): Readonly<Record<string, string>> => ({ [nodesField]: 'the devices of the rings' });

/** How many run, for every time after this, and for a Swift of this name that comes later. */
export function rememberedNodes(context: Context<Swift>): Readonly<Record<string, object>> {
  const { running: size, haveMoved } = nodesOf(context);
  return { [nodesField]: { size, haveMoved } satisfies Held };
}

/** Key of `status.found`. */
const found = 'storageNodes';

const foundBy = ({ resource }: Context<Swift>): Found => resource.status?.found ?? {};

/**
 * What the Job says that has found nothing in the rings of the nodes that leave: it counts for this generation of the
 * resource alone, because a later one may have sent data there again.
 */
export function leftWords(context: Context<Swift>): string {
  return `storage nodes ${wantedBy(context)} and up had left in generation ${context.resource.metadata.generation ?? 0}`;
}

const wantedBy = ({ spec }: Context<Swift>): number => spec.storageNodes ?? defaults.storageNodes;

/** Remembers it. */
export function nodesThatLeft(words: readonly string[], before: Found): Found {
  const left = words.find((line) => line.startsWith('storage nodes '));
  return left === undefined ? before : { ...before, [found]: left };
}
