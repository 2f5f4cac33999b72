import type { Condition, KubeObject } from '@openstack-operator/kube';

/** A condition of an object's status. */
export function conditionOf(object: KubeObject, type: string): Condition | undefined {
  return ((object['status'] ?? {}) as { conditions?: Condition[] }).conditions?.find(
    (condition) => condition.type === type,
  );
}
