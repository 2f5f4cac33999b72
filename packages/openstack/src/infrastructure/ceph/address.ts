import { hash } from 'node:crypto';
import type { KubeObject } from '@openstack-operator/kube';
import type { ConfigFiles } from '../../engine/vocabulary/config-files.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { secretReference } from '../../oslo/references.ts';
import type { CephStorageSpec, CephUser } from './kind.ts';

/** A Ceph cluster, as its clients know it. */
export interface Ceph {
  /** ceph.conf, with references to Secrets. */
  readonly conf: string;
  /** Addresses of the monitors; undefined where a ceph.conf of the user's says them. */
  readonly monitors: string | undefined;
  /** Name of a user, without `client.`. */
  readonly user: (one: CephUser) => string;
  /** Secret and key of its keyring. */
  readonly keyring: (one: CephUser) => { readonly secret: string; readonly key: string };
  /** Reference to its bare key. */
  readonly key: (one: CephUser) => string;
  /** By what libvirt finds the key of a user: volumes that are attached name it, so that it never changes. */
  readonly secretUuid: (one: CephUser) => string;
}

/**
 * Where Rook writes the addresses of the monitors, of both messengers, for its own daemons: those that are in the quorum
 * (pkg/operator/ceph/config/store.go). Of the same in the ConfigMap rook-ceph-mon-endpoints, a client could not be told as it stands.
 */
export const monitorsOfRook = { secret: 'rook-ceph-config', key: 'mon_host' };

/** The Secret in which Rook keeps the key of a CephClient, under its name (pkg/operator/ceph/client/controller.go). */
export const keyOfRook = (user: string) => `rook-ceph-client-${user}`;

/** Where programs find it. */
export const cephConf = '/etc/ceph/ceph.conf';

/** What follows the resource's name in that of the Secret with keys that the operator makes, where nobody brings any. */
export const keysSuffix = 'cephx-keys';

/** The same of the Secret with the key of object gateways: the other one is never completed, and may be older. */
export const gatewayKeySuffix = `${keysSuffix}-swift`;

/** The key of a Secret under which the keyring of a user stands, as Ceph names its file. */
export const keyringFile = (user: string) => `ceph.client.${user}.keyring`;

const defaultUsers: Readonly<Record<CephUser, string>> = {
  cinder: 'cinder',
  cinderBackup: 'cinder-backup',
  glance: 'glance',
  manila: 'manila',
  nova: 'nova',
  swift: 'swift',
};

/** All that services log in as. */
export const cephUsers = Object.keys(defaultUsers) as readonly CephUser[];

/** The name of a user in Ceph. */
const userNamed =
  (users: CephStorageSpec['users']) =>
  (one: CephUser): string =>
    users?.[one] ?? defaultUsers[one];

/** Whether object gateways have a user, and so a key, of their own: who has one name has one key. */
export function hasOwnGatewayUser(users: CephStorageSpec['users']): boolean {
  const user = userNamed(users);
  return cephUsers.every((one) => one === 'swift' || user(one) !== user('swift'));
}

/** What clients have of a CephStorage. */
export function cephAddress(resource: KubeObject): Ceph {
  return addressWith(resource, foundOf(resource).monitorHosts);
}

/** The same with the monitors that its spec says, whether they have answered or not: for who asks them first. */
export function statedAddress(resource: KubeObject): Ceph {
  return addressWith(resource, undefined);
}

/** What the check of pools has found: the cluster that answered, and the monitors at which it did last. */
export interface CephFound {
  readonly fsid?: string;
  readonly monitorHosts?: string;
}

/** What the status of a CephStorage remembers of it. */
export function foundOf({ status }: KubeObject): CephFound {
  return ((status ?? {}) as { readonly found?: CephFound }).found ?? {};
}

