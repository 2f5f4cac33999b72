import { mariadbdOptions } from '@openstack-operator/facts/mariadbd-options';
import {
  type Listener,
  type Peer,
  type Process,
  type Program,
  type Session,
  SystemError,
} from '@openstack-operator/sandbox';
import { CommandError, command, logTime, pause, terminated } from '../program-support.ts';
import { startTimes } from '../start-times.ts';
import { becomeMember, isMember, type MemberOptions, type Membership, recover } from './galera.ts';
import { type Account, accountFor, almighty, isGranted, mayUse, newSchema, passwordHash } from './mariadb-catalog.ts';
import { ServerCertificate } from './mariadb-certificate.ts';
import { catalogOf, temporaryFailure } from './mariadb-install-db.ts';
import { MysqlError, type MysqlRequest } from './mysql-protocol.ts';
import { readOptionFiles } from './option-files.ts';
import { demandDatabase, tableDenied } from './sql-errors.ts';
import { enterDatabase, runStatement, type SqlSession } from './sql-session.ts';
import { answering } from './wire.ts';

const version = '11.8.6-MariaDB-deb13';

/** `mariadbd`: the server. Ready in about 1.5 s on an existing data directory. */
export const mariadbd: Program = command((process) => serve(process));

/** `mariadbd-safe`: starts the server (and again, if it dies by itself, which the model never does). */
export const mariadbdSafe: Program = command((process) => {
  process.stdout(
    `${logTime(process).slice(2, 19).replaceAll('-', '')} mysqld_safe Starting mariadbd daemon with databases from /var/lib/mysql\n`,
  );
  return process.run(['mariadbd', ...process.argv.slice(1)], { signal: process.signal });
});

/** A server that listens. */
interface Server {
  readonly tls: ServerCertificate;
  readonly catalog: SqlSession['catalog'];
  readonly characterSet: string;
  readonly resolveNames: boolean;
  readonly port: number;
  readonly log: (level: string, text: string) => void;
  readonly membership: Membership | undefined;
}

