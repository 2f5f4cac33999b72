/** What conditions of workloads have in common. */
export interface StatusCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
  lastUpdateTime?: string;
  lastProbeTime?: string;
  observedGeneration?: number;
}

/**
 * The list with one condition set: `lastTransitionTime` moves only when the status changes. An equal one is left as it
 * is. The others keep their places.
 */
export function withCondition<T extends StatusCondition>(
  conditions: readonly T[] | undefined,
  condition: T,
  now: string,
): T[] {
  const list = [...(conditions ?? [])];
  const at = list.findIndex(({ type }) => type === condition.type);
  const before = list[at];
  if (
    before?.status === condition.status &&
    before.reason === condition.reason &&
    before.message === condition.message &&
    before.observedGeneration === condition.observedGeneration
  ) {
    return list;
  }
  const lastTransitionTime = before?.status === condition.status ? (before.lastTransitionTime ?? now) : now;
  const next = { ...condition, lastTransitionTime };
  if (at < 0) return [...list, next];
  list[at] = next;
  return list;
}

/** The list without a condition. */
export function withoutCondition<T extends StatusCondition>(conditions: readonly T[] | undefined, type: string): T[] {
  return (conditions ?? []).filter((condition) => condition.type !== type);
}

/** The condition of that type. */
export function conditionOf<T extends StatusCondition>(
  conditions: readonly T[] | undefined,
  type: string,
): T | undefined {
  return conditions?.find((condition) => condition.type === type);
}
