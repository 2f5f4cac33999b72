import { parseTimestamp } from '@openstack-operator/kube';
import type { IDeploymentCondition, IDeploymentStatus } from 'kubernetes-models/apps/v1';
import { conditionOf, withCondition, withoutCondition } from '../cluster/conditions.ts';
import { Deployment, type Pod, Pod as PodKind, ReplicaSet, type Stored } from '../cluster/kinds.ts';
import { deepEqual } from '../resources/json.ts';
import { claim } from './claim.ts';
import { type ControllerContext, type ControllerDefinition, orphansOf, ownerOf, wakeBy } from './controller.ts';
import { boundsOf } from './deployment-bounds.ts';
import { historyOf, trimHistory } from './deployment-history.ts';
import { isScaling, recreate, rollingUpdate, scaleOnly } from './deployment-rollout.ts';
import { describe } from './errors.ts';
import type { OwnerIndex } from './owner-index.ts';
import { isTerminating } from './pods.ts';

/** Rolls Deployments out (pkg/controller/deployment). */
export function deploymentController(
  replicaSets: OwnerIndex<ReplicaSet>,
  pods: OwnerIndex<Pod>,
): ControllerDefinition<Deployment> {
  return {
    name: 'deployment-controller',
    kind: Deployment,
    wakes: [
      ownerOf(ReplicaSet, Deployment),
      orphansOf(ReplicaSet, Deployment),
      // Recreate waits for the last old pod to vanish, which its ReplicaSet may not show any more.
      wakeBy(PodKind, ({ object, old }, cluster) => {
        if (object) return [];
        const owner = old?.metadata.ownerReferences?.find(({ kind }) => kind === 'ReplicaSet');
        const replicaSet = owner && cluster.get(ReplicaSet, `${old?.metadata.namespace}/${owner.name}`);
        const deployment = replicaSet?.metadata.ownerReferences?.find(({ kind }) => kind === 'Deployment');
        return deployment ? [`${old?.metadata.namespace}/${deployment.name}`] : [];
      }),
    ],
    reconcile(deployment, key, context) {
      if (deployment.metadata.deletionTimestamp) return;
      let failure: unknown;
      try {
        roll(deployment, replicaSets, pods, context);
      } catch (error) {
        failure = error;
      }
      report(key, replicaSets, failure, context);
      if (failure && !isTerminating(failure)) throw failure;
    },
  };
}

function roll(
  deployment: Stored<Deployment>,
  replicaSets: OwnerIndex<ReplicaSet>,
  pods: OwnerIndex<Pod>,
  context: ControllerContext,
): void {
  const owned = claim(ReplicaSet, deployment, deployment.spec.selector, replicaSets, context);
  const history = historyOf(deployment, owned);
  if (deployment.spec.paused || isScaling(deployment, history)) scaleOnly(deployment, history, context);
  else if (deployment.spec.strategy?.type === 'Recreate') {
    recreate(
      deployment,
      history,
      owned.flatMap((replicaSet) => pods.owned(replicaSet)),
      context,
    );
  } else rollingUpdate(deployment, history, context);
}

function report(key: string, replicaSets: OwnerIndex<ReplicaSet>, failure: unknown, context: ControllerContext): void {
  const { cluster, now, wakeAfter } = context;
  const deployment = cluster.get(Deployment, key);
  if (!deployment) return;
  const owned = replicaSets.owned(deployment);
  const history = historyOf(deployment, owned);
  const status = countsOf(deployment, owned, history.current);
  let { conditions = [] } = deployment.status ?? {};
  const set = (condition: IDeploymentCondition) => {
    conditions = setCondition(conditions, condition, cluster.now());
  };
  const { unavailable } = boundsOf(deployment);
  const enough = (status.availableReplicas ?? 0) >= (deployment.spec.replicas ?? 1) - unavailable;
  set({
    type: 'Available',
    status: enough ? 'True' : 'False',
    reason: enough ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
    message: `Deployment ${enough ? 'has' : 'does not have'} minimum availability.`,
  });
  const replicaFailure = owned
    .map((replicaSet) => conditionOf(replicaSet.status?.conditions, 'ReplicaFailure'))
    .find((condition) => condition?.status === 'True');
  const failed = failure ? describe(failure) : replicaFailure?.message;
  if (failed === undefined) conditions = withoutCondition(conditions, 'ReplicaFailure');
  else set({ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: failed });
  conditions = progress(deployment, { ...status, conditions }, history.current, context);
  const condition = conditionOf(conditions, 'Progressing');
  if (condition && isUnderWay(condition.reason)) {
    const since = parseTimestamp(condition.lastUpdateTime ?? '') - now;
    wakeAfter(key, Math.max(0, since + (deployment.spec.progressDeadlineSeconds ?? 600) * 1000) + 1000);
  }
  const next: IDeploymentStatus = { ...status, conditions };
  if (!deepEqual(next, deployment.status)) cluster.updateStatus(Deployment, key, next);
  const complete = isComplete(deployment, status);
  if (complete) trimHistory(deployment, history.old, context);
}

