import type { StoredObject } from '@openstack-operator/kube';
import { serviceHost } from '../engine/names.ts';
import type { Surroundings } from '../engine/surroundings.ts';
import { type Filter, secretReference } from '../oslo/references.ts';

/** A text that may hold references to Secrets, encoded for the place where it is put. */
export type Secretly = (...filters: readonly Filter[]) => string;

/** Where a database server is and who may do all there. */
export interface DatabaseAddress {
  readonly host: string;
  readonly port: number;
  readonly adminUser: Secretly;
  readonly adminPassword: Secretly;
}

/** Where a RabbitMQ is and who administers it. */
export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
  readonly managementUrl: string;
  readonly adminUser: Secretly;
  readonly adminPassword: Secretly;
}

/** Where a Keystone is and who may make users there. */
export interface IdentityAddress {
  readonly internalUrl: string;
  readonly publicUrl: string;
  readonly admin: {
    readonly user: Secretly;
    readonly password: Secretly;
    readonly project: Secretly;
    readonly userDomain: Secretly;
    readonly projectDomain: Secretly;
  };
}

/** The two databases of an OVN, as ovsdb addresses. */
export interface OvnAddress {
  readonly northbound: string;
  readonly southbound: string;
}

/** `spec.databaseRef.external`. */
export interface ExternalDatabase {
  readonly host: string;
  readonly port?: number;
  readonly secretName: string;
}

/** `spec.messageQueueRef.external`. */
export interface ExternalBroker extends ExternalDatabase {
  readonly managementPort?: number;
}

/** `spec.keystoneRef.external`. */
export interface ExternalIdentity {
  readonly authURL: string;
  readonly secretName: string;
}

const literal =
  (text: string): Secretly =>
  () =>
    text;
const from =
  (secret: string, key: string): Secretly =>
  (...filters) =>
    secretReference(secret, key, ...filters);

const at = (resource: StoredObject, suffix = ''): string =>
  serviceHost(`${resource.metadata.name}${suffix}`, resource.metadata.namespace ?? 'default');

/** Address of a MariaDB resource. */
export function databaseAddress(mariadb: StoredObject): DatabaseAddress {
  const { rootSecretName } = (mariadb['spec'] ?? {}) as { rootSecretName?: string };
  const secret = rootSecretName ?? `${mariadb.metadata.name}-root-password`;
  return { host: at(mariadb), port: 3306, adminUser: literal('root'), adminPassword: from(secret, 'password') };
}

/** Address of a database server that this operator does not run. */
export function externalDatabase({ host, port = 3306, secretName }: ExternalDatabase): DatabaseAddress {
  return { host, port, adminUser: from(secretName, 'username'), adminPassword: from(secretName, 'password') };
}

/** Address of a RabbitMQ resource. */
export function brokerAddress(rabbitmq: StoredObject): BrokerAddress {
  const { credentialsSecretName } = (rabbitmq['spec'] ?? {}) as { credentialsSecretName?: string };
  const secret = credentialsSecretName ?? `${rabbitmq.metadata.name}-credentials`;
  return {
    host: at(rabbitmq),
    port: 5672,
    managementUrl: `http://${at(rabbitmq)}:15672`,
    adminUser: from(secret, 'username'),
    adminPassword: from(secret, 'password'),
  };
}

/** Address of a broker that this operator does not run. */
export function externalBroker({
  host,
  port = 5672,
  managementPort = 15672,
  secretName,
}: ExternalBroker): BrokerAddress {
  return {
    host,
    port,
    managementUrl: `http://${host}:${managementPort}`,
    adminUser: from(secretName, 'username'),
    adminPassword: from(secretName, 'password'),
  };
}

/** Address of a Keystone that this operator does not run. */
export function externalIdentity({ authURL, secretName }: ExternalIdentity): IdentityAddress {
  return {
    internalUrl: authURL,
    publicUrl: authURL,
    admin: {
      user: from(secretName, 'username'),
      password: from(secretName, 'password'),
      project: from(secretName, 'projectName'),
      userDomain: from(secretName, 'userDomainName'),
      projectDomain: from(secretName, 'projectDomainName'),
    },
  };
}

/** Address of a Keystone resource; `publicUrl` depends on how it is exposed. */
export function identityAddress(keystone: StoredObject, publicUrl: (internalUrl: string) => string): IdentityAddress {
  const spec = (keystone['spec'] ?? {}) as {
    adminPasswordSecretName?: string;
    adminUser?: string;
    adminProject?: string;
  };
  const internalUrl = `http://${at(keystone, '-api')}:5000/v3`;
  return {
    internalUrl,
    publicUrl: publicUrl(internalUrl),
    admin: {
      user: literal(spec.adminUser ?? 'admin'),
      password: from(spec.adminPasswordSecretName ?? `${keystone.metadata.name}-admin-password`, 'password'),
      project: literal(spec.adminProject ?? 'admin'),
      userDomain: literal('Default'),
      projectDomain: literal('Default'),
    },
  };
}

/** `host:port` of a Memcached resource. */
export function cacheAddress(memcached: StoredObject): string {
  return `${at(memcached)}:11211`;
}

/**
 * Addresses of an OVNNetwork resource for programs in Python (phase 1 plan, task 16): their OVSDB library resolves no
 * name unless python-unbound is installed beside it, which Kolla's images do not have. Each member of a database has a
 * Service, whose address outlives pods. As long as a Service has none, where nothing runs yet, absolute names stand there.
 */
export function ovnAddress(
  ovn: StoredObject,
  { clusterDomain, address }: Pick<Surroundings, 'clusterDomain' | 'address'>,
): OvnAddress {
  const { northboundDBReplicas = 1, southboundDBReplicas = 1 } = (ovn['spec'] ?? {}) as Readonly<
    Record<string, number>
  >;
  // What is asked is kept: of metadata no more than says whose Service it is.
  const { name, namespace = '', uid } = ovn.metadata;
  const owner = { metadata: { name, namespace, uid, resourceVersion: '' } };
  const remotes = (database: string, members: number, port: number): string => {
    const known = Array.from({ length: members }, (_, index) =>
      address(owner, `${ovn.metadata.name}-${database}-${index}`),
    );
    return known.every((address) => address !== undefined)
      ? known.map((address) => `tcp:${address.includes(':') ? `[${address}]` : address}:${port}`).join(',')
      : `tcp:${at(ovn, `-${database}`)}.${clusterDomain}:${port}`;
  };
  return {
    northbound: remotes('nb-db', northboundDBReplicas, 6641),
    southbound: remotes('sb-db', southboundDBReplicas, 6642),
  };
}
