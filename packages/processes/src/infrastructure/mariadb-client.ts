import type { Process, Program } from '@openstack-operator/sandbox';
import { SystemError } from '@openstack-operator/sandbox';
import { attempt } from '../attempt.ts';
import { type CommandLine, parseCommandLine, UsageError } from '../command-line.ts';
import { CommandError, command, nameOf, notModelled } from '../program-support.ts';
import { connectMysql, type MysqlConnection, MysqlError, type MysqlLogin } from './mysql-protocol.ts';
import { readOptionFiles } from './option-files.ts';
import { splitStatements } from './sql-tokens.ts';

const names = {
  flags:
    'B|batch N|skip-column-names s|silent f|force t v|verbose r|raw skip-ssl ssl no-auto-rehash A unbuffered compress abort-source-on-error',
  values:
    'h|host u|user P|port S|socket e|execute D|database protocol connect-timeout default-character-set w|wait ssl-ca',
  optional: 'p|password',
};

interface ClientOptions extends CommandLine {
  readonly login: MysqlLogin;
}

/** Reads my.cnf groups `[client]`, `[mariadb-client]` and the command line. */
function readOptions(process: Process, groups: readonly string[]): ClientOptions {
  const { options, rest } = readOptionFiles(process, groups);
  const fromFiles = options.map(
    ({ name, value }) => `--${name.replaceAll('_', '-')}${value === undefined ? '' : `=${value}`}`,
  );
  const words = [...fromFiles, ...rest];
  const line = attempt(
    UsageError,
    () => parseCommandLine(words, names),
    ({ option }): never => {
      const variable = words.find((word) => word.startsWith(`${option}=`))?.slice(2);
      throw variable === undefined
        ? new CommandError(`${process.argv[0]}: unknown option '${option}'`, 2)
        : new CommandError(`${process.argv[0]}: unknown variable '${variable}'`, 7);
    },
  );
  const host = line.value('host');
  const byPort = line.value('protocol')?.toLowerCase() === 'tcp';
  const password = line.value('password') ?? process.env['MYSQL_PWD'];
  const database = line.value('database') ?? (groups.includes('mysqladmin') ? undefined : line.operands[0]);
  const login: MysqlLogin = {
    user: line.value('user') ?? (process.uid === 0 ? 'root' : String(process.uid)),
    ...((host === undefined || host === 'localhost') && !byPort
      ? { socket: line.value('socket') ?? '/run/mysqld/mysqld.sock' }
      : { host: host ?? 'localhost', port: Number(line.value('port') ?? 3306) }),
    ...(password !== undefined && { password }),
    ...(database !== undefined && { database }),
  };
  return { ...line, login };
}

/** The client library's words for a server that cannot be reached. */
function connectError(login: MysqlLogin, error: SystemError): { code: number; message: string } {
  if (login.socket !== undefined) {
    const number = error.code === 'ENOENT' ? 2 : error.code === 'EACCES' ? 13 : 111;
    return { code: 2002, message: `Can't connect to local server through socket '${login.socket}' (${number})` };
  }
  if (error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN') {
    return { code: 2005, message: `Unknown server host '${login.host}' (${error.code === 'ENOTFOUND' ? -2 : -3})` };
  }
  if (error.code === 'EPROTO')
    return {
      code: 2013,
      message: "Lost connection to server at 'handshake: reading initial communication packet', system error: 11",
    };
  return {
    code: 2002,
    message: `Can't connect to server on '${login.host}' (${error.code === 'ETIMEDOUT' ? 110 : 115})`,
  };
}

/** `mariadb`: runs `-e` or standard input, statement by statement; stops at the first error unless --force. */
const mariadb: Program = command(async (process) => {
  const options = readOptions(process, ['client', 'mysql', 'mariadb-client', 'client-server', 'client-mariadb']);
  let connection: MysqlConnection;
  try {
    connection = await connectMysql(process.network, options.login);
  } catch (error) {
    if (error instanceof MysqlError) {
      if (isUntrusted(options)) throw untrusted();
      throw new CommandError(`ERROR ${error.code} (${error.state}): ${error.message}`);
    }
    if (!(error instanceof SystemError)) throw error;
    const { code, message } = connectError(options.login, error);
    throw new CommandError(`ERROR ${code} (HY000): ${message}`);
  }
  if (isUntrusted(options)) throw untrusted();
  const script = options.value('execute') ?? process.stdin ?? '';
  const run = new ScriptRun(process, connection, options);
  const failed = await run.script(script);
  connection.close();
  return failed && !options.has('force') ? 1 : 0;
});