function countsOf(
  deployment: Stored<Deployment>,
  owned: readonly Stored<ReplicaSet>[],
  current: Stored<ReplicaSet> | undefined,
): IDeploymentStatus {
  const total = (count: (replicaSet: Stored<ReplicaSet>) => number | undefined) =>
    owned.reduce((sum, replicaSet) => sum + (count(replicaSet) ?? 0), 0);
  const available = total(({ status }) => status?.availableReplicas);
  const given = (name: string, value: number) => (value > 0 ? { [name]: value } : {});
  const { collisionCount } = deployment.status ?? {};
  return {
    ...(deployment.metadata.generation !== undefined && { observedGeneration: deployment.metadata.generation }),
    ...given(
      'replicas',
      total(({ status }) => status?.replicas),
    ),
    ...given('updatedReplicas', current?.status?.replicas ?? 0),
    ...given(
      'readyReplicas',
      total(({ status }) => status?.readyReplicas),
    ),
    ...given('availableReplicas', available),
    ...given('unavailableReplicas', Math.max(0, total(({ spec }) => spec.replicas) - available)),
    terminatingReplicas: total(({ status }) => status?.terminatingReplicas),
    ...(collisionCount !== undefined && { collisionCount }),
  };
}

/** The Progressing condition (syncRolloutStatus in progress.go). */
function progress(
  deployment: Stored<Deployment>,
  status: IDeploymentStatus,
  current: Stored<ReplicaSet> | undefined,
  { cluster, now }: ControllerContext,
): IDeploymentCondition[] {
  const { conditions = [] } = status;
  const { progressDeadlineSeconds = 600, paused } = deployment.spec;
  const before = conditionOf(conditions, 'Progressing');
  const set = (verdict: 'True' | 'False' | 'Unknown', reason: string, message: string) =>
    setCondition(conditions, { type: 'Progressing', status: verdict, reason, message }, cluster.now());
  if (progressDeadlineSeconds >= 2 ** 31 - 1) return withoutCondition(conditions, 'Progressing');
  if (paused) {
    if (before?.reason === 'ProgressDeadlineExceeded' || before?.reason === 'DeploymentPaused') return conditions;
    return set('Unknown', 'DeploymentPaused', 'Deployment is paused');
  }
  if (before?.reason === 'DeploymentPaused') return set('Unknown', 'DeploymentResumed', 'Deployment is resumed');
  const settled =
    (status.replicas ?? 0) === (status.updatedReplicas ?? 0) && before?.reason === 'NewReplicaSetAvailable';
  if (settled) return conditions;
  const subject = current ? `ReplicaSet "${current.metadata.name}"` : `Deployment "${deployment.metadata.name}"`;
  if (isComplete(deployment, status))
    return set('True', 'NewReplicaSetAvailable', `${subject} has successfully progressed.`);
  if (current && (before === undefined || before.reason === 'NewReplicaSetAvailable')) {
    return set('True', 'NewReplicaSetCreated', `Created new replica set "${current.metadata.name}"`);
  }
  if (movedOn(deployment.status ?? {}, status)) {
    const time = cluster.now();
    const moved: IDeploymentCondition = {
      type: 'Progressing',
      status: 'True',
      reason: 'ReplicaSetUpdated',
      message: `${subject} is progressing.`,
      lastUpdateTime: time,
      lastTransitionTime: before?.status === 'True' ? (before.lastTransitionTime ?? time) : time,
    };
    return [...withoutCondition(conditions, 'Progressing'), moved];
  }
  const expires = parseTimestamp(before?.lastUpdateTime ?? '') + progressDeadlineSeconds * 1000;
  if (isUnderWay(before?.reason) && now >= expires) {
    return set('False', 'ProgressDeadlineExceeded', `${subject} has timed out progressing.`);
  }
  return conditions;
}

function isUnderWay(reason: string | undefined): boolean {
  return (
    reason !== undefined && !['NewReplicaSetAvailable', 'ProgressDeadlineExceeded', 'DeploymentPaused'].includes(reason)
  );
}

function isComplete({ spec, metadata }: Stored<Deployment>, status: IDeploymentStatus): boolean {
  const wanted = spec.replicas ?? 1;
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, observedGeneration = 0 } = status;
  return (
    [updatedReplicas, replicas, availableReplicas].every((count) => count === wanted) &&
    observedGeneration >= (metadata.generation ?? 0)
  );
}

function movedOn(before: IDeploymentStatus, after: IDeploymentStatus): boolean {
  const old = ({ replicas = 0, updatedReplicas = 0 }: IDeploymentStatus) => replicas - updatedReplicas;
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    old(after) < old(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

/** Equal status and reason: left as it is, whatever the message (SetDeploymentCondition). */
function setCondition(
  conditions: readonly IDeploymentCondition[],
  condition: IDeploymentCondition,
  now: string,
): IDeploymentCondition[] {
  const before = conditionOf(conditions, condition.type);
  if (before?.status === condition.status && before.reason === condition.reason) return [...conditions];
  return withCondition(conditions, { ...condition, lastUpdateTime: now }, now);
}
