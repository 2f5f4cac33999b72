import { controllerOf, isControlledBy, type Ownership, type StoredObject } from '@openstack-operator/kube';
import { annotations, fieldManager, retainedFor, retainedForLabel } from '../engine/names/names.ts';

/**
 * Whose an object is: this resource's by its controller reference; by label where it outlives its resource; by the
 * user's word (`openstack.k8s.io/adopt: <Kind>.<name>` on an object that nobody controls).
 */
export function ownershipOf(owner: StoredObject, retained: boolean): Ownership {
  const mine = retainedFor(owner);
  const ours = (live: StoredObject): boolean => {
    const controller = controllerOf(live);
    if (controller !== undefined) return isControlledBy(live, owner);
    const { labels, annotations: notes } = live.metadata;
    if (notes?.[annotations.adopt] === mine) return true;
    return labels?.[retainedForLabel] === mine && labels['app.kubernetes.io/managed-by'] === fieldManager;
  };
  return retained ? { owned: false, ours } : { ours };
}
