import { type Account, isGranted, type MariadbCatalog, mayUse } from './mariadb-catalog.ts';
import { MysqlError, type ResultSet } from './mysql-protocol.ts';
import { alterUser, createUser, dropUser, grant, revoke } from './sql-accounts.ts';
import { createDatabase, dropDatabase } from './sql-databases.ts';
import { databaseDenied, privilegeMissing } from './sql-errors.ts';
import { SqlReader } from './sql-parser.ts';
import { select, show } from './sql-queries.ts';

/** One logged-in connection's view of a server. */
export interface SqlSession {
  readonly catalog: MariadbCatalog;
  readonly account: Account;
  /** As the server sees the client: a host name or an address. */
  readonly clientHost: string;
  /** Server variables such as `version`. */
  readonly variables: Readonly<Record<string, string>>;
  /** What `SHOW STATUS` tells. */
  readonly status: () => Readonly<Record<string, string>>;
  readonly defaultCharacterSet: string;
  /** The server reads its certificate anew; told why it cannot. */
  readonly reloadCertificate: () => string | undefined;
  database: string | undefined;
}

/**
 * Runs one statement: CREATE and DROP of databases and users, ALTER of users, GRANT, REVOKE, FLUSH, USE, SHOW,
 * and the SELECTs of administration. Everything else is error 1064.
 * @throws MysqlError
 */
export function runStatement(session: SqlSession, sql: string): ResultSet | undefined {
  const reader = new SqlReader(sql);
  if (reader.accept('CREATE')) {
    const replace = reader.accept('OR', 'REPLACE');
    if (reader.accept('DATABASE') || reader.accept('SCHEMA')) createDatabase(session, reader, replace);
    else if (reader.accept('USER')) createUser(session, reader, replace);
    else reader.fail();
  } else if (reader.accept('ALTER')) {
    reader.expect('USER');
    alterUser(session, reader);
  } else if (reader.accept('DROP')) {
    if (reader.accept('DATABASE') || reader.accept('SCHEMA')) dropDatabase(session, reader);
    else if (reader.accept('USER')) dropUser(session, reader);
    else reader.fail();
  } else if (reader.accept('GRANT')) grant(session, reader);
  else if (reader.accept('REVOKE')) revoke(session, reader);
  else if (reader.accept('SHOW')) return show(session, reader);
  else if (reader.accept('SELECT')) return select(session, reader);
  else if (reader.accept('USE')) use(session, reader);
  else if (reader.accept('FLUSH')) {
    if (!isGranted(session.account, 'RELOAD', '*')) throw privilegeMissing('RELOAD');
    reader.accept('LOCAL');
    if (reader.accept('SSL')) {
      const problem = session.reloadCertificate();
      if (problem !== undefined) throw new MysqlError(1105, `Failed to refresh SSL, error: ${problem}`);
    }
    reader.rest();
  } else if (withoutEffect.some((word) => reader.accept(word))) reader.rest();
  else reader.fail();
  return undefined;
}

const withoutEffect = ['SET', 'COMMIT', 'ROLLBACK', 'BEGIN', 'DO'];

function use(session: SqlSession, reader: SqlReader): void {
  const name = reader.name();
  reader.end();
  enterDatabase(session, name);
}

/** Makes a database the session's own. @throws MysqlError 1044 without any right on it, 1049 when it does not exist */
export function enterDatabase(session: SqlSession, name: string): void {
  const { account, catalog } = session;
  if (!mayUse(account, name)) throw databaseDenied(account, name);
  if (!catalog.databases.has(name)) throw new MysqlError(1049, `Unknown database '${name}'`);
  session.database = name;
}
