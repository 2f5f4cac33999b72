import type { KubeObject, StoredObject } from '@openstack-operator/kube';
import { sameFields } from './same-fields.ts';

/**
 * Fields of the spec that the API server does not change: an object that has to differ there is deleted without its
 * children (orphaned) and created again, which takes the children up by their labels.
 */
const immutable: Readonly<Record<string, readonly string[]>> = {
  Deployment: ['selector'],
  DaemonSet: ['selector'],
  // An update to another strategy leaves the partition of the one before, with which it is refused.
  StatefulSet: ['selector', 'serviceName', 'podManagementPolicy', 'updateStrategy', 'volumeClaimTemplates'],
};

/** Whether `stated` differs from what is live in a field that cannot be changed. */
export function mustBeRecreated(stated: KubeObject, live: StoredObject): boolean {
  const wanted = (stated['spec'] ?? {}) as Record<string, unknown>;
  const current = (live['spec'] ?? {}) as Record<string, unknown>;
  return (immutable[stated.kind] ?? []).some((field) => !sameFields(wanted[field], current[field]));
}
