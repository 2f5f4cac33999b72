import type { StorageGroup } from './groups.ts';

/** A group, as it was stated last. */
export interface HeldGroup extends StorageGroup {
  /** So many of its storage nodes run. */
  readonly size: number;
  /** With `hostPath`: names of its nodes, those that leave or are lost among them. */
  readonly nodes?: readonly string[];
}

/** Whether it says what is told of a group: whoever may write ConfigMaps may have written it. */
export function isHeldGroup(one: Partial<HeldGroup> | null): one is HeldGroup {
  const { hostPath, nodes = [] } = one ?? {};
  return (
    /^[a-z]([-a-z0-9]{0,5}[a-z0-9])?$/u.test(one?.name ?? '') &&
    isWithin(one?.size, mostNodes) &&
    isWithin(one?.zone, 255) &&
    ['number', 'undefined'].includes(typeof one?.weight) &&
    isWithin(one?.devicesPerNode ?? 1, 16) &&
    areTexts(nodes, /^[a-z0-9][-.a-z0-9]*$/u) &&
    (hostPath === undefined ||
      (/^(\/[a-zA-Z0-9][-_.a-zA-Z0-9]*)+$/u.test(hostPath.path ?? '/srv') &&
        areTexts(hostPath.devices, /^[a-zA-Z0-9][-_a-zA-Z0-9]*$/u)))
  );
}

/** Storage nodes of a group at most, and nodes of the cluster beyond which rings would not fit into a Secret. */
const mostNodes = 1000;

function areTexts(values: unknown, pattern: RegExp): boolean {
  return Array.isArray(values) && values.every((value) => typeof value === 'string' && pattern.test(value));
}

/** Whether a value is a whole number from 1 on. */
export const isWithin = (value: unknown, most: number): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value <= most;
