import type { Account } from './mariadb-catalog.ts';
import { MysqlError } from './mysql-protocol.ts';

type Name = Pick<Account, 'user' | 'host'>;

/** An account may not do that with a database. */
export function databaseDenied({ user, host }: Name, database: string): MysqlError {
  return new MysqlError(1044, `Access denied for user '${user}'@'${host}' to database '${database}'`);
}

/** An account, as a connection shows it, may not do that with a table. */
export function tableDenied(privilege: string, user: string, clientHost: string, table: string): MysqlError {
  return new MysqlError(1142, `${privilege} command denied to user '${user}'@'${clientHost}' for table ${table}`);
}

/** A global privilege is wanting. */
export function privilegeMissing(privilege: string): MysqlError {
  return new MysqlError(
    1227,
    `Access denied; you need (at least one of) the ${privilege} privilege(s) for this operation`,
  );
}

/** Nobody has granted that, or there is no such account. */
export function grantMissing({ user, host }: Name): MysqlError {
  return new MysqlError(1141, `There is no such grant defined for user '${user}' on host '${host}'`);
}

/** The database of a session. @throws MysqlError 1046 */
export function demandDatabase(database: string | undefined): string {
  if (database === undefined) throw new MysqlError(1046, 'No database selected');
  return database;
}
