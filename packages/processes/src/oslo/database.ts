import { type Process, SystemError } from '@openstack-operator/sandbox';
import {
  connectMysql,
  type MysqlConnection,
  MysqlError,
  type MysqlRequest,
  type Schema,
} from '../infrastructure/mysql-protocol.ts';
import { pause } from '../program-support.ts';
import { UntrustedServerError } from '../tls.ts';
import type { Log } from './log.ts';
import type { ProjectDatabase } from './project-database.ts';
import { errno, PythonError, SystemExit } from './python-error.ts';
import type { ServiceContext } from './service-context.ts';
import { parseDatabaseUrl } from './urls.ts';

/** oslo.db: a connection pool of one, made on first use and again when it was lost. */
export class Database {
  readonly #process: Process;
  readonly #log: Log;
  readonly #url: string | undefined;
  readonly #retries: number;
  readonly #interval: number;
  readonly #sqlite: boolean;
  #connection: MysqlConnection | undefined;
  #tested = false;

  /** `url`: instead of the one of the options. */
  constructor(
    { process, config, log }: ServiceContext,
    {
      group = 'database',
      url: [at, option] = [group, 'connection'],
      sqlite,
    }: Pick<ProjectDatabase, 'group' | 'url' | 'sqlite'> = {},
    url?: string,
  ) {
    this.#sqlite = sqlite === true;
    this.#process = process;
    this.#log = log;
    this.#url = url ?? config.optional(at, option);
    this.#retries = config.integer(group, 'max_retries');
    this.#interval = config.integer(group, 'retry_interval');
  }

  /** What the option says; the error is the one of an enginefacade without a URL. */
  get url(): string {
    if (this.#url === undefined || this.#url === '') {
      if (this.#sqlite) {
        throw wrapped(
          'oslo_db.exception.DBNonExistentDatabase',
          'sqlite3.OperationalError',
          'unable to open database file',
          'e3q8',
        );
      }
      throw new PythonError('oslo_db.exception.CantStartEngineError', 'No sql_connection parameter is established');
    }
    return this.#url;
  }

  /**
   * Runs a transaction.
   * @throws PythonError with the words of PyMySQL, SQLAlchemy and oslo.db
   */
  async transaction<T>(
    privilege: (MysqlRequest & { type: 'transaction' })['privilege'],
    run: (schema: Schema) => T,
  ): Promise<T> {
    const connection = await this.#connected();
    try {
      return await connection.transaction(privilege, run);
    } catch (error) {
      throw pythonError(error, this.url);
    }
  }

  close(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }

  /** The first connect is tried `max_retries` times when nobody answers (-1: for ever); a refusal is final. */
  async #connected(): Promise<MysqlConnection> {
    if (this.#connection !== undefined && !this.#connection.closed.aborted) return this.#connection;
    for (let attempt = 0; ; attempt += 1) {
      try {
        this.#connection = await connect(this.#process, this.url);
        this.#tested = true;
        return this.#connection;
      } catch (error) {
        if (!(error instanceof PythonError) || error.type !== 'oslo_db.exception.DBConnectionError') throw error;
        if (this.#tested || this.#retries === 0) throw error;
        this.#log.warning(
          'oslo_db.sqlalchemy.engines',
          `SQL connection failed. ${this.#retries - attempt} attempts left.: ${error.lastLine.split('\n')[0]}`,
        );
        if (!(await pause(this.#process, this.#interval * 1000))) throw new SystemExit(143);
        if (this.#retries >= 0 && attempt >= this.#retries - 1) throw error;
      }
    }
  }
}

async function connect(process: Process, text: string): Promise<MysqlConnection> {
  const url = parseDatabaseUrl(text);
  const socket = url.query.get('unix_socket');
  const authority = url.query.get('ssl_ca');
  if (authority !== undefined && !process.files.exists(authority))
    throw new PythonError('FileNotFoundError', '[Errno 2] No such file or directory');
  try {
    return await connectMysql(process.network, {
      ...(socket === undefined ? { host: url.host, port: url.port ?? 3306 } : { socket }),
      user: url.user ?? 'root',
      ...(url.password !== undefined && { password: url.password }),
      ...(url.database !== undefined && { database: url.database }),
      ...(authority !== undefined && { trust: { trusted: process.files.read(authority), now: process.clock.now() } }),
    });
  } catch (error) {
    throw pythonError(error, text);
  }
}

/** SQLAlchemy's and oslo.db's exception for what the driver raised. */
function pythonError(error: unknown, text: string): unknown {
  const { host } = parseDatabaseUrl(text);
  if (error instanceof UntrustedServerError) {
    const words = `"Can't connect to MySQL server on '${host}' (${error.message})"`;
    return operational('oslo_db.exception.DBConnectionError', 2003, words);
  }
  if (error instanceof SystemError) {
    const type = 'oslo_db.exception.DBConnectionError';
    return ['ECONNRESET', 'EPROTO'].includes(error.code)
      ? operational(type, 2013, "'Lost connection to MySQL server during query'")
      : operational(type, 2003, `"Can't connect to MySQL server on '${host}' (${errno(error)})"`);
  }
  if (!(error instanceof MysqlError)) return error;
  const message = JSON.stringify(error.message);
  if (error.code === 1146)
    return wrapped('sqlalchemy.exc.ProgrammingError', 'pymysql.err.ProgrammingError', `(1146, ${message})`, 'f405');
  return operational(
    error.code === 1049 ? 'oslo_db.exception.DBNonExistentDatabase' : 'sqlalchemy.exc.OperationalError',
    error.code,
    message,
  );
}

function operational(type: string, code: number, message: string): PythonError {
  return wrapped(type, 'pymysql.err.OperationalError', `(${code}, ${message})`, 'e3q8');
}

/** An exception around one of the driver's. */
function wrapped(type: string, driver: string, words: string, help: string): PythonError {
  return new PythonError(type, `(${driver}) ${words}\n(Background on this error at: https://sqlalche.me/e/20/${help})`);
}