/** The server's certificate is its own; clients since 11.4 know it by the password that both have. */
function isUntrusted(options: ClientOptions): boolean {
  const { login } = options;
  const isLocal = login.host === undefined || ['localhost', '127.0.0.1', '::1'].includes(login.host);
  return !isLocal && login.password === undefined && !options.has('skip-ssl');
}

function untrusted(): CommandError {
  return new CommandError('ERROR 2026 (HY000): TLS/SSL error: self-signed certificate');
}

class ScriptRun {
  readonly #process: Process;
  readonly #connection: MysqlConnection;
  readonly #options: ClientOptions;

  constructor(process: Process, connection: MysqlConnection, options: ClientOptions) {
    this.#process = process;
    this.#connection = connection;
    this.#options = options;
  }

  /** Whether a statement failed. Errors within a sourced file do not stop it, and do not count (seen on 10.11.19). */
  async script(text: string, file?: string): Promise<boolean> {
    let failed = false;
    for (const { sql, line } of splitStatements(text)) {
      const source = /^(?:source|\\\.)\s+(\S+)/i.exec(sql);
      if (source) {
        failed = (await this.#source(source[1] as string)) || failed;
        const rest = sql.slice(source[0].length).trim();
        if (rest !== '') failed = (await this.script(rest, file)) || failed;
        continue;
      }
      if (!(await this.#statement(sql, line, file))) {
        failed = true;
        if (this.#stops(file)) return true;
      }
    }
    return file === undefined && failed;
  }

  #stops(file: string | undefined): boolean {
    return file === undefined ? !this.#options.has('force') : this.#options.has('abort-source-on-error');
  }

  async #source(path: string): Promise<boolean> {
    let text: string;
    try {
      text = this.#process.files.read(path);
    } catch (error) {
      const number = error instanceof SystemError && error.code === 'EACCES' ? 13 : 2;
      this.#process.stderr(`ERROR at line 1: Failed to open file '${path}', error: ${number}\n`);
      return true;
    }
    return this.script(text, path);
  }

  async #statement(sql: string, line: number, file: string | undefined): Promise<boolean> {
    try {
      const { columns = [], rows = [] } = (await this.#connection.query(sql)) ?? {};
      if (rows.length === 0) return true;
      if (!this.#options.has('skip-column-names')) this.#process.stdout(`${columns.join('\t')}\n`);
      for (const row of rows) this.#process.stdout(`${row.join('\t')}\n`);
      return true;
    } catch (error) {
      const where = `at line ${line}${file === undefined ? '' : ` in file: '${file}'`}`;
      if (error instanceof SystemError) {
        this.#process.stderr(`ERROR 2013 (HY000) ${where}: Lost connection to server during query\n`);
        return false;
      }
      if (!(error instanceof MysqlError)) throw error;
      this.#process.stderr(
        `--------------\n${sql}\n--------------\n\nERROR ${error.code} (${error.state}) ${where}: ${error.message}\n`,
      );
      return false;
    }
  }
}

/** `mariadb-admin`: ping (0 even when the password is refused: the server is alive), status, version. */
const mariadbAdmin: Program = command(async (process) => {
  const options = readOptions(process, ['client', 'mysqladmin', 'mariadb-admin', 'client-server', 'client-mariadb']);
  const [task] = options.operands;
  if (task === undefined) throw new CommandError(`Usage: ${nameOf(process)} [OPTIONS] command command....`);
  if (!['ping', 'status', 'version'].includes(task)) notModelled(process, `the command ${task}`);
  const { host = 'localhost' } = options.login;
  try {
    const connection = await connectMysql(process.network, options.login);
    connection.close();
  } catch (error) {
    const refused = error instanceof MysqlError;
    if (!refused && !(error instanceof SystemError)) throw error;
    const message = refused ? error.message : connectError(options.login, error).message;
    process.stderr(`${process.argv[0]}: connect to server at '${host}' failed\nerror: '${message}'\n`);
    if (refused) return task === 'ping' ? 0 : 1;
    process.stderr(
      `Check that mariadbd is running and that the socket: '${options.login.socket ?? '/run/mysqld/mysqld.sock'}' exists!\n`,
    );
    return 1;
  }
  process.stdout(task === 'ping' ? 'mysqld is alive\n' : 'Uptime: 1  Threads: 1  Questions: 1\n');
  return 0;
});

/** The clients of a MariaDB image, under both of their names. */
export const mariadbClients: Readonly<Record<string, Program>> = {
  mariadb,
  mysql: mariadb,
  'mariadb-admin': mariadbAdmin,
  mysqladmin: mariadbAdmin,
};
