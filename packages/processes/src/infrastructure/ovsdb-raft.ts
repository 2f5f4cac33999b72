import { type Listener, type Process, SystemError } from '@openstack-operator/sandbox';
import { CommandError, pause } from '../program-support.ts';
import type { OvsDatabase } from './ovsdb.ts';
import { answering, ask } from './wire.ts';

/** Milliseconds from the end of a leader to the next one, with an election timer of one second (1 to 2 s, seen). */
const electionTime = 1500;

/** Identity of a server or a cluster that is in none. */
const nobody = '00000000-0000-0000-0000-000000000000';

/** What the file of a clustered database holds beside its rows. */
export interface RaftFile {
  readonly id: string;
  readonly address: string;
  /** Whom it asks until it is a member. */
  readonly remotes: readonly string[];
  cluster?: RaftCluster;
}

/**
 * The servers of a database that have the same rows: what is written at one is written at all. Who was away has what was
 * written meanwhile as soon as it is back. Live servers that cannot reach each other are not modelled.
 */
export class RaftCluster {
  readonly id: string;
  /** Of the rows, as whoever is in it holds them. */
  readonly tables: OvsDatabase['tables'];
  /** Addresses by the ids of all servers that count, those that are away among them. */
  readonly servers = new Map<string, string>();
  term = 0;
  leader: string | undefined;
  readonly #live = new Map<string, Process>();

  constructor(id: string, tables: OvsDatabase['tables']) {
    this.id = id;
    this.tables = tables;
  }

  get live(): readonly string[] {
    return [...this.#live.keys()];
  }

  get #hasMajority(): boolean {
    return this.live.filter((id) => this.servers.has(id)).length * 2 > this.servers.size;
  }

  arrive(id: string, process: Process): void {
    this.#live.set(id, process);
    this.#elect();
  }

