import { keyOf } from '@openstack-operator/kube';
import type { IStatefulSetStatus } from 'kubernetes-models/apps/v1';
import { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet, type Stored } from '../cluster/kinds.ts';
import { isAvailable, isReady, untilAvailable } from '../cluster/pod-state.ts';
import { deepEqual } from '../resources/json.ts';
import { claim } from './claim.ts';
import { type ControllerContext, type ControllerDefinition, orphansOf, ownerOf, wakeBy } from './controller.ts';
import type { OwnerIndex } from './owner-index.ts';
import { ensureRevision, REVISION_LABEL, trimRevisions } from './revisions.ts';
import { createMember, createMissingClaims, deleteMember, ordinalOf, retainClaims } from './stateful-set-pods.ts';

interface Sync {
  readonly set: Stored<StatefulSet>;
  /** By ordinal, from the first one on; undefined where a member is missing. */
  readonly members: (Stored<Pod> | undefined)[];
  /** Beyond `replicas`, highest ordinal first. */
  readonly condemned: Stored<Pod>[];
  readonly current: Stored<ControllerRevision>;
  readonly update: Stored<ControllerRevision>;
  readonly first: number;
  readonly context: ControllerContext;
}

/** Keeps the members of StatefulSets, one after another unless they may burst (pkg/controller/statefulset). */
export function statefulSetController(
  pods: OwnerIndex<Pod>,
  revisions: OwnerIndex<ControllerRevision>,
): ControllerDefinition<StatefulSet> {
  return {
    name: 'statefulset-controller',
    kind: StatefulSet,
    wakes: [
      ownerOf(Pod, StatefulSet),
      orphansOf(Pod, StatefulSet),
      ownerOf(ControllerRevision, StatefulSet),
      // A claim that has gone lets its member be made anew.
      wakeBy(PersistentVolumeClaim, ({ object, old }, cluster) =>
        object ? [] : cluster.list(StatefulSet, old?.metadata.namespace ?? '').map(keyOf),
      ),
    ],
    reconcile(set, key, context) {
      const owned = claim(Pod, set, set.spec.selector, pods, context);
      const update = ensureRevision(set, revisions, 'controller.kubernetes.io/hash', context);
      const current =
        revisions.owned(set).find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update;
      const first = set.spec.ordinals?.start ?? 0;
      const replicas = set.spec.replicas ?? 1;
      const inRange = (pod: Stored<Pod>) => ordinalOf(pod) >= first && ordinalOf(pod) < first + replicas;
      const members = Array.from({ length: replicas }, (_, index) =>
        owned.find((pod) => ordinalOf(pod) === first + index),
      );
      const condemned = owned.filter((pod) => !inRange(pod) && ordinalOf(pod) >= 0);
      condemned.sort((a, b) => ordinalOf(b) - ordinalOf(a));
      const sync: Sync = { set, members, condemned, current, update, first, context };
      try {
        if (!set.metadata.deletionTimestamp) step(sync);
      } finally {
        report(key, sync, pods.owned(set));
      }
      const inUse = new Set([current.metadata.name, update.metadata.name, ...owned.map(revisionOf)]);
      trimRevisions(set, revisions, inUse, context);
    },
  };
}

function step(sync: Sync): void {
  const { set, members, condemned, context } = sync;
  const ordered = set.spec.podManagementPolicy !== 'Parallel';
  for (const index of members.keys()) {
    if (settle(sync, index, ordered) && ordered) return;
  }
  if (members.some((pod) => pod === undefined)) return;
  const unhealthy = [...condemned.toReversed(), ...members].find((pod) => pod && !isHealthy(sync, pod));
  for (const pod of condemned) {
    if (pod.metadata.deletionTimestamp) {
      if (ordered) return;
      continue;
    }
    // One that is not healthy may go only when it is the first that is not.
    if (ordered && !isHealthy(sync, pod) && pod !== unhealthy) return;
    retainClaims(set, pod, true, context);
    deleteMember(set, pod, context);
    if (ordered) return;
  }
  roll(sync);
}

