import { type Connection, type Process, SystemError } from '@openstack-operator/sandbox';
import { pause } from '../program-support.ts';
import type { BrokerState, Consumer } from './rabbitmq-broker.ts';
import { type RabbitmqSettings, startupError } from './rabbitmq-config.ts';
import { answering, ask } from './wire.ts';

/** Where Erlang's distribution listens. */
export const distributionPort = 25_672;

/** A node of Erlang, as others reach it by its distribution. */
export interface ErlangNode {
  readonly name: string;
  /** Of a broker that has come so far; it is not over while it pauses. */
  cluster?: Cluster;
  /** What a broker that serves has. */
  state?: BrokerState;
}

/** What a node or a command-line tool asks a node. */
export interface NodeRequest {
  readonly cookie: string;
  /** Who asks, if that is a node: it stays connected. */
  readonly from?: string;
  readonly run: (node: ErlangNode) => unknown;
}

/**
 * Brokers that have the same users, virtual hosts and queues: a change at one is a change at all, so that they hold the same
 * maps. Live nodes that cannot reach each other are not modelled.
 */
export class Cluster {
  /** Names of its members. */
  readonly nodes: Set<string>;
  readonly consumers = new Set<Consumer>();
  /** Names of the nodes that answer, and what they do when others come and go. */
  readonly #up = new Map<string, () => void>();
  readonly #waiting: (() => void)[] = [];

  constructor(nodes: Set<string>) {
    this.nodes = nodes;
  }

  /** Whether most members are there: those that are go on (`pause_minority`). */
  get hasMajority(): boolean {
    return this.hasMost(this.nodes);
  }

  isUp(name: string): boolean {
    return this.#up.has(name);
  }

