import type { StoredObject } from '@openstack-operator/kube';
import { authority, hostOf } from '../../engine/vocabulary/addresses.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { Surroundings } from '../../engine/vocabulary/surroundings.ts';

/** The two databases of an OVN, as ovsdb addresses. */
export interface OvnAddress {
  readonly northbound: string;
  readonly southbound: string;
}

/** So many members the kind allows at most. */
const mostMembers = 7;

/**
 * Addresses of an OVNNetwork resource for programs in Python (phase 1 plan, task 16): their OVSDB library resolves no
 * name unless python-unbound is installed beside it, which Kolla's images do not have. Each member of a database has a
 * Service, whose address outlives pods: all that have one are named, since members never become fewer, whatever is stated,
 * and those that are to come have none. Where there is none at all, nothing runs yet, and absolute names stand there.
 */
export function ovnAddress(
  ovn: StoredObject,
  { clusterDomain, address }: Pick<Surroundings, 'clusterDomain' | 'address'>,
): OvnAddress {
  const remotes = (database: string, port: number): string => {
    const known = Array.from({ length: mostMembers }, (_, index) =>
      memberRemote(ovn, { address, member: `${ovn.metadata.name}-${database}-${index}`, port }),
    ).filter((remote) => remote !== undefined);
    return known.length > 0 ? known.join(',') : `tcp:${hostOf(ovn, `-${database}`)}.${clusterDomain}:${port}`;
  };
  return { northbound: remotes('nb-db', 6641), southbound: remotes('sb-db', 6642) };
}

/** Where a member of a database answers: at the address of its Service. Undefined as long as that has none. */
export function memberRemote(
  ovn: Pick<StoredObject, 'metadata'>,
  { address, member, port }: Pick<Surroundings, 'address'> & { readonly member: string; readonly port: number },
): string | undefined {
  // What is asked is kept: of metadata no more than says whose Service it is.
  const { name, namespace = '', uid } = ovn.metadata;
  const found = address({ metadata: { name, namespace, uid, resourceVersion: '' } }, member);
  return found === undefined ? undefined : `tcp:${authority(found, port)}`;
}

/** The databases of the OVN that a service refers to. */
export function ovnOf(context: Context): OvnAddress {
  return context.address('ovnRef') as OvnAddress;
}