async function serve(process: Process): Promise<number> {
  const settings = readSettings(process);
  const log = (level: string, text: string): void => {
    const line = `${logTime(process).slice(0, 19)} 0 [${level}] ${text}\n`;
    const file = settings.get('log-error');
    if (file === undefined) process.stderr(line);
    else process.files.write(file, line, { append: true });
  };
  const abort = (...lines: readonly string[]): number => {
    for (const line of lines) log('ERROR', line);
    log('ERROR', 'Aborting');
    return 1;
  };
  if (process.uid === 0 && settings.get('user') === undefined) {
    process.stderr(
      `${process.argv[0]}: Please consult the MariaDB Documentation to find out how to run mariadbd as root!\n`,
    );
    return abort();
  }
  const datadir = (settings.get('datadir') ?? '/var/lib/mysql').replace(/\/+$/, '');
  const { files } = process;
  if (!files.exists(datadir) || !files.isDirectory(datadir)) {
    log(
      'Warning',
      `Can't create test file '${datadir}/${process.pod.hostname}.lower-test' (Errcode: 2 "No such file or directory")`,
    );
    process.stderr(`${process.argv[0]}: Can't change dir to '${datadir}/' (Errcode: 2 "No such file or directory")\n`);
    return abort();
  }
  log('Note', `Starting MariaDB ${version} source revision as process ${process.pid}`);
  const unknown = [...settings].find(([name]) => !isKnown(name));
  if (!(await pause(process, startTimes.mariadbd))) return 0;
  if (unknown !== undefined) {
    const [name, value] = unknown;
    abort(`${process.argv[0]}: ${value === '' ? `unknown option '--${name}'` : `unknown variable '${name}=${value}'`}`);
    return 7;
  }
  const unwritable = temporaryFailure(process, settings.get('tmpdir'));
  if (unwritable !== undefined) return abort(...unwritable);
  const options: MemberOptions = { settings, datadir, catalog: catalogOf(process, datadir), log };
  let membership: Membership | undefined;
  const begins = settings.has('wsrep-new-cluster');
  // The data of a member that joins come before it looks at them.
  if (isMember(settings) && !settings.has('wsrep-recover') && !begins) {
    const joined = await becomeMember(process, options);
    if (!('status' in joined)) return abort(...joined);
    membership = joined;
  }
  try {
    files.write(`${datadir}/aria_log_control`, '');
    // Words of mariadb 10.11.19 on what mariadb-install-db leaves that was killed.
    if (files.exists(`${datadir}/mysql`) && catalogOf(process, datadir).accounts.size === 0) {
      return abort(
        "InnoDB: The data file './ibdata1' has the wrong space ID. It should be 0, but 0 was found",
        'InnoDB: Plugin initialization aborted with error Data structure corruption',
        "Plugin 'InnoDB' registration as a STORAGE ENGINE failed.",
        'Unknown/unsupported storage engine: InnoDB',
      );
    }
    catalogOf(process, datadir);
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    return abort(
      `mariadbd: Can't create/write to file '${datadir}/aria_log_control' (Errcode: 13 "${error.reason}")`,
      `Plugin 'InnoDB' registration as a STORAGE ENGINE failed.`,
      'Unknown/unsupported storage engine: InnoDB',
    );
  }
  if (!files.exists(`${datadir}/mysql`)) {
    return abort(
      `Could not open mysql.plugin table: "Table 'mysql.plugin' doesn't exist". Some plugins may be not loaded`,
      `Fatal error: Can't open and lock privilege tables: Table 'mysql.db' doesn't exist`,
    );
  }
  const coordinatorLog = `${datadir}/tc.log`;
  if (files.exists(coordinatorLog) && files.read(coordinatorLog).startsWith('\0')) {
    return abort(
      'Bad magic header in tc log',
      "Crash recovery failed. Either correct the problem (if it's, for example, out of memory error) and restart, or delete tc log and start server with --tc-heuristic-recover={commit|rollback}",
      "Can't init tc log",
    );
  }
  if (settings.has('wsrep-recover')) {
    const failure = recover(options);
    return failure.length === 0 ? 0 : abort(...failure);
  }
  if (isMember(settings) && begins) {
    const begun = await becomeMember(process, options);
    if (!('status' in begun)) return abort(...begun);
    membership = begun;
  }
  files.write(coordinatorLog, MAGIC);
  return listen(process, settings, { membership, datadir, log, abort });
}

/** How the transaction coordinator's log begins (sql/log.cc: tc_log_magic). */
const MAGIC = '\u00fe\u0023\u0005\u0074';