  hasMost(names: ReadonlySet<string>): boolean {
    return [...names].filter((name) => this.#up.has(name)).length * 2 > names.size;
  }

  /** A node answers, until its connection ends. */
  came(name: string, changed: () => void = () => undefined): void {
    this.#up.set(name, changed);
    this.changed();
  }

  left(name: string): void {
    if (this.#up.delete(name)) this.changed();
  }

  /** Resolves at the next change of members or consumers. */
  async change(): Promise<void> {
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  changed(): void {
    for (const tell of this.#up.values()) tell();
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

/** Listens for other nodes and tools: who has another cookie gets no answer. */
export function listenAsNode(process: Process, node: ErlangNode, cookie: string, port = distributionPort) {
  return process.network.listen(port, 'raw', () => {
    let peer: string | undefined;
    return {
      receive: answering((request: NodeRequest) => {
        if (request.cookie !== cookie) return undefined;
        peer = request.from;
        return request.run(node);
      }),
      closed: () => void (peer !== undefined && isAlive(process) && node.cluster?.left(peer)),
    };
  });
}

/** Whether a process has not ended itself: it then does not tell of others. */
function isAlive({ network }: Process): boolean {
  try {
    return network.lookup('localhost').length > 0;
  } catch (error) {
    if (error instanceof SystemError && error.code === 'ECONNRESET') return false;
    throw error;
  }
}

/** A node, and the connection to it. */
interface Link {
  readonly node: ErlangNode;
  readonly connection: Connection;
}

async function reach(process: Process, cookie: string, from: string, name: string): Promise<Link | undefined> {
  try {
    const connection = await process.network.connect(name.split('@')[1] ?? '', distributionPort, 'raw');
    const request: NodeRequest = { cookie, from, run: (node) => node };
    const node = await ask<ErlangNode | undefined>(connection, request);
    if (node?.name === name) return { node, connection };
    connection.close();
    return undefined;
  } catch (error) {
    if (error instanceof SystemError) return undefined;
    throw error;
  }
}

/** What a node becomes a member with. */
export interface Starting {
  readonly node: ErlangNode;
  readonly state: BrokerState;
  readonly cookie: string;
  readonly settings: RabbitmqSettings;
  readonly log: (text: string) => void;
}

/**
 * Begins a cluster, joins one by peer discovery, or comes back to its own.
 * @returns undefined when the process is told to end
 * @throws CommandError when it is not one of its cluster's any more, or waits in vain
 */
export async function becomeMember(process: Process, starting: Starting): Promise<Cluster | undefined> {
  const { node, state } = starting;
  const cluster = state.nodes.size === 0 ? await discover(process, starting) : await comeBack(process, starting);
  if (cluster === undefined) return undefined;
  Object.assign(node, { cluster });
  process.files.write(
    `${starting.settings.dataDirectory}/cluster_nodes.config`,
    `{[${[...cluster.nodes].map((name) => `'${name}'`).join(',')}],[]}.\n`,
  );
  return cluster;
}

function begin({ node, state }: Starting): Cluster {
  state.nodes.add(node.name);
  return new Cluster(state.nodes);
}

async function discover(process: Process, starting: Starting): Promise<Cluster | undefined> {
  const { node, cookie, settings, log } = starting;
  const listed = settings.keys
    .filter((key) => key.startsWith('cluster_formation.classic_config.nodes.'))
    .map((key) => settings.get(key) ?? '')
    .filter((name) => name !== node.name);
  const tries = Number(settings.get('cluster_formation.discovery_retry_limit') ?? 30);
  for (let left = listed.length === 0 ? 0 : tries; left > 0; left -= 1) {
    for (const name of listed) {
      const link = await reach(process, cookie, node.name, name);
      const cluster = link?.node.cluster;
      if (cluster?.nodes.has(node.name) === true)
        log(
          `[warning] <0.254.0> Peer discovery: could not auto-cluster with node '${name}': {error,{inconsistent_cluster,"Mnesia: node '${name}' thinks it's clustered with node '${node.name}', but '${node.name}' disagrees"}}`,
        );
      else if (cluster !== undefined && link?.node.state !== undefined) {
        cluster.nodes.add(node.name);
        await join(process, starting, cluster);
        if (!(await pause(process, 1000))) return undefined;
        take(starting, link.node.state);
        return cluster;
      }
    }
    if (!(await pause(process, 1000))) return undefined;
  }
  return begin(starting);
}

/** A member with data finds the others again; where none runs, they wait until all are there, for half a minute ten times. */
async function comeBack(process: Process, starting: Starting): Promise<Cluster | undefined> {
  const { node, state, cookie, log } = starting;
  const others = [...state.nodes].filter((name) => name !== node.name);
  for (let second = 0; others.length > 0; second += 1) {
    const links: Link[] = [];
    for (const name of others) {
      const link = await reach(process, cookie, node.name, name);
      if (link !== undefined) links.push(link);
    }
    const { cluster, name = '' } = links.find((link) => link.node.cluster !== undefined)?.node ?? {};
    if (cluster?.nodes.has(node.name) === false)
      throw startupError(
        `{inconsistent_cluster,"Node '${node.name}' thinks it's clustered with node '${name}', but '${name}' disagrees"}`,
      );
    if (cluster !== undefined) {
      await join(process, starting, cluster);
      return cluster;
    }
    if (links.length === others.length && others.every((other) => node.name < other)) break;
    if (second % 30 === 0)
      log(`[info] <0.223.0> Waiting for Mnesia tables for 30000 ms, ${9 - second / 30} retries left`);
    if (second === 300) throw startupError(`{timeout_waiting_for_tables,[${others.join(',')}]}`);
    if (!(await pause(process, 1000))) return undefined;
  }
  return begin(starting);
}

function take({ state }: Starting, { users, virtualHosts, nodes }: BrokerState): void {
  Object.assign(state, { users, virtualHosts, nodes, initialized: true });
}

/** Connects to all others: the end of a connection tells of the end of a node. */
async function join(process: Process, { node, cookie }: Starting, cluster: Cluster): Promise<void> {
  cluster.came(node.name);
  for (const name of cluster.nodes) if (name !== node.name) await link(process, { node, cookie }, cluster, name);
}

async function link(
  process: Process,
  { node, cookie }: Pick<Starting, 'node' | 'cookie'>,
  cluster: Cluster,
  name: string,
): Promise<boolean> {
  const found = await reach(process, cookie, node.name, name);
  found?.connection.closed.addEventListener('abort', () => void (isAlive(process) && cluster.left(name)), {
    once: true,
  });
  return found !== undefined;
}

/** While a member pauses, it looks for those that it misses: whoever answers under their names counts. */
export async function lookForOthers(process: Process, starting: Starting, cluster: Cluster): Promise<void> {
  while (!cluster.hasMajority) {
    for (const name of cluster.nodes)
      if (!cluster.isUp(name) && (await link(process, starting, cluster, name))) cluster.came(name);
    if (!(await pause(process, 1000))) return;
  }
}
