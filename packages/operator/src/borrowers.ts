import type { StoredObject } from '@openstack-operator/kube';
import { kindReferredBy, type Service, services } from '@openstack-operator/openstack';

/** The services whose hosts, outside of the cluster, log in as users of a kind. */
export function borrowersOf(kind: string): readonly Service[] {
  return services.filter(({ borrows }) => borrows !== undefined && kindReferredBy(borrows).kind === kind);
}

/** Name of the resource whose user it borrows; undefined when that is the only one in the namespace. */
export function borrowedName({ borrows }: Service, resource: StoredObject): string | undefined {
  const spec = (resource['spec'] ?? {}) as Readonly<Record<string, { readonly name?: string } | undefined>>;
  return borrows === undefined ? undefined : spec[borrows]?.name;
}
