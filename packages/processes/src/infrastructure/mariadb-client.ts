import { type Process, type Program, SystemError } from '@openstack-operator/sandbox';
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
  const failed = await runScript({ process, connection, options }, script);
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

/** A client that is logged in. */
interface Client {
  readonly process: Process;
  readonly connection: MysqlConnection;
  readonly options: ClientOptions;
}

/** Whether a statement failed. Errors within a sourced file do not stop it, and do not count (seen on 10.11.19). */
async function runScript(client: Client, text: string, file?: string): Promise<boolean> {
  const { options } = client;
  const stops = file === undefined ? !options.has('force') : options.has('abort-source-on-error');
  let failed = false;
  for (const { sql, line } of splitStatements(text)) {
    const source = /^(?:source|\\\.)\s+(\S+)/i.exec(sql);
    if (source) {
      failed = (await runFile(client, source[1] as string)) || failed;
      const rest = sql.slice(source[0].length).trim();
      if (rest !== '') failed = (await runScript(client, rest, file)) || failed;
    } else if (!(await succeeds(client, sql, line, file))) {
      failed = true;
      if (stops) return true;
    }
  }
  return file === undefined && failed;
}

async function runFile(client: Client, path: string): Promise<boolean> {
  const { process } = client;
  const text = attempt(
    SystemError,
    () => process.files.read(path),
    (error) => error,
  );
  if (typeof text === 'string') return runScript(client, text, path);
  process.stderr(`ERROR at line 1: Failed to open file '${path}', error: ${text.code === 'EACCES' ? 13 : 2}\n`);
  return true;
}

async function succeeds(
  { process, connection, options }: Client,
  sql: string,
  line: number,
  file: string | undefined,
): Promise<boolean> {
  try {
    const { columns = [], rows = [] } = (await connection.query(sql)) ?? {};
    if (rows.length === 0) return true;
    if (!options.has('skip-column-names')) process.stdout(`${columns.join('\t')}\n`);
    for (const row of rows) process.stdout(`${row.join('\t')}\n`);
    return true;
  } catch (error) {
    const where = `at line ${line}${file === undefined ? '' : ` in file: '${file}'`}`;
    if (error instanceof SystemError)
      process.stderr(`ERROR 2013 (HY000) ${where}: Lost connection to server during query\n`);
    else if (error instanceof MysqlError)
      process.stderr(
        `--------------\n${sql}\n--------------\n\nERROR ${error.code} (${error.state}) ${where}: ${error.message}\n`,
      );
    else throw error;
    return false;
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
