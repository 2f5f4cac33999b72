import type { StoredObject } from '@openstack-operator/kube';

/** What a pod's status says of a container. */
export interface ContainerStatus {
  readonly state?: { readonly running?: unknown; readonly terminated?: { readonly message?: string } };
  readonly lastState?: { readonly terminated?: unknown };
}

/** What a pod's status says of its containers, the init containers left out. */
export function containersOf(pod: StoredObject): readonly ContainerStatus[] {
  return ((pod['status'] ?? {}) as { containerStatuses?: readonly ContainerStatus[] }).containerStatuses ?? [];
}

/** Whether a container of a pod runs or has run. */
export function hasRun(pod: StoredObject): boolean {
  return containersOf(pod).some(({ state, lastState }) => state?.running ?? state?.terminated ?? lastState?.terminated);
}
