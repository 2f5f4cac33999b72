import { type Process, SystemError } from '@openstack-operator/sandbox';
import {
  connectMysql,
  type MysqlConnection,
  MysqlError,
  type MysqlRequest,
  type Schema,
} from '../../infrastructure/mysql-protocol.ts';
import type { ProjectDatabase } from '../../oslo/project-database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import { parseDatabaseUrl } from '../../oslo/urls.ts';
import type { Settings } from './skyline-settings.ts';

/** What its only migration makes. */
export const skylineDatabase: ProjectDatabase = { heads: ['000'], tables: 'revoked_token settings' };

type Privilege = (MysqlRequest & { type: 'transaction' })['privilege'];

/** The database without oslo.db: a connection that is made at the start, and again when it was lost (aiomysql's pool). */
export class SkylineDatabase {
  readonly #process: Process;
  readonly #url: string;
  #connection: MysqlConnection | undefined;

  /** @throws PythonError for another server than MySQL */
  constructor(process: Process, { default: { database_url: url } }: Settings) {
    if (!url.startsWith('mysql://')) throw new PythonError('ValueError', 'Unsupported database backend');
    this.#process = process;
    this.#url = url.replace('mysql:', 'mysql+pymysql:');
  }

  /** @throws PythonError */
  async connect(): Promise<MysqlConnection> {
    if (this.#connection !== undefined && !this.#connection.closed.aborted) return this.#connection;
    const { host, port = 3306, user = 'root', password, database } = parseDatabaseUrl(this.#url);
    const login = { host, port, user, ...(password && { password }), ...(database && { database }) };
    this.#connection = await worded(host, () => connectMysql(this.#process.network, login));
    return this.#connection;
  }

  /** @throws PythonError */
  async transaction<T>(privilege: Privilege, run: (schema: Schema) => T): Promise<T> {
    const connection = await this.connect();
    return worded(parseDatabaseUrl(this.#url).host, () => connection.transaction(privilege, run));
  }
}

/** Errors in PyMySQL's words. @throws PythonError */
async function worded<T>(host: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof SystemError)
      throw new PythonError('pymysql.err.OperationalError', `(2003, "Can't connect to MySQL server on '${host}'")`);
    if (!(error instanceof MysqlError)) throw error;
    const type = error.code === 1146 ? 'ProgrammingError' : 'OperationalError';
    throw new PythonError(`pymysql.err.${type}`, `(${error.code}, ${JSON.stringify(error.message)})`);
  }
}
