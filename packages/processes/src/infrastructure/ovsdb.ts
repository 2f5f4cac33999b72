import { type Connection, type Process, type Session, SystemError } from '@openstack-operator/sandbox';
import { attempt } from '../attempt.ts';
import { CommandError, pause } from '../program-support.ts';
import { clusterIdOf, demandLeader, isKnown, type RaftFile } from './ovsdb-raft.ts';
import { connectOvsdbTls, type OvsCertificates } from './ovsdb-tls.ts';
import { answering, ask } from './wire.ts';

/** A row: columns; maps such as external_ids are plain objects. */
export type OvsRow = Record<string, unknown>;

/** What is known of the databases by their names. */
export const ovsDatabases = {
  Open_vSwitch: {
    /** Table of the one row that stands for all. */
    root: 'Open_vSwitch',
    /** Where clients look for it, unless a variable of the environment says it. */
    socket: 'unix:/run/openvswitch/db.sock',
    variable: 'OVS_DB',
    schema: 'vswitch.ovsschema',
  },
  OVN_Northbound: {
    root: 'NB_Global',
    socket: 'unix:/run/ovn/ovnnb_db.sock',
    variable: 'OVN_NB_DB',
    schema: 'ovn-nb.ovsschema',
  },
  OVN_Southbound: {
    root: 'SB_Global',
    socket: 'unix:/run/ovn/ovnsb_db.sock',
    variable: 'OVN_SB_DB',
    schema: 'ovn-sb.ovsschema',
  },
} as const;

/** One database: tables of rows by name. */
export interface OvsDatabase {
  readonly name: keyof typeof ovsDatabases;
  tables: Map<string, Map<string, OvsRow>>;
  /** Of a member of a cluster. */
  raft?: RaftFile;
}

/** What a client sends over protocol `ovsdb`. */
export type OvsdbRequest =
  | { readonly type: 'list' }
  /** The column `cid` of a row of `_Server`; undefined without the row. */
  | { readonly type: 'cluster'; readonly database: string }
  | { readonly type: 'transact'; readonly database: string; readonly run: (database: OvsDatabase) => unknown }
  | { readonly type: 'watch'; readonly database: string; readonly notify: () => void }
  /** To a control socket. */
  | { readonly type: 'control'; readonly command: string };

/** A table of a database, made on first use (the schema has them all). */
export function ovsTable(database: OvsDatabase, name: string): Map<string, OvsRow> {
  let table = database.tables.get(name);
  if (table === undefined) {
    table = new Map();
    database.tables.set(name, table);
  }
  return table;
}

/** The one row of Open_vSwitch, NB_Global or SB_Global. */
export function rootRow(database: OvsDatabase): OvsRow {
  const rows = ovsTable(database, ovsDatabases[database.name].root);
  let row = rows.get('.');
  if (row === undefined) {
    row = { external_ids: {}, other_config: {}, options: {} };
    rows.set('.', row);
  }
  return row;
}

/** A map column of a row. */
export function mapOf(row: OvsRow | undefined, column: string): Record<string, string> {
  return (row?.[column] ?? {}) as Record<string, string>;
}

/** Asks ovs-vswitchd to take over what has changed. @returns the number of the change */
export function requestTakeover(database: OvsDatabase): number {
  const root = rootRow(database);
  const number = Number(root['next_cfg'] ?? 0) + 1;
  root['next_cfg'] = number;
  return number;
}

/** Who hears of every transaction, at whichever server of a cluster it is made. */
const watchers = new WeakMap<OvsDatabase['tables'], Set<() => void>>();

/** Calls `notify` after each change of a database. @returns what ends that */
export function watchDatabase({ tables }: OvsDatabase, notify: () => void): () => void {
  const those = watchers.get(tables) ?? new Set();
  watchers.set(tables, those.add(notify));
  return () => void those.delete(notify);
}

/** Serves databases to any number of connections. */
export class OvsdbService {
  readonly #databases: readonly OvsDatabase[];

  constructor(databases: readonly OvsDatabase[]) {
    this.#databases = databases;
  }