  leave(id: string): void {
    this.#live.delete(id);
    if (this.leader === id || !this.#hasMajority) this.leader = undefined;
    this.#elect();
  }

  /** `cluster/kick`: it counts no more. */
  kick(id: string): void {
    this.servers.delete(id);
    this.leave(id);
  }

  #elect(): void {
    if (this.leader !== undefined) return;
    for (const [id, process] of this.#live) {
      const stand = (): void => {
        if (this.leader !== undefined || !this.#hasMajority || this.#live.get(id) !== process) return;
        if (!this.servers.has(id)) return;
        this.leader = id;
        this.term += 1;
      };
      if (this.servers.size === 1) stand();
      else void pause(process, electionTime).then((isThere) => isThere && stand());
    }
  }
}

/** An id as `ovsdb-tool` makes one. */
function newId({ random }: Process): string {
  const word = () =>
    Math.floor(random.next() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  const [one, two, three, four] = [word(), word(), word(), word()];
  return `${one}-${two.slice(4)}-4${two.slice(1, 4)}-8${three.slice(5)}-${three.slice(0, 4)}${four}`;
}

/** `ovsdb-tool create-cluster`: the rows of a file become those of a cluster of one. */
export function createCluster(process: Process, database: OvsDatabase, address: string): void {
  const id = newId(process);
  const cluster = new RaftCluster(newId(process), database.tables);
  cluster.servers.set(id, address);
  database.raft = { id, address, remotes: [], cluster };
}

/** `ovsdb-tool join-cluster`: a file without rows, of a server that asks these to be let in. */
export function joinCluster(
  process: Process,
  database: OvsDatabase,
  address: string,
  remotes: readonly string[],
): void {
  database.tables = new Map();
  database.raft = { id: newId(process), address, remotes };
}

/** Whether a server has the rows of a database: of one that joins not even the name is there. */
export function isKnown({ raft }: OvsDatabase): boolean {
  return raft === undefined || raft.cluster !== undefined;
}

/** What a client that wants the leader meets at a server that has none. @throws SystemError ECONNREFUSED */
export function demandLeader({ raft }: OvsDatabase): void {
  if (raft?.cluster === undefined) return;
  if (raft.cluster.leader === undefined || !raft.cluster.servers.has(raft.id))
    throw new SystemError('ECONNREFUSED', 'Connection refused');
}

/** What `_Server` says of a database in its column `cid`. */
export function clusterIdOf({ raft }: OvsDatabase): unknown {
  return raft === undefined ? ['set', []] : ['uuid', raft.cluster?.id ?? nobody];
}

const short = (id: string | undefined): string => id?.slice(0, 4) ?? 'unknown';

/** Commands of a control socket about the cluster; none of a standalone database. */
export function raftCommands(database: OvsDatabase): Readonly<Record<string, (...words: string[]) => string>> {
  const { raft } = database;
  if (raft === undefined) return {};
  const demandName = (name: string | undefined): void => {
    if (name !== database.name) throw new CommandError('unknown cluster');
  };
  return {
    'cluster/sid': (name) => {
      demandName(name);
      return raft.id;
    },
    'cluster/status': (name) => {
      demandName(name);
      return statusOf(database.name, raft);
    },
    'cluster/kick': (name, id = '') => {
      demandName(name);
      const { cluster } = raft;
      const found = [...(cluster?.servers.keys() ?? [])].find((one) => one.startsWith(id));
      if (cluster === undefined || found === undefined) throw new CommandError('unknown server');
      if (cluster.leader === undefined) throw new CommandError('no leader');
      cluster.kick(found);
      return cluster.leader === raft.id ? 'started removal' : 'sent removal request to leader';
    },
  };
}

function statusOf(name: string, { id, address, remotes, cluster }: RaftFile): string {
  const isIn = cluster?.servers.has(id) === true;
  const status = cluster === undefined ? 'joining cluster' : isIn ? 'cluster member' : 'removed from cluster';
  const leader = isIn ? cluster.leader : undefined;
  const servers = [...(cluster?.servers ?? [])].map(
    ([one, its]) =>
      `    ${short(one)} (${short(one)} at ${its})${one === id ? ' (self)' : ''} next_index=2 match_index=2`,
  );
  return [
    short(id),
    `Name: ${name}`,
    `Cluster ID: ${cluster === undefined ? 'not yet known' : `${short(cluster.id)} (${cluster.id})`}`,
    `Server ID: ${short(id)} (${id})`,
    `Address: ${address}`,
    `Status: ${status}`,
    ...(cluster === undefined ? [`Remotes for joining: ${remotes.join(' ')}`] : []),
    `Role: ${leader === id ? 'leader' : isIn && leader === undefined ? 'candidate' : 'follower'}`,
    `Term: ${cluster?.term ?? 0}`,
    `Leader: ${leader === id ? 'self' : short(leader)}`,
    'Servers:',
    ...servers,
  ].join('\n');
}

/** What a server asks another one: to let it in, or for its cluster; that connection stays, and tells of the end of either. */
interface Request {
  readonly wants: 'join' | 'hello';
  readonly name: OvsDatabase['name'];
  readonly id: string;
  readonly address: string;
}

/** A server of a cluster listens at its address, and joins, or finds the others. @returns what ends that, in order */
export function takePart(process: Process, database: OvsDatabase, log: (text: string) => void): () => void {
  const { raft } = database;
  if (raft === undefined) return () => undefined;
  const member = { process, database, raft };
  let listener: Listener | undefined;
  const open = async (): Promise<void> => {
    do listener = listen(member, log);
    while (listener === undefined && (await pause(process, 1000)));
  };
  void open();
  void enter(member);
  return () => {
    listener?.close();
    raft.cluster?.leave(raft.id);
  };
}

interface Member {
  readonly process: Process;
  readonly database: OvsDatabase;
  readonly raft: RaftFile;
}

/** Host and port of `tcp:host:port`. */
function placeOf(address: string): { readonly host: string; readonly port: number } {
  const [, host = '', port = ''] = /^(?:tcp|ssl):(.+):(\d+)$/.exec(address) ?? [];
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

/** It must listen on its own address, which has to resolve to this host; else it tries again. */
function listen(member: Member, log: (text: string) => void): Listener | undefined {
  const { process, raft } = member;
  const { host, port } = placeOf(raft.address);
  try {
    const [own] = process.network.lookup(host);
    return process.network.listen(port, 'raft', () => sessionOf(member), { ...(own !== undefined && { host: own }) });
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    log(`socket_util|ERR|${port}:${host}: bind: ${error.reason}`);
    log(`raft|WARN|ptcp:${port}:${host}: listen failed (${error.reason})`);
    return undefined;
  }
}

function sessionOf(member: Member) {
  const { process, database, raft } = member;
  let peer: Request | undefined;
  const answer = async (request: Request): Promise<RaftCluster | undefined> => {
    const { cluster } = raft;
    if (request.name !== database.name || cluster === undefined) return undefined;
    if (request.wants === 'hello') peer = request;
    // The leader sends what the new one lacks to its address.
    else if (cluster.leader === undefined || (await reach(process, request.address)) !== 'there') return undefined;
    else cluster.servers.set(request.id, request.address);
    return cluster;
  };
  return { receive: answering(answer), closed: () => void (peer !== undefined && notice(member, peer)) };
}

/** A connection to another server has ended: that may have, too. */
async function notice({ process, raft }: Member, { id, address }: Pick<Request, 'id' | 'address'>): Promise<void> {
  // Who has ended itself never comes back from here.
  if ((await pause(process, 100)) && (await reach(process, address)) === 'gone') raft.cluster?.leave(id);
}

/** `gone`: its host says that nobody listens, or there is no such host; `unknown`: the network says nothing. */
async function reach(process: Process, address: string): Promise<'there' | 'gone' | 'unknown'> {
  const { host, port } = placeOf(address);
  try {
    (await process.network.connect(host, port, 'raft')).close();
    return 'there';
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    return error.code === 'ETIMEDOUT' ? 'unknown' : 'gone';
  }
}

async function enter(member: Member): Promise<void> {
  const { process, database, raft } = member;
  while (raft.cluster === undefined) {
    for (const remote of raft.remotes) {
      const cluster = await meet(member, remote, 'join');
      if (cluster === undefined) continue;
      raft.cluster = cluster;
      break;
    }
    if (raft.cluster === undefined && !(await pause(process, 1000))) return;
  }
  const { cluster } = raft;
  database.tables = cluster.tables;
  for (;;) {
    const others = [...cluster.servers].filter(([id]) => id !== raft.id && cluster.live.includes(id));
    let met = 0;
    for (const [id, address] of others) {
      if ((await meet(member, address, 'hello', id)) === cluster) met += 1;
      else if ((await reach(process, address)) === 'gone') cluster.leave(id);
    }
    if (process.signal.aborted) return;
    if (met > 0 || cluster.live.every((id) => id === raft.id)) break;
    if (!(await pause(process, 1000))) return;
  }
  cluster.arrive(raft.id, process);
}

/** Asks the server at an address for its cluster. @returns undefined when it is not there, or cannot */
async function meet(
  member: Member,
  remote: string,
  wants: Request['wants'],
  id = '',
): Promise<RaftCluster | undefined> {
  const { process, database, raft } = member;
  const { host, port } = placeOf(remote);
  try {
    const connection = await process.network.connect(host, port, 'raft');
    const request: Request = { wants, name: database.name, id: raft.id, address: raft.address };
    const cluster = await ask<RaftCluster | undefined>(connection, request);
    if (wants === 'join' || cluster === undefined) connection.close();
    else
      connection.closed.addEventListener('abort', () => void notice(member, { id, address: remote }), { once: true });
    return cluster;
  } catch (error) {
    if (error instanceof SystemError) return undefined;
    throw error;
  }
}
