import type { Members } from '../engine/vocabulary/component.ts';

/** A quorum as it was composed, and what has become of it. */
export interface Formed {
  /** Pods of it as they are composed. */
  readonly size: number;
  /** Whether one server was there before, which becomes the first member. */
  readonly wasSingle: boolean;
  /** Whether its workload is rolled out as composed. */
  readonly isDone: boolean;
  /** Names of the pods that are ready, in the order of their ordinals. */
  readonly ready: readonly string[];
}

/**
 * What is durable of a quorum. Who might hold data is counted before it has any; one server counts as the first member once
 * it runs as such, so that the others find a cluster to join. Clients stay with their pod for as long as that is ready.
 */
export function advanceMembers(
  { size: before, primary }: Members,
  { size, wasSingle, isDone, ready }: Formed,
): Members {
  const most = Math.max(before ?? 0, before === undefined && wasSingle && !isDone ? 0 : size);
  const next = primary !== undefined && ready.includes(primary) ? primary : (ready[0] ?? primary);
  return { ...(most === 0 ? {} : { size: most }), ...(next === undefined ? {} : { primary: next }) };
}
