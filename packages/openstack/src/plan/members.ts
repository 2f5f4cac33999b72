import { type KubeObject, StatefulSet, type StoredObject } from '@openstack-operator/kube';
import { unreadySince } from '../engine/status/agents.ts';
import { eventOf } from '../engine/status/event-reasons.ts';
import type { Members } from '../engine/vocabulary/component.ts';
import { nothing, type Plan, soonest } from './action.ts';
import type { Live } from './live.ts';
import { isReady, membersOf, ordinalOf } from './stuck-pods.ts';

/** Milliseconds after which a member of an older revision that is not ready is replaced, whatever the others are. */
const patience = 600_000;

/** Whether an object is the StatefulSet of members of a quorum. */
export function isQuorum({ kind, spec }: KubeObject): boolean {
  const { updateStrategy } = (spec ?? {}) as { updateStrategy?: { type?: string } };
  return kind === StatefulSet.kind && updateStrategy?.type === 'OnDelete';
}

/**
 * Replaces the members of a quorum that are of an older revision, one at a time: their StatefulSets are `OnDelete`, because
 * with members that start all at once the StatefulSet controller replaces the highest one of an older revision whether
 * another member is away or not (`rollingUpdate` of pkg/controller/statefulset, Kubernetes 1.36), and two of three are no
 * majority.
 *
 * The next one goes when every member is ready: the highest ordinal first, and the one that clients are led to last, so that
 * they are led elsewhere once. A member that is the only one away goes at once, as what it waits for may be its own
 * correction; and one that has been away for ten minutes goes in any case, as it is no part of a majority. What the new
 * revision cannot start stops at the first member. To go on without a majority, delete the next pod by hand.
 */
export function nextMember(live: Pick<Live, 'cache' | 'resource' | 'now'>, stated: KubeObject, step: string): Plan {
  const { replicas = 1 } = (stated['spec'] ?? {}) as { replicas?: number };
  const members = isQuorum(stated) ? membersOf(live, stated) : undefined;
  if (members === undefined || members.pods.some(({ metadata }) => metadata.deletionTimestamp !== undefined))
    return nothing;
  const { pods, isNew } = members;
  const { primary } = ((live.resource['status'] ?? {}) as { members?: Members }).members ?? {};
  const isPrimary = (pod: StoredObject) => Number(pod.metadata.name === primary);
  const old = pods
    .filter((pod) => !isNew(pod))
    .sort((one, other) => isPrimary(one) - isPrimary(other) || ordinalOf(other) - ordinalOf(one));
  const away = Math.max(0, replicas - pods.length) + pods.filter((pod) => !isReady(pod)).length;
  const unready = old.filter((pod) => !isReady(pod));
  const waits = (pod: StoredObject) => unreadySince(pod) + patience - live.now;
  const [next] = away === 0 ? old : away === 1 ? unready : unready.filter((pod) => waits(pod) <= 0);
  if (next === undefined) {
    const requeueAfter = soonest(unready.map(waits));
    return requeueAfter === undefined ? nothing : { actions: [], requeueAfter };
  }
  const note = `pod ${next.metadata.name} of an older revision is replaced`;
  return { actions: [{ verb: 'evict', step, reason: 'Outdated', live: next, event: eventOf('PodReplaced', note) }] };
}
