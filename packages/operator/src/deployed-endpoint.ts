import type { StoredObject } from '@openstack-operator/kube';
import type { ReleaseStatus } from '@openstack-operator/openstack';

/** The API of a resource inside the cluster, as its status has it, once its programs ran. */
export function deployedEndpoint({ status }: StoredObject): string | undefined {
  const { apiEndpoint, release } = (status ?? {}) as { apiEndpoint?: string; release?: ReleaseStatus };
  return release?.deployed === undefined ? undefined : apiEndpoint;
}
