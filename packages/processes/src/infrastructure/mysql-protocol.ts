import type { Connection, Network } from '@openstack-operator/sandbox';
import type { Verification } from '../certificates.ts';
import { startTls, type TlsRequest } from '../tls.ts';
import { ask } from './wire.ts';

/** A row of a table as the models keep it: columns by name. */
export type Row = Record<string, unknown>;

/** One database: tables by name, rows by primary key. */
export interface Schema {
  readonly name: string;
  characterSet: string;
  collation: string;
  readonly tables: Map<string, Map<string, Row>>;
}

/** What a client sends over protocol `mysql`. The first message is a `connect`, or `tls` before that. */
export type MysqlRequest =
  | TlsRequest
  | { readonly type: 'connect'; readonly user: string; readonly password?: string; readonly database?: string }
  | { readonly type: 'query'; readonly sql: string }
  | {
      /**
       * A transaction in the connection's database: what a real program says in SQL, a model says as a function. It
       * needs `privilege` on the database, and the tables must be there.
       */
      readonly type: 'transaction';
      readonly privilege: 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE' | 'CREATE' | 'ALTER';
      readonly run: (schema: Schema) => unknown;
    };

/** What a query gives. */
export interface ResultSet {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** An error with MariaDB's number, SQLSTATE and words. */
export class MysqlError extends Error {
  override readonly name = 'MysqlError';
  readonly code: number;
  readonly state: string;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
    this.state = states[code] ?? 'HY000';
  }
}

/** SQLSTATE of the errors that have one of their own (sql/share/errmsg-utf8.txt). */
const states: Readonly<Record<number, string>> = {
  1043: '08S01',
  1044: '42000',
  1045: '28000',
  1046: '3D000',
  1049: '42000',
  1054: '42S22',
  1064: '42000',
  1115: '42000',
  1133: '28000',
  1141: '42000',
  1142: '42000',
  1146: '42S02',
  1227: '42000',
  1253: '42000',
};

/** A table of a schema. @throws MysqlError 1146 when no migration made it */
export function tableOf(schema: Schema, name: string): Map<string, Row> {
  const table = schema.tables.get(name);
  if (table === undefined) throw new MysqlError(1146, `Table '${schema.name}.${name}' doesn't exist`);
  return table;
}

/** Whether a row has these columns. */
export function hasColumns(row: Row, columns: Row = {}): boolean {
  return Object.entries(columns).every(([name, value]) => row[name] === value);
}

/** Rows of a table that have these columns. @throws MysqlError 1146 */
export function rowsOf(schema: Schema, table: string, columns?: Row): Row[] {
  return [...tableOf(schema, table).values()].filter((row) => hasColumns(row, columns));
}

/** A logged-in connection. */
export interface MysqlConnection {
  readonly closed: AbortSignal;
  /** The result set, of a statement that has one. */
  query(sql: string): Promise<ResultSet | undefined>;
  transaction<T>(
    privilege: (MysqlRequest & { type: 'transaction' })['privilege'],
    run: (schema: Schema) => T,
  ): Promise<T>;
  close(): void;
}

/** How to log in; `socket` instead of host and port. */
export interface MysqlLogin {
  readonly host?: string;
  readonly port?: number;
  readonly socket?: string;
  readonly user: string;
  readonly password?: string;
  readonly database?: string;
  /** Connects by TLS to whom these authorities have signed the certificate, as PEM, at this time. */
  readonly trust?: Pick<Verification, 'trusted' | 'now'>;
}

/**
 * Connects and logs in.
 * @throws SystemError when the server cannot be reached, UntrustedServerError, MysqlError when it refuses
 */
export async function connectMysql(network: Network, login: MysqlLogin): Promise<MysqlConnection> {
  const connection: Connection = login.socket
    ? await network.connectUnix(login.socket, 'mysql')
    : await network.connect(login.host ?? 'localhost', login.port ?? 3306, 'mysql');
  const send = <T>(request: MysqlRequest): Promise<T> => ask<T>(connection, request);
  const { trust, ...account } = login;
  try {
    if (trust !== undefined) await startTls(connection, { ...trust, host: login.host ?? 'localhost' });
    await send({ type: 'connect', ...account });
  } catch (error) {
    connection.close();
    throw error;
  }
  return {
    closed: connection.closed,
    query: (sql) => send({ type: 'query', sql }),
    transaction: (privilege, run) => send({ type: 'transaction', privilege, run }),
    close: () => connection.close(),
  };
}