  accept(): Session {
    const watches: (() => void)[] = [];
    return {
      receive: answering((request: OvsdbRequest) => {
        if (request.type === 'list') return ['_Server', ...this.#databases.filter(isKnown).map(({ name }) => name)];
        if (request.type === 'control') throw new CommandError('unknown method');
        const database = this.#databases.find(({ name }) => name === request.database);
        if (request.type === 'cluster') return database && clusterIdOf(database);
        if (database === undefined || !isKnown(database))
          throw new CommandError(`unknown database ${request.database}`);
        demandLeader(database);
        if (request.type === 'watch') {
          watches.push(watchDatabase(database, request.notify));
          return undefined;
        }
        const content = () => JSON.stringify([...database.tables].map(([name, rows]) => [name, [...rows]]));
        const before = content();
        const value = request.run(database);
        if (before !== content()) for (const notify of watchers.get(database.tables) ?? []) notify();
        return value;
      }),
      closed: () => {
        for (const end of watches) end();
      },
    };
  }
}

/** `tcp:host:port`, `unix:/path`, `ssl:...`; several with commas. @throws CommandError */
export function parseRemotes(
  text: string,
): (
  | { readonly path: string; readonly host?: undefined }
  | { readonly path?: undefined; readonly host: string; readonly port: number; readonly secure: boolean }
)[] {
  return text.split(',').map((remote) => {
    const unix = /^unix:(.+)$/.exec(remote);
    if (unix) return { path: unix[1] as string };
    const tcp = /^(tcp|ssl):(\[[^\]]+\]|[^:]+):(\d+)$/.exec(remote);
    if (tcp)
      return {
        host: (tcp[2] as string).replace(/^\[|\]$/g, ''),
        port: Number(tcp[3]),
        secure: tcp[1] === 'ssl',
      };
    throw new CommandError(`${remote}: bad peer name format`);
  });
}

/** A connection to one of the remotes. @throws SystemError of the last one that was tried */
export async function connectOvsdb(
  process: Process,
  remotes: string,
  certificates?: OvsCertificates,
): Promise<Connection> {
  let failure: unknown;
  for (const remote of parseRemotes(remotes)) {
    try {
      if (remote.path !== undefined) return await process.network.connectUnix(remote.path, 'ovsdb');
      if (remote.secure) return await connectOvsdbTls(process, remote, certificates);
      return await process.network.connect(remote.host, remote.port, 'ovsdb');
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** Runs a transaction. @throws CommandError with the server's refusal */
export function transact<T>(
  connection: Connection,
  database: OvsDatabase['name'],
  run: (database: OvsDatabase) => T,
): Promise<T> {
  return ask(connection, { type: 'transact', database, run } satisfies OvsdbRequest);
}

/** Rows of a table. @throws CommandError with the server's refusal */
export function rowsIn(connection: Connection, database: OvsDatabase['name'], table: string): Promise<OvsRow[]> {
  return transact(connection, database, (tables) => [...ovsTable(tables, table).values()].map((row) => ({ ...row })));
}

/** What stands in external_ids of the local Open vSwitch. */
export function localSettings(connection: Connection): Promise<Record<string, string>> {
  return transact(connection, 'Open_vSwitch', (database) => ({ ...mapOf(rootRow(database), 'external_ids') }));
}

/**
 * Keeps a connection to a database for ever: connects, watches, calls `changed` on every change; after a loss again
 * with 1, 2, 4, 8 s in between, as `reconnect` does. Ends with SIGTERM.
 */
export async function followDatabase(
  process: Process,
  options: {
    remotes: string;
    database: OvsDatabase['name'];
    log: (text: string) => void;
    changed: (connection: Connection) => Promise<void>;
    certificates?: OvsCertificates;
  },
): Promise<void> {
  const { remotes, database, log, changed, certificates } = options;
  for (let wait = 1; !process.signal.aborted; wait = Math.min(8, wait * 2)) {
    try {
      log(`reconnect|INFO|${remotes}: connecting...`);
      const connection = await connectOvsdb(process, remotes, certificates);
      let wake: () => void = () => undefined;
      let dirty = true;
      const notify = (): void => {
        dirty = true;
        wake();
      };
      const refused = await attempt(
        CommandError,
        () => ask<undefined>(connection, { type: 'watch', database, notify } satisfies OvsdbRequest),
        ({ message }) => message,
      );
      if (refused !== undefined) log(`ovsdb_cs|WARN|${remotes}: received unexpected error response: ${refused}`);
      else {
        log(`reconnect|INFO|${remotes}: connected`);
        wait = 1;
        connection.closed.addEventListener('abort', () => wake());
        process.signal.addEventListener('abort', () => wake());
        while (!connection.closed.aborted && !process.signal.aborted) {
          if (dirty) {
            dirty = false;
            await changed(connection);
          } else await new Promise<void>((resolve) => (wake = resolve));
        }
        if (!process.signal.aborted) log(`reconnect|INFO|${remotes}: connection closed by peer`);
      }
      connection.close();
    } catch (error) {
      if (!(error instanceof SystemError) && !(error instanceof CommandError)) throw error;
      const reason = error instanceof CommandError ? 'Address family not supported by protocol' : error.reason;
      log(`reconnect|INFO|${remotes}: connection attempt failed (${reason})`);
    }
    await pause(process, wait * 1000);
  }
}