/** Looks after one member; true when later ones have to wait for it. */
function settle(sync: Sync, index: number, ordered: boolean): boolean {
  const { set, members, context, first } = sync;
  const pod = members[index];
  const ordinal = first + index;
  if (pod === undefined) {
    createMember(set, ordinal, revisionFor(sync, ordinal), context);
    return true;
  }
  if (pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded') {
    if (!pod.metadata.deletionTimestamp) deleteMember(set, pod, context);
    return true;
  }
  if (pod.status?.phase === 'Pending') createMissingClaims(set, ordinal, context);
  if (ordered && (pod.metadata.deletionTimestamp || !isHealthy(sync, pod))) return true;
  retainClaims(set, pod, false, context);
  return false;
}

/** Which template a missing member is made from. */
function revisionFor({ set, current, update, first }: Sync, ordinal: number): Stored<ControllerRevision> {
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  const { currentReplicas = 0 } = set.status ?? {};
  if (type === 'OnDelete') return update;
  const keeps = rollingUpdate === undefined ? currentReplicas : (rollingUpdate.partition ?? 0);
  return ordinal < first + keeps ? current : update;
}

/** Replaces the highest member that is not up to date, once those above it are healthy. */
function roll(sync: Sync): void {
  const { set, members, update, context } = sync;
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  if (type === 'OnDelete') return;
  for (let index = members.length - 1; index >= (rollingUpdate?.partition ?? 0); index--) {
    const pod = members[index];
    if (!pod) return;
    if (revisionOf(pod) !== update.metadata.name && !pod.metadata.deletionTimestamp) {
      return deleteMember(set, pod, context);
    }
    if (!isHealthy(sync, pod)) return;
  }
}

function report(key: string, { set, current, update, context }: Sync, pods: readonly Stored<Pod>[]): void {
  const { cluster, now, wakeAfter } = context;
  const { minReadySeconds = 0 } = set.spec;
  const count = (test: (pod: Stored<Pod>) => boolean) => pods.filter(test).length;
  const runs = (pod: Stored<Pod>) => pod.status?.phase === 'Running' && isReady(pod);
  const ofRevision = (revision: Stored<ControllerRevision>) =>
    count((pod) => !pod.metadata.deletionTimestamp && revisionOf(pod) === revision.metadata.name);
  const replicas = pods.length;
  const ready = count(runs);
  const updated = ofRevision(update);
  const done = set.spec.updateStrategy?.type !== 'OnDelete' && updated === replicas && ready === replicas;
  const settled = done ? update : current;
  const currentReplicas = ofRevision(settled);
  for (const pod of pods) {
    const wait = untilAvailable(pod, minReadySeconds, now);
    if (wait) wakeAfter(key, wait);
  }
  const status: IStatefulSetStatus = {
    ...(set.metadata.generation !== undefined && { observedGeneration: set.metadata.generation }),
    replicas,
    ...(ready > 0 && { readyReplicas: ready }),
    ...(currentReplicas > 0 && { currentReplicas }),
    ...(updated > 0 && { updatedReplicas: updated }),
    currentRevision: settled.metadata.name,
    updateRevision: update.metadata.name,
    collisionCount: set.status?.collisionCount ?? 0,
    availableReplicas: count((pod) => runs(pod) && isAvailable(pod, minReadySeconds, now)),
  };
  if (!deepEqual(status, cluster.get(StatefulSet, key)?.status)) cluster.updateStatus(StatefulSet, key, status);
}

function isHealthy({ set, context }: Sync, pod: Stored<Pod>): boolean {
  return (
    pod.status?.phase === 'Running' &&
    !pod.metadata.deletionTimestamp &&
    isAvailable(pod, set.spec.minReadySeconds ?? 0, context.now)
  );
}

function revisionOf({ metadata }: Stored<Pod>): string {
  return metadata.labels?.[REVISION_LABEL] ?? '';
}
