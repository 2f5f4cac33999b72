import { controllerOf, keyOf } from '@openstack-operator/kube';
import type { IPodDisruptionBudgetStatus } from 'kubernetes-models/policy/v1';
import type { Cluster } from '../cluster/cluster.ts';
import { withCondition } from '../cluster/conditions.ts';
import { Pod, PodDisruptionBudget, type Stored } from '../cluster/kinds.ts';
import { isReady } from '../cluster/pod-state.ts';
import { deepEqual } from '../resources/json.ts';
import { selectorMatches } from '../resources/metadata.ts';
import { type ControllerDefinition, wakeBy } from './controller.ts';
import { resolveIntOrPercent } from './int-or-percent.ts';

/** Says how many pods of a PodDisruptionBudget may be evicted now (pkg/controller/disruption). */
export function disruptionBudgetController(): ControllerDefinition<PodDisruptionBudget> {
  return {
    name: 'controllermanager',
    kind: PodDisruptionBudget,
    wakes: [
      wakeBy(Pod, ({ object, old }, cluster) =>
        cluster
          .list(PodDisruptionBudget, (object ?? old)?.metadata.namespace ?? '')
          .filter((budget) => (object && guards(budget, object)) || (old && guards(budget, old)))
          .map(keyOf),
      ),
    ],
    reconcile(budget, key, { cluster }) {
      const pods = cluster
        .list(Pod, budget.metadata.namespace ?? '')
        .filter((pod) => guards(budget, pod) && pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed');
      const healthy = pods.filter((pod) => isReady(pod) && !pod.metadata.deletionTimestamp).length;
      const { expected, desired } = demand(budget, pods, cluster);
      const allowed = desired > 0 || expected > 0 ? Math.max(0, healthy - desired) : 0;
      const generation = budget.metadata.generation ?? 0;
      const conditions = withCondition(
        budget.status?.conditions as Parameters<typeof withCondition>[0],
        {
          type: 'DisruptionAllowed',
          status: allowed > 0 ? 'True' : 'False',
          reason: allowed > 0 ? 'SufficientPods' : 'InsufficientPods',
          message: '',
          observedGeneration: generation,
        },
        cluster.now(),
      ) as NonNullable<IPodDisruptionBudgetStatus['conditions']>;
      const status: IPodDisruptionBudgetStatus = {
        observedGeneration: generation,
        disruptionsAllowed: allowed,
        currentHealthy: healthy,
        desiredHealthy: desired,
        expectedPods: expected,
        conditions,
      };
      if (!deepEqual(status, budget.status)) cluster.updateStatus(PodDisruptionBudget, key, status);
    },
  };
}

function guards({ spec, metadata }: Stored<PodDisruptionBudget>, pod: Stored<Pod>): boolean {
  return metadata.namespace === pod.metadata.namespace && selectorMatches(spec.selector, pod.metadata.labels ?? {});
}

function demand(
  { spec }: Stored<PodDisruptionBudget>,
  pods: readonly Stored<Pod>[],
  cluster: Cluster,
): { expected: number; desired: number } {
  const { minAvailable, maxUnavailable } = spec;
  if (maxUnavailable !== undefined) {
    const expected = scaleOf(pods, cluster);
    return { expected, desired: Math.max(0, expected - resolveIntOrPercent(maxUnavailable, expected, 'up')) };
  }
  if (typeof minAvailable === 'number') return { expected: pods.length, desired: minAvailable };
  const expected = scaleOf(pods, cluster);
  return { expected, desired: resolveIntOrPercent(minAvailable, expected, 'up') };
}

/** How many pods their controllers want together; a ReplicaSet's Deployment speaks for it. */
function scaleOf(pods: readonly Stored<Pod>[], cluster: Cluster): number {
  const wanted = new Map<string, number>();
  for (const pod of pods) {
    let owner = find(pod, cluster);
    if (owner?.kind === 'ReplicaSet') owner = find(owner, cluster) ?? owner;
    const spec = owner?.['spec'] as { replicas?: number } | undefined;
    if (owner) wanted.set(owner.metadata.uid, spec?.replicas ?? 1);
  }
  return [...wanted.values()].reduce((sum, count) => sum + count, 0);
}

function find(object: Stored, cluster: Cluster): Stored | undefined {
  const reference = controllerOf(object);
  const kind = reference && cluster.kindOf(reference.apiVersion, reference.kind);
  return kind && cluster.get(kind, `${object.metadata.namespace}/${reference.name}`);
}
