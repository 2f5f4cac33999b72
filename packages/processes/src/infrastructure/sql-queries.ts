import { type Account, accountKey, isGranted, isLike, mayUse, newSchema } from './mariadb-catalog.ts';
import { MysqlError, type ResultSet } from './mysql-protocol.ts';
import { demandDatabase, grantMissing, tableDenied } from './sql-errors.ts';
import type { SqlReader } from './sql-parser.ts';
import type { SqlSession } from './sql-session.ts';

function visibleDatabases(session: SqlSession): string[] {
  const all = [...session.catalog.databases.keys()].sort();
  return isGranted(session.account, 'SHOW DATABASES', '*') ? all : all.filter((name) => mayUse(session.account, name));
}

/** `SHOW ...`, behind the keyword. */
export function show(session: SqlSession, reader: SqlReader): ResultSet {
  if (reader.accept('DATABASES') || reader.accept('SCHEMAS')) {
    const pattern = reader.accept('LIKE') ? reader.text() : undefined;
    reader.end();
    const rows = visibleDatabases(session).filter((name) => pattern === undefined || isLike(pattern, name));
    return {
      columns: [pattern === undefined ? 'Database' : `Database (${pattern})`],
      rows: rows.map((name) => [name]),
    };
  }
  if (reader.accept('GRANTS')) return showGrants(session, reader);
  if (reader.accept('TABLES')) {
    reader.end();
    const database = demandDatabase(session.database);
    const tables = [...(session.catalog.databases.get(database)?.tables.keys() ?? [])].sort();
    return { columns: [`Tables_in_${database}`], rows: tables.map((name) => [name]) };
  }
  if (!reader.accept('GLOBAL')) reader.accept('SESSION');
  const status = reader.accept('STATUS');
  if (!status) reader.expect('VARIABLES');
  const pattern = reader.accept('LIKE') ? reader.text() : '%';
  reader.end();
  const values = status ? session.status() : session.variables;
  const rows = Object.entries(values).filter(([name]) => isLike(pattern, name));
  return { columns: ['Variable_name', 'Value'], rows };
}

function showGrants(session: SqlSession, reader: SqlReader): ResultSet {
  const named = reader.accept('FOR') ? reader.account() : { user: '', host: 'CURRENT_USER' };
  reader.end();
  const { user, host } = named.host === 'CURRENT_USER' ? session.account : named;
  const account = session.catalog.accounts.get(accountKey(user, host));
  if (account === undefined) throw grantMissing({ user, host });
  const global = account.grants.get('*');
  const lines = [
    `GRANT ${privilegeList(global)} ON *.* TO \`${user}\`@\`${host}\`${identified(account)}${option(global)}`,
  ];
  for (const [database, held] of account.grants) {
    if (database !== '*')
      lines.push(`GRANT ${privilegeList(held)} ON \`${database}\`.* TO \`${user}\`@\`${host}\`${option(held)}`);
  }
  return { columns: [`Grants for ${user}@${host}`], rows: lines.map((line) => [line]) };
}

function privilegeList(held: ReadonlySet<string> | undefined): string {
  const names = [...(held ?? [])].filter((name) => name !== 'GRANT OPTION');
  return names.length === 0 ? 'USAGE' : names.includes('ALL PRIVILEGES') ? 'ALL PRIVILEGES' : names.join(', ');
}

const option = (held: ReadonlySet<string> | undefined): string =>
  held?.has('GRANT OPTION') ? ' WITH GRANT OPTION' : '';

function identified(account: Account): string {
  if (account.socketUid !== undefined) return ' IDENTIFIED VIA unix_socket';
  if (account.hash === undefined || account.hash === '') return '';
  if (account.otherHash === undefined) return ` IDENTIFIED BY PASSWORD '${account.hash}'`;
  const either = [account.hash, account.otherHash].map((hash) => `mysql_native_password USING '${hash}'`);
  return ` IDENTIFIED VIA ${either.join(' OR ')}`;
}

