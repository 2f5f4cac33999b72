import { type Connection, type Listener, type Process, type Program, SystemError } from '@openstack-operator/sandbox';
import { worded } from '../attempt.ts';
import { type CommandLine, parseCommandLine } from '../command-line.ts';
import { CommandError, command, commandWith, nameOf, notModelled, pause, terminated } from '../program-support.ts';
import { startTimes } from '../start-times.ts';
import { daemonOptions, openDaemon, ovsLog } from './ovs-daemon.ts';
import { connectOvsdb, type OvsDatabase, OvsdbService, ovsDatabases, ovsTable, watchDatabase } from './ovsdb.ts';
import { joinCluster, raftCommands, takePart } from './ovsdb-raft.ts';
import { certificatesOf, listenOvsdbTls, type OvsCertificates } from './ovsdb-tls.ts';
import { ask } from './wire.ts';

/** Makes a database file. @throws CommandError in ovsdb-tool's words */
export function createDatabase(process: Process, path: string, schema: string): void {
  const { files } = process;
  if (!files.exists(schema))
    throw new CommandError(`ovsdb-tool: I/O error: ${schema}: open failed (No such file or directory)`);
  if (files.exists(path)) throw new CommandError(`ovsdb-tool: I/O error: ${path}: create failed (File exists)`);
  const names = Object.keys(ovsDatabases) as OvsDatabase['name'][];
  const name =
    names.find((one) => schema.endsWith(`/${ovsDatabases[one].schema}`)) ??
    notModelled(process, `the schema ${schema}`);
  worded(
    () => databaseAt(process, path, name),
    (error) => new CommandError(`ovsdb-tool: I/O error: ${path}: create failed (${error.reason})`),
  );
}

/** The live database of a file. @throws SystemError; CommandError in ovsdb-server's words for an empty one */
export function databaseAt(process: Process, path: string, name: OvsDatabase['name']): OvsDatabase {
  if (process.files.exists(path) && process.files.stat(path).size === 0)
    throw new CommandError(`ovsdb-server: ovsdb error: ${path}: cannot identify file type`);
  return process.files.attach<OvsDatabase>(path, () => ({ name, tables: new Map() }), { bytes: 64 * 1024 });
}

const ovsdbTool: Program = command((process) => {
  const { operands } = parseCommandLine(process.argv.slice(1), { values: 'v' });
  const [task, path = '/etc/openvswitch/conf.db', schema = '/usr/share/openvswitch/vswitch.ovsschema'] = operands;
  if (task === 'join-cluster') join(process, operands.slice(1));
  else if (task === 'create') createDatabase(process, path, schema);
  else if (task === 'needs-conversion') process.stdout('no\n');
  else if (task === 'db-name') process.stdout('Open_vSwitch\n');
  else if (task === 'db-is-standalone') return process.files.exists(path) ? 0 : 2;
  else if (task !== 'convert' && task !== 'compact') notModelled(process, `the command ${task}`);
  return 0;
});

function join(process: Process, [path = '', name = '', address, ...remotes]: readonly string[]): void {
  if (address === undefined || remotes.length === 0)
    throw new CommandError("ovsdb-tool: 'join-cluster' command requires at least 4 arguments");
  if (process.files.exists(path)) throw new CommandError(`ovsdb-tool: I/O error: ${path}: create failed (File exists)`);
  const database = worded(
    () => databaseAt(process, path, name as OvsDatabase['name']),
    (error) => new CommandError(`ovsdb-tool: I/O error: ${path}: create failed (${error.reason})`),
  );
  joinCluster(process, database, address, remotes);
}

const ovsdbServer: Program = commandWith(daemonOptions, (process, line) => {
  const paths = line.operands.length > 0 ? line.operands : ['/etc/openvswitch/conf.db'];
  const databases = paths.map((path) => {
    if (!process.files.exists(path))
      throw new CommandError(`ovsdb-server: I/O error: ${path}: failed to open (No such file or directory)`);
    return worded(
      () => databaseAt(process, path, 'Open_vSwitch'),
      (error) => new CommandError(`ovsdb-server: I/O error: ${path}: failed to open (${error.reason})`),
    );
  });
  const directory = '/run/openvswitch';
  const certificates = certificatesOf(line);
  return serveDatabases(process, databases, { remotes: line.values('remote'), directory, line, certificates });
});

