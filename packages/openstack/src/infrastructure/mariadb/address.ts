import type { StoredObject } from '@openstack-operator/kube';
import { type DatabaseAddress, fromSecret, hostOf, literal } from '../../engine/vocabulary/addresses.ts';
import { certificateSuffix, issuerOf } from '../../engine/vocabulary/certificate.ts';
import type { DatabaseRef } from './reference.ts';

type External = NonNullable<DatabaseRef['external']>;

/** Address of a MariaDB resource. */
export function databaseAddress(mariadb: StoredObject): DatabaseAddress {
  const { rootSecretName, tls } = (mariadb['spec'] ?? {}) as { rootSecretName?: string; tls?: { enabled?: boolean } };
  const secret = rootSecretName ?? `${mariadb.metadata.name}-root-password`;
  return {
    host: hostOf(mariadb),
    port: 3306,
    adminUser: literal('root'),
    adminPassword: fromSecret(secret, 'password'),
    ...(tls?.enabled === true
      ? { trust: { secret: `${mariadb.metadata.name}-${certificateSuffix(issuerOf(mariadb))}` } }
      : {}),
  };
}

/** Address of a database server that this operator does not run. */
export function externalDatabase({ host, port = 3306, secretName, caSecretName }: External): DatabaseAddress {
  return {
    host,
    port,
    adminUser: fromSecret(secretName, 'username'),
    adminPassword: fromSecret(secretName, 'password'),
    ...(caSecretName === undefined ? {} : { trust: { secret: caSecretName } }),
  };
}