/** `SELECT ...`, behind the keyword: constants, variables and the lists of users and databases. */
export function select(session: SqlSession, reader: SqlReader): ResultSet {
  const expressions = reader.list(() => expression(session, reader));
  if (!reader.accept('FROM')) {
    reader.end();
    const rows = [expressions.map(({ column, value }) => value ?? fieldError(column))];
    return { columns: expressions.map(({ column }) => column), rows };
  }
  const schema = reader.name();
  reader.expect('.');
  const table = reader.name();
  const rows = tableRows(session, schema, table).filter(condition(reader));
  reader.end();
  if (expressions.length === 1 && expressions[0]?.column.toUpperCase() === 'COUNT(*)') {
    return { columns: ['COUNT(*)'], rows: [[String(rows.length)]] };
  }
  const columns = expressions.flatMap(({ column }) => (column === '*' ? Object.keys(rows[0] ?? {}) : [column]));
  const constants = new Map(expressions.map(({ column, value }) => [column, value]));
  return {
    columns,
    rows: rows.map((row) =>
      columns.map((column) => row[column.toLowerCase()] ?? constants.get(column) ?? fieldError(column)),
    ),
  };
}

function fieldError(column: string): never {
  throw new MysqlError(1054, `Unknown column '${column}' in 'SELECT'`);
}

interface Expression {
  readonly column: string;
  readonly value?: string;
}

function expression(session: SqlSession, reader: SqlReader): Expression {
  if (reader.accept('*')) return { column: '*' };
  const { next } = reader;
  if (next?.kind === 'number' || next?.kind === 'text') {
    const value = next.kind === 'number' ? reader.number() : reader.text();
    return { column: value, value };
  }
  if (reader.accept('@@')) {
    const parts = [reader.name()];
    while (reader.accept('.')) parts.push(reader.name());
    const name = parts.at(-1) as string;
    const value = session.variables[name.toLowerCase()];
    if (value === undefined) throw new MysqlError(1193, `Unknown system variable '${name}'`);
    return { column: `@@${parts.join('.')}`, value };
  }
  const name = reader.name();
  if (!reader.accept('(')) return { column: name };
  const { account, clientHost, database } = session;
  const values: Record<string, string> = {
    VERSION: session.variables['version'] ?? '',
    CURRENT_USER: `${account.user}@${account.host}`,
    USER: `${account.user}@${clientHost}`,
    DATABASE: database ?? 'NULL',
  };
  if (name.toUpperCase() === 'COUNT') {
    reader.expect('*', ')');
    return { column: `${name}(*)` };
  }
  reader.expect(')');
  return { column: `${name}()`, value: values[name.toUpperCase()] ?? reader.fail() };
}

function tableRows(session: SqlSession, schema: string, table: string): Record<string, string>[] {
  const name = `${schema}.${table}`.toLowerCase();
  if (name === 'information_schema.schemata') {
    return visibleDatabases(session).map((database) => {
      const { characterSet, collation } = session.catalog.databases.get(database) ?? newSchema(database, 'utf8mb3');
      return { schema_name: database, default_character_set_name: characterSet, default_collation_name: collation };
    });
  }
  if (name === 'information_schema.tables') {
    return visibleDatabases(session).flatMap((database) =>
      [...(session.catalog.databases.get(database)?.tables ?? [])].map(([tableName, rows]) => ({
        table_schema: database,
        table_name: tableName,
        table_rows: String(rows.size),
      })),
    );
  }
  if (name !== 'mysql.user' && name !== 'mysql.db')
    throw new MysqlError(1146, `Table '${schema}.${table}' doesn't exist`);
  const { account, clientHost } = session;
  if (!isGranted(account, 'SELECT', 'mysql'))
    throw tableDenied('SELECT', account.user, clientHost, `\`mysql\`.\`${table}\``);
  const accounts = [...session.catalog.accounts.values()];
  if (name === 'mysql.user') return accounts.map(({ user, host }) => ({ user, host }));
  return accounts.flatMap(({ user, host, grants }) =>
    [...grants.keys()].filter((db) => db !== '*').map((db) => ({ user, host, db })),
  );
}

/** `WHERE column = 'value' AND ...`, or nothing. */
function condition(reader: SqlReader): (row: Record<string, string>) => boolean {
  if (!reader.accept('WHERE')) return () => true;
  const tests: ((row: Record<string, string>) => boolean)[] = [];
  do {
    const column = reader.name().toLowerCase();
    const negated = reader.accept('!', '=') || reader.accept('<', '>');
    const similar = !negated && reader.accept('LIKE');
    if (!negated && !similar) reader.expect('=');
    const value = reader.text();
    tests.push((row) => (similar ? isLike(value, row[column] ?? '') : (row[column] === value) !== negated));
  } while (reader.accept('AND'));
  return (row) => tests.every((test) => test(row));
}