function addressWith({ metadata, spec }: KubeObject, answered: string | undefined): Ceph {
  const { mode, external, users } = (spec ?? {}) as Partial<CephStorageSpec>;
  const user = userNamed(users);
  const isApart = hasOwnGatewayUser(users);
  const keyringOfUser = (one: CephUser) => keyring(user(one), one === 'swift' && isApart);
  const { keyring, ...monitors } =
    mode === 'rook' ? atRook(answered) : atMonitors(external ?? { monitorHosts: '' }, answered, metadata.name ?? '');
  return {
    ...monitors,
    user,
    keyring: keyringOfUser,
    key(one) {
      const { secret, key } = keyringOfUser(one);
      return secretReference(secret, key, 'cephkey');
    },
    secretUuid: (one) => nameUuid(`${metadata.namespace}/${metadata.name}/client.${user(one)}`),
  };
}

/** What the source of a cluster's address says: keyrings by the name of the user, and whether it is that of gateways alone. */
type Source = Pick<Ceph, 'conf' | 'monitors'> & {
  readonly keyring: (user: string, isGateway: boolean) => ReturnType<Ceph['keyring']>;
};

/** `name`: that of the resource. */
function atMonitors(
  external: NonNullable<CephStorageSpec['external']>,
  answered: string | undefined,
  name: string,
): Source {
  const made = `${name}-${keysSuffix}`;
  const { keyringSecretName: stated = made, cephConfSecretName, monitorHosts } = external;
  const monitors = answered ?? monitorHosts;
  const keyring = (user: string, isGateway: boolean) => ({
    secret: stated === made && isGateway ? `${name}-${gatewayKeySuffix}` : stated,
    key: keyringFile(user),
  });
  return cephConfSecretName === undefined
    ? { monitors, conf: confOf(monitors), keyring }
    : { monitors: undefined, conf: secretReference(cephConfSecretName, 'ceph.conf'), keyring };
}

/** The monitors that Rook names, until they have answered: then it is these, as with those that a spec names. */
function atRook(answered: string | undefined): Source {
  const stated = secretReference(monitorsOfRook.secret, monitorsOfRook.key);
  const keyring = (user: string) => ({ secret: keyOfRook(user), key: user });
  return { monitors: answered, conf: confOf(answered ?? stated), keyring };
}

function confOf(monitors: string): string {
  return `[global]\nmon_host = ${monitors}\n`;
}

/** The cluster that a service refers to; undefined when it refers to none. */
export function cephOf(context: Context): Ceph | undefined {
  const { cephStorageRef } = context.spec as { readonly cephStorageRef?: unknown };
  return cephStorageRef === undefined ? undefined : (context.address('cephStorageRef') as Ceph);
}

/** What is wrong with a field that puts something into Ceph, where no cluster is named. */
export function clusterProblems({ spec }: Context, field: string): string[] {
  return (spec as { readonly cephStorageRef?: unknown }).cephStorageRef === undefined
    ? [`${field}: ceph needs a cluster; set spec.cephStorageRef, or spec.cephStorage of the control plane`]
    : [];
}

/**
 * What a client of the cluster reads. os-brick looks for a user's keyring under just this name, and knows no other place.
 */
export function cephFiles(ceph: Ceph, ...users: readonly CephUser[]): ConfigFiles {
  const keyrings = users.map((one) => keyringOf(ceph.user(one), ceph.key(one)));
  return Object.assign({ [cephConf]: ceph.conf }, ...keyrings) as ConfigFiles;
}

/** The keyring of a user where programs look for it. */
export function keyringOf(user: string, key: string): ConfigFiles {
  return { [`/etc/ceph/${keyringFile(user)}`]: `[client.${user}]\n\tkey = ${key}\n` };
}

/** The same, of the cluster that a service refers to; none where it refers to none. */
export function cephClientFiles(context: Context, ...users: readonly CephUser[]): ConfigFiles {
  const ceph = cephOf(context);
  return ceph === undefined ? {} : cephFiles(ceph, ...users);
}

/** A UUID that follows from a name (RFC 9562, version 8: made as its author likes). */
function nameUuid(name: string): string {
  const digits = hash('sha256', name);
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `a${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join('-');
}
