import { type KubeObject, Pod, StatefulSet, type StoredObject } from '@openstack-operator/kube';
import { conditionOf } from '../engine/status/conditions.ts';
import { eventOf } from '../engine/status/event-reasons.ts';
import type { Action } from './action.ts';
import type { Live } from './live.ts';

/**
 * Evicts pods of an old revision that cannot become Ready: a StatefulSet replaces no pod before it is Ready, so a
 * mistake in a template would block its own correction for ever (kubernetes/kubernetes#67250). A pod that is merely
 * starting is left alone: it may be making its database, or be a member that the others need.
 *
 * One at a time, the highest ordinal first, as a rolling update goes. The next one only when every pod is there and each
 * of the new revision is Ready, or stuck as well: members that come back find those that they knew. No pod that is Ready
 * is ever deleted, so that a quorum stays what it is.
 */
export function stuckPod(
  { cache, resource }: Pick<Live, 'cache' | 'resource'>,
  stated: KubeObject,
  step: string,
): readonly Action[] {
  const members = membersOf({ cache, resource }, stated);
  if (members === undefined) return [];
  const { set: live, pods, isNew } = members;
  const [next] = pods
    .filter((pod) => !isNew(pod) && !isReady(pod) && isStuck(pod))
    .sort((a, b) => ordinalOf(b) - ordinalOf(a));
  if (next === undefined || !pods.every((pod) => isSettled(pod, isNew(pod))) || !isComplete(live, pods)) return [];
  const note = `pod ${next.metadata.name} of an older revision could not become Ready: replaced`;
  return [{ verb: 'evict', step, reason: 'Stuck', live: next, event: eventOf('PodReplaced', note) }];
}

/** The live StatefulSet of a stated one, with its pods; undefined until its controller has seen how it is now, and while it is replaced. */
export function membersOf(
  { cache, resource }: Pick<Live, 'cache' | 'resource'>,
  stated: KubeObject,
):
  | {
      readonly set: StoredObject;
      readonly pods: readonly StoredObject[];
      readonly isNew: (pod: StoredObject) => boolean;
    }
  | undefined {
  const set = cache.controlledBy(StatefulSet, resource).find(({ metadata }) => metadata.name === stated.metadata.name);
  const { updateRevision, observedGeneration = 0 } = (set?.['status'] ?? {}) as {
    updateRevision?: string;
    observedGeneration?: number;
  };
  if (set === undefined || updateRevision === undefined || observedGeneration < (set.metadata.generation ?? 0))
    return undefined;
  // Nobody makes its pods anew until it is there again.
  if (set.metadata.deletionTimestamp !== undefined) return undefined;
  const isNew = (pod: StoredObject) => pod.metadata.labels?.['controller-revision-hash'] === updateRevision;
  return { set, pods: cache.controlledBy(Pod, set), isNew };
}

/** Nothing is under way with a pod: it does not end, and one of the new revision has come as far as it can. */
function isSettled(pod: StoredObject, isNew: boolean): boolean {
  return pod.metadata.deletionTimestamp === undefined && (!isNew || isReady(pod) || isStuck(pod));
}

/**
 * Whether no pod is missing that was there before. Pods are made in order, each when the one before it is Ready, so that
 * those behind a stuck one may not be there yet.
 */
function isComplete({ spec }: StoredObject, pods: readonly StoredObject[]): boolean {
  const { replicas = 1 } = (spec ?? {}) as { replicas?: number };
  const ordinals = pods.map(ordinalOf);
  const highest = Math.min(replicas - 1, Math.max(...ordinals));
  return new Set(ordinals.filter((ordinal) => ordinal <= highest)).size === highest + 1;
}

/** The number at the end of a member's name: `db-2` -> 2 */
export function ordinalOf({ metadata: { name } }: StoredObject): number {
  return Number(name.slice(name.lastIndexOf('-') + 1));
}

/** Whether its condition Ready is met. */
export function isReady(pod: StoredObject): boolean {
  return conditionOf(pod, 'Ready')?.status === 'True';
}

/** Reasons for which a container waits that only another template changes. */
const hopeless = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'CrashLoopBackOff',
]);

/** Not scheduled, or with a container that does not start. */
function isStuck(pod: StoredObject): boolean {
  if (conditionOf(pod, 'PodScheduled')?.status === 'False') return true;
  const { initContainerStatuses = [], containerStatuses = [] } = (pod['status'] ?? {}) as Record<
    'initContainerStatuses' | 'containerStatuses',
    Container[] | undefined
  >;
  return [...initContainerStatuses, ...containerStatuses].some(({ state }) =>
    hopeless.has(state?.waiting?.reason ?? ''),
  );
}

interface Container {
  readonly state?: { readonly waiting?: { readonly reason?: string } };
}