async function listen(
  process: Process,
  settings: ReadonlyMap<string, string>,
  {
    membership,
    datadir,
    log,
    abort,
  }: {
    readonly membership: Membership | undefined;
    readonly datadir: string;
    readonly log: (level: string, text: string) => void;
    readonly abort: (...lines: readonly string[]) => number;
  },
): Promise<number> {
  const catalog = catalogOf(process, datadir);
  const port = Number(settings.get('port') ?? '3306');
  const socket = settings.get('socket') ?? '/run/mysqld/mysqld.sock';
  const host = (settings.get('bind-address') ?? '*').replace(/^(\*|::)$/, '0.0.0.0');
  let characterSet: string;
  try {
    const set = settings.get('character-set-server') ?? 'utf8mb4';
    ({ characterSet } = newSchema('server', set, settings.get('collation-server')));
  } catch (error) {
    if (!(error instanceof MysqlError)) throw error;
    return abort(
      error.code === 1115
        ? `${process.argv[0]}: Character set '${settings.get('character-set-server') ?? ''}' is not a compiled character set and is not specified in the '/usr/share/mariadb/charsets/Index.xml' file`
        : error.message,
    );
  }
  const resolveNames = settings.get('skip-name-resolve') === undefined;
  const tls = new ServerCertificate(process, settings);
  const unusable = tls.load();
  if (unusable !== undefined) {
    process.stderr(`SSL error: ${unusable} from '${settings.get('ssl-cert') ?? ''}'\n`);
    log('ERROR', 'Failed to setup SSL');
    return abort(`SSL error: ${unusable}`);
  }
  const server: Server = { tls, catalog, characterSet, resolveNames, port, log, membership };
  const accept = (peer: Peer): Session => session(process, peer, server);
  const listeners: Listener[] = [];
  try {
    if (settings.get('skip-networking') === undefined) {
      try {
        listeners.push(process.network.listen(port, 'mysql', accept, { host }));
      } catch (error) {
        if (!(error instanceof SystemError)) throw error;
        return abort(
          `Can't start server: Bind on TCP/IP port. Got error: ${error.reason}`,
          `Do you already have another server running on port: ${port} ?`,
        );
      }
      log('Note', `Server socket created on IP: '${host}', port: '${port}'.`);
    }
    try {
      listeners.push(process.network.listen(`unix:${socket}`, 'mysql', accept));
      const pidFile = settings.get('pid-file') ?? `${datadir}/${process.pod.hostname}.pid`;
      process.files.write(pidFile.startsWith('/') ? pidFile : `${datadir}/${pidFile}`, `${process.pid}\n`);
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      return abort(
        `Can't start server : Bind on unix socket: ${error.reason}`,
        `Do you already have another server running on socket: ${socket} ?`,
      );
    }
    const initFile = settings.get('init-file');
    if (initFile !== undefined) {
      const failure = runInitFile(process, initFile, server);
      if (failure !== undefined) return abort(failure);
    }
    log('Note', `${process.argv[0]}: ready for connections.`);
    process.stderr(`Version: '${version}'  socket: '${socket}'  port: ${port}  mariadb.org binary distribution\n`);
    await terminated(process);
    membership?.leave();
    log('Note', `${process.argv[0]} (initiated by: unknown): Normal shutdown`);
    log('Note', `${process.argv[0]}: Shutdown complete`);
    return 0;
  } finally {
    for (const listener of listeners) listener.close();
  }
}

/**
 * Runs --init-file as mariadbd does: a statement ends with a line that ends with a semicolon; several statements on one
 * line are a syntax error, and the first error ends the file (seen on 10.11.19). The server starts all the same.
 */
