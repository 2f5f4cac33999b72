import type { StoredObject } from '@openstack-operator/kube';
import { hostOf, type Trust } from '../../engine/vocabulary/addresses.ts';
import { clientCertificate, issuerOf } from '../../engine/vocabulary/certificate.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { Surroundings } from '../../engine/vocabulary/surroundings.ts';
import { shownTo, trustedBy } from '../../engine/vocabulary/trust.ts';
import { type Database, databases, isByTls, remoteAt } from './databases.ts';
import type { OVNRef } from './reference.ts';

/** The two databases of an OVN, as ovsdb addresses. */
export interface OvnAddress {
  readonly northbound: string;
  readonly southbound: string;
  /** Clients connect by TLS, and show a certificate; absent: in the clear. */
  readonly trust?: Trust;
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
  const { suffix, keys } = clientCertificate(issuerOf(ovn));
  const remotes = (database: Database): string => {
    const suffix = `-${database.side}-db`;
    const known = Array.from({ length: mostMembers }, (_, index) =>
      memberRemote(ovn, { address, member: `${ovn.metadata.name}${suffix}-${index}`, database }),
    ).filter((remote) => remote !== undefined);
    return known.length > 0 ? known.join(',') : remoteAt(ovn, database, `${hostOf(ovn, suffix)}.${clusterDomain}`);
  };
  return {
    northbound: remotes(databases.northbound),
    southbound: remotes(databases.southbound),
    ...(isByTls(ovn) ? { trust: { secret: `${ovn.metadata.name}-${suffix}`, client: keys } } : {}),
  };
}

type External = NonNullable<OVNRef['external']>;

/** Address of databases that this operator does not run. */
export function externalOvn({ northbound, southbound, certificateSecretName: secret }: External): OvnAddress {
  const client = { certificate: 'tls.crt', key: 'tls.key' };
  return { northbound, southbound, ...(secret === undefined ? {} : { trust: { secret, client } }) };
}

/** Where a member of a database answers: at the address of its Service. Undefined as long as that has none. */
export function memberRemote(
  ovn: Pick<StoredObject, 'metadata'>,
  {
    address,
    member,
    database,
  }: Pick<Surroundings, 'address'> & {
    readonly member: string;
    readonly database: Database;
  },
): string | undefined {
  // What is asked is kept: of metadata no more than says whose Service it is.
  const { name, namespace = '', uid } = ovn.metadata;
  const found = address({ metadata: { name, namespace, uid, resourceVersion: '' } }, member);
  return found === undefined ? undefined : remoteAt(ovn, database, found);
}

/** The databases of the OVN that a service refers to. */
export function ovnOf(context: Context): OvnAddress {
  return context.address('ovnRef') as OvnAddress;
}

/** Options of section `[ovn]` with the certificates for connections to these databases; none where they are in the clear. */
export function certificateOptions(
  { trust }: OvnAddress,
  ...sides: readonly Database['side'][]
): Readonly<Record<string, string>> {
  const shown = trust && shownTo('virtualNetwork', trust);
  if (shown === undefined) return {};
  return Object.fromEntries(
    sides.flatMap((side) => [
      [`ovn_${side}_ca_cert`, trustedBy('virtualNetwork')],
      [`ovn_${side}_certificate`, shown.certificate],
      [`ovn_${side}_private_key`, shown.key],
    ]),
  );
}
