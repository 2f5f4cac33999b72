import type { Condition, KubeObject } from '@openstack-operator/kube';

/** A condition of an object's status. */
export function conditionOf(object: KubeObject, type: string): Condition | undefined {
  return ((object['status'] ?? {}) as { conditions?: Condition[] }).conditions?.find(
    (condition) => condition.type === type,
  );
}

/** Whether a condition is about an earlier generation of its object. */
export function isStale(condition: Condition, object: KubeObject): boolean {
  return condition.observedGeneration !== undefined && condition.observedGeneration < (object.metadata.generation ?? 0);
}