function runInitFile(process: Process, path: string, server: Server): string | undefined {
  let text: string;
  try {
    text = process.files.read(path);
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    return `mariadbd: Can't create/write to file '${path}' (Errcode: ${error.code === 'ENOENT' ? 2 : 13} "${error.reason}")`;
  }
  const root = stateOf(server, almighty({ user: '', host: '', hash: undefined, socketUid: undefined }), 'localhost');
  let statement = '';
  for (const line of text.split('\n')) {
    if (statement === '' && /^\s*(--|#|$)/.test(line)) continue;
    statement += `${line}\n`;
    if (!line.trimEnd().endsWith(';')) continue;
    try {
      runStatement(root, statement.trim());
    } catch (error) {
      if (!(error instanceof MysqlError)) throw error;
      process.stderr(`ERROR: ${error.code}  ${error.message}\n`);
      return undefined;
    }
    statement = '';
  }
  return undefined;
}

function session(process: Process, peer: Peer, server: Server): Session {
  const { catalog, resolveNames, log } = server;
  const local = peer.address === '' || (resolveNames && peer.address === '127.0.0.1');
  const clientHost = local ? 'localhost' : peer.address;
  let state: SqlSession | undefined;
  let isEncrypted = peer.address === '';
  const answer = (request: MysqlRequest): unknown => {
    if (request.type === 'tls') {
      isEncrypted = true;
      return server.tls.accept();
    }
    if (request.type === 'connect') {
      const account = accountFor(catalog, request.user, local ? ['localhost'] : [clientHost]);
      const bySocket = peer.address === '' && account?.socketUid !== undefined;
      const password = request.password ?? '';
      const isRefused = account?.tlsOnly === true && !isEncrypted;
      if (
        account === undefined ||
        isRefused ||
        (!bySocket && ![account.hash, account.otherHash].includes(passwordHash(password)))
      ) {
        const used = password === '' ? 'NO' : 'YES';
        const message = `Access denied for user '${request.user}'@'${clientHost}' (using password: ${used})`;
        log('Warning', message);
        throw new MysqlError(1045, message);
      }
      state = stateOf(server, account, clientHost);
      if (request.database !== undefined) enterDatabase(state, request.database);
      return undefined;
    }
    if (state === undefined) throw new MysqlError(1043, 'Bad handshake');
    return request.type === 'query' ? runStatement(state, request.sql) : transaction(state, request);
  };
  return {
    receive: answering(async (request: MysqlRequest) => {
      // A statement takes a moment: two clients never see each other's half-done work.
      await pause(process, 1);
      if (server.membership === undefined || isHarmless(request)) return answer(request);
      await server.membership.admit();
      const given = answer(request);
      if (changes(request)) server.membership.written();
      return given;
    }),
  };
}

/** What a member without a majority answers all the same (wsrep_check_mode_after_open_table). */
function isHarmless(request: MysqlRequest): boolean {
  return (
    request.type === 'connect' ||
    request.type === 'tls' ||
    (request.type === 'query' && /^\s*(SHOW|SET)\b/i.test(request.sql))
  );
}

function changes(request: MysqlRequest): boolean {
  return request.type === 'query'
    ? !/^\s*(SELECT|USE)\b/i.test(request.sql)
    : request.type === 'transaction' && request.privilege !== 'SELECT';
}

function transaction(state: SqlSession, request: MysqlRequest & { type: 'transaction' }): unknown {
  const database = demandDatabase(state.database);
  const schema = state.catalog.databases.get(database);
  if (schema === undefined) throw new MysqlError(1049, `Unknown database '${database}'`);
  const { account } = state;
  if (!mayUse(account, schema.name) || !isGranted(account, request.privilege, schema.name)) {
    const [table = 'alembic_version'] = schema.tables.keys();
    throw tableDenied(request.privilege, account.user, state.clientHost, `\`${schema.name}\`.\`${table}\``);
  }
  return request.run(schema);
}

/** What a connection begins with. */
function stateOf(
  { tls, catalog, characterSet, port, membership }: Server,
  account: Account,
  clientHost: string,
): SqlSession {
  const variables = {
    version,
    character_set_server: characterSet,
    port: String(port),
    sql_mode: 'STRICT_TRANS_TABLES',
    version_comment: 'mariadb.org binary distribution',
  };
  const status = () => ({
    wsrep_ready: 'OFF',
    threads_connected: '1',
    ssl_accepts: String(tls.accepts),
    ...membership?.status(),
  });
  return {
    catalog,
    account,
    clientHost,
    variables,
    status,
    defaultCharacterSet: characterSet,
    reloadCertificate: () => tls.load(),
    database: undefined,
  };
}

function readSettings(process: Process): Map<string, string> {
  const { options, rest } = readOptionFiles(
    process,
    'mysqld server mariadb mariadbd galera mysqld_safe mariadbd-safe client-server'.split(' '),
  );
  const values = new Map<string, string>();
  for (const { name, value } of options) values.set(canonical(name), value ?? '');
  for (const word of rest) {
    if (!word.startsWith('--')) {
      if (word.startsWith('-')) throw new CommandError(`${process.argv[0]}: unknown option '${word}'`, 1);
      continue;
    }
    const equals = word.indexOf('=');
    values.set(canonical(word.slice(2, equals < 0 ? undefined : equals)), equals < 0 ? '' : word.slice(equals + 1));
  }
  return values;
}

const canonical = (name: string): string => name.replaceAll('_', '-').toLowerCase();

function isKnown(name: string): boolean {
  if (name.startsWith('loose-')) return true;
  const bare = name.replace(/^(skip|enable|disable|maximum)-/, '');
  return (
    mariadbdOptions.has(name) ||
    mariadbdOptions.has(bare) ||
    [...mariadbdOptions].some((known) => known.startsWith(name))
  );
}
