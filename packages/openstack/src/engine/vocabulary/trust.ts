import { authority, type DatabaseAddress, type Trust } from './addresses.ts';
import type { Mount } from './component.ts';
import type { Context } from './context.ts';
import { fieldFor } from './dependencies.ts';
import type { Service } from './service.ts';

/** The key of a Secret that has the certificate of an authority, as cert-manager calls it. */
const key = 'ca.crt';

const folder = '/etc/openstack/trust/database';

/** File with the certificate of whom the clients of the database trust. */
export const trustedByDatabase = `${folder}/${key}`;

/** What follows the account in the SQLAlchemy URL of a database: where it is, and how it is connected to. */
export function databaseAt(
  { host, port, trust }: Pick<DatabaseAddress, 'host' | 'port'> & { readonly trust?: Trust | undefined },
  name: string,
): string {
  // utf8 is what ran (tables are utf8mb3); utf8mb4 would need every table converted.
  const tls = trust === undefined ? '' : `&ssl_ca=${trustedByDatabase}`;
  return `${authority(host, port)}/${name}?charset=utf8${tls}`;
}

/**
 * What pods mount so that they trust the servers that their configuration speaks of: a directory follows changes, and
 * PyMySQL reads the file at each connection.
 * @param configuration texts of its files and variables
 */
export function trustMounts(configuration: string, service: Service, context: Context): readonly Mount[] {
  // Users may name the file where there is no database.
  if (!configuration.includes(trustedByDatabase) || fieldFor(service, 'database') === undefined) return [];
  const { trust } = context.database;
  return trust === undefined ? [] : [{ path: folder, secret: trust.secret, keys: [key], follows: true }];
}
