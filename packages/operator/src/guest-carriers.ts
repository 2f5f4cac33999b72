import { apiVersionOf, type KubeObject } from '@openstack-operator/kube';
import { Neutron, Nova, OpenStackControlPlane, OVNNetwork } from '@openstack-operator/openstack';

/** Finalizer of what carries guests: it stays until no server is left, or somebody says that they do not matter. */
export const serversFinalizer = 'openstack.k8s.io/protect-servers';

/** Kinds whose end takes network or management from guests. */
const carriers: ReadonlySet<string> = new Set(
  [OpenStackControlPlane, OVNNetwork, Neutron, Nova].map(({ kind }) => kind),
);

/** Whether the end of a resource takes something from guests that run. */
export function carriesGuests({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): boolean {
  return apiVersion === apiVersionOf(Nova) && carriers.has(kind);
}
