import { keyOf } from '@openstack-operator/kube';
import { conditionOf, withCondition, withoutCondition } from '../cluster/conditions.ts';
import { Pod, ReplicaSet, type Stored } from '../cluster/kinds.ts';
import { isActive, isReady, untilAvailable } from '../cluster/pod-state.ts';
import { claim } from './claim.ts';
import { type ControllerContext, type ControllerDefinition, orphansOf, ownerOf } from './controller.ts';
import { describe } from './errors.ts';
import type { OwnerIndex } from './owner-index.ts';
import { byExpendability, createPod, deletePod, isTerminating, podFromTemplate } from './pods.ts';

/** Keeps as many pods as a ReplicaSet says (pkg/controller/replicaset). */
export function replicaSetController(pods: OwnerIndex<Pod>): ControllerDefinition<ReplicaSet> {
  return {
    name: 'replicaset-controller',
    kind: ReplicaSet,
    wakes: [ownerOf(Pod, ReplicaSet), orphansOf(Pod, ReplicaSet)],
    reconcile(replicaSet, key, context) {
      const claimed = claim(Pod, replicaSet, replicaSet.spec.selector, pods, context);
      let failure: unknown;
      if (!replicaSet.metadata.deletionTimestamp) failure = scale(replicaSet, claimed.filter(isActive), context);
      report(replicaSet, key, pods.owned(replicaSet), failure, context);
      if (failure && !isTerminating(failure)) throw failure;
    },
  };
}

function scale(replicaSet: Stored<ReplicaSet>, active: Stored<Pod>[], context: ControllerContext): unknown {
  const wanted = replicaSet.spec.replicas ?? 1;
  for (const pod of active.toSorted(byExpendability).slice(0, Math.max(0, active.length - wanted))) {
    deletePod(pod, replicaSet, context);
  }
  const name = { generateName: `${replicaSet.metadata.name}-` };
  for (let missing = wanted - active.length; missing > 0; missing--) {
    try {
      createPod(podFromTemplate(replicaSet.spec.template ?? {}, replicaSet, name), replicaSet, context);
    } catch (error) {
      return error;
    }
  }
  return undefined;
}

function report(
  replicaSet: Stored<ReplicaSet>,
  key: string,
  all: Stored<Pod>[],
  failure: unknown,
  { cluster, now, wakeAfter }: ControllerContext,
): void {
  const { minReadySeconds = 0, template } = replicaSet.spec;
  const active = all.filter(isActive);
  const waits = active.map((pod) => untilAvailable(pod, minReadySeconds, now));
  const soonest = Math.min(...waits.filter((wait) => wait !== undefined && wait > 0).map(Number));
  if (Number.isFinite(soonest)) wakeAfter(key, soonest);
  const labels = Object.entries(template?.metadata?.labels ?? {});
  const labelled = active.filter(({ metadata }) => labels.every(([name, value]) => metadata.labels?.[name] === value));
  const ready = active.filter(isReady).length;
  const available = waits.filter((wait) => wait === 0).length;
  const terminating = all.filter(
    ({ metadata, status }) => metadata.deletionTimestamp && status?.phase !== 'Failed' && status?.phase !== 'Succeeded',
  ).length;
  const failed = {
    type: 'ReplicaFailure',
    status: 'True',
    reason: 'FailedCreate',
    message: conditionOf(replicaSet.status?.conditions, 'ReplicaFailure')?.message ?? describe(failure),
  };
  // The first words stay: those of the next try name another pod, and would be a change that has it tried again.
  const conditions = failure
    ? withCondition(replicaSet.status?.conditions, failed, cluster.now())
    : withoutCondition(replicaSet.status?.conditions, 'ReplicaFailure');
  cluster.updateStatus(ReplicaSet, keyOf(replicaSet), {
    replicas: active.length,
    ...(labelled.length > 0 && { fullyLabeledReplicas: labelled.length }),
    ...(ready > 0 && { readyReplicas: ready }),
    ...(available > 0 && { availableReplicas: available }),
    terminatingReplicas: terminating,
    ...(replicaSet.metadata.generation !== undefined && { observedGeneration: replicaSet.metadata.generation }),
    ...(conditions.length > 0 && { conditions }),
  });
}
