import { parseTimestamp } from '@openstack-operator/kube';
import type { Pod, Stored } from './kinds.ts';

/** Not through and not on its way out. */
export function isActive(pod: Stored<Pod>): boolean {
  return !isEnded(pod) && !pod.metadata.deletionTimestamp;
}

/** Succeeded or Failed: it takes nothing of its node any more. */
export function isEnded({ status }: Stored<Pod>): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Whether the pod's Ready condition is True. */
export function isReady({ status }: Stored<Pod>): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;
}

/** Milliseconds until a ready pod has been ready for `minReadySeconds`; 0 when it has; undefined when it is not ready. */
export function untilAvailable(pod: Stored<Pod>, minReadySeconds: number, now: number): number | undefined {
  if (!isReady(pod)) return undefined;
  const since = pod.status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
  if (minReadySeconds === 0 || since === undefined) return 0;
  return Math.max(0, parseTimestamp(since) + minReadySeconds * 1000 - now);
}

/** Ready for long enough. */
export function isAvailable(pod: Stored<Pod>, minReadySeconds: number, now: number): boolean {
  return untilAvailable(pod, minReadySeconds, now) === 0;
}