/** Serves databases on their remotes until SIGTERM: punix:, ptcp:, pssl:, and `db:` (connections that stand in the database). */
export async function serveDatabases(
  process: Process,
  databases: readonly OvsDatabase[],
  options: { remotes: readonly string[]; directory: string; line: CommandLine; certificates: OvsCertificates },
): Promise<number> {
  const log = ovsLog(process);
  const service = new OvsdbService(databases);
  const open = openDaemon(process, options.line, {
    directory: options.directory,
    answers: {
      version: () => 'ovsdb-server (Open vSwitch) 3.5.0',
      ...Object.assign({}, ...databases.map(raftCommands)),
    },
  });
  await pause(process, startTimes.ovsdbServer);
  const listeners = new Map<string, Listener>();
  const listen = (remote: string): void => {
    if (listeners.has(remote)) return;
    const unix = /^punix:(.+)$/.exec(remote);
    const tcp = /^p(tcp|ssl):(\d+)(?::(.+))?$/.exec(remote);
    const bind = tcp?.[3]?.replace(/^\[|\]$/g, '');
    const port = Number(tcp?.[2]);
    if (!unix && !tcp)
      throw new CommandError(`ovsdb-server: ${remote}: listen failed (Address family not supported by protocol)`);
    try {
      const host = bind && bind !== '::' && { host: bind };
      const accept = () => service.accept();
      listeners.set(
        remote,
        tcp?.[1] === 'ssl'
          ? listenOvsdbTls(process, { port, ...host, log }, accept, options.certificates)
          : process.network.listen(unix ? `unix:${unix[1]}` : port, 'ovsdb', accept, { ...host }),
      );
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      if (unix) throw new CommandError(`ovsdb-server: ${remote}: listen failed (${error.reason})`);
      log(`ovsdb_jsonrpc_server|ERR|${remote}: listen failed: ${error.reason}`);
    }
  };
  for (const remote of options.remotes.filter((text) => !text.startsWith('db:'))) listen(remote);
  const fromDatabase = options.remotes.some((remote) => remote.startsWith('db:'));
  const follow = (): void => {
    for (const database of fromDatabase ? databases : []) {
      for (const table of ['Connection', 'Manager'])
        for (const target of ovsTable(database, table).keys()) listen(target);
    }
  };
  follow();
  const ends = databases.flatMap((database) => [watchDatabase(database, follow), takePart(process, database, log)]);
  log(`ovsdb_server|INFO|ovsdb-server (Open vSwitch) 3.5.0`);
  await terminated(process);
  for (const end of ends) end();
  open.close();
  for (const listener of listeners.values()) listener.close();
  return 0;
}

const ovsdbClient: Program = commandWith(
  { values: 'timeout t v p|private-key c|certificate C|ca-cert', flags: 'no-leader-only' },
  async (process, line) => {
    const [task, server = 'unix:/run/openvswitch/db.sock', query] = line.operands;
    const said = await worded(
      async () => {
        const connection = await connectOvsdb(process, server, certificatesOf(line));
        const answer =
          task === 'list-dbs'
            ? (await ask<string[]>(connection, { type: 'list' })).join('\n')
            : task === 'query'
              ? JSON.stringify([{ rows: await clusterOf(process, connection, query) }])
              : notModelled(process, `the command ${task}`);
        connection.close();
        return answer;
      },
      (error) => new CommandError(`${nameOf(process)}: failed to connect to "${server}" (${error.reason})`),
    );
    process.stdout(`${said}\n`);
    return 0;
  },
);

/** The one query that is modelled: the column `cid` of a database's row in `_Server`. */
async function clusterOf(process: Process, connection: Connection, query = ''): Promise<object[]> {
  const database =
    /^\["_Server",\{"op":"select","table":"Database","where":\[\["name","==","(\w+)"\]\],"columns":\["cid"\]\}\]$/.exec(
      query,
    )?.[1];
  if (database === undefined) notModelled(process, `the query ${query}`);
  const cid = await ask<unknown>(connection, { type: 'cluster', database });
  return cid === undefined ? [] : [{ cid }];
}

/** Servers and tools of OVSDB. */
export const ovsdbCommands: Readonly<Record<string, Program>> = {
  'ovsdb-tool': ovsdbTool,
  'ovsdb-server': ovsdbServer,
  'ovsdb-client': ovsdbClient,
};
