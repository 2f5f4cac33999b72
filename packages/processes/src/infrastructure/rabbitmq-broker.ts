import type { Peer, Session } from '@openstack-operator/sandbox';
import { type AmqpConsumer, AmqpError, type AmqpRequest } from './amqp-protocol.ts';
import type { Cluster } from './rabbitmq-cluster.ts';
import { answering } from './wire.ts';

/** Patterns of what a user may do in a virtual host. */
export interface Permissions {
  configure: string;
  write: string;
  read: string;
}

/** A user of the broker. */
export interface BrokerUser {
  password: string | undefined;
  tags: readonly string[];
  readonly permissions: Map<string, Permissions>;
}

/** A policy of a virtual host. */
export interface Policy {
  readonly pattern: string;
  readonly definition: object;
  readonly priority: unknown;
  readonly 'apply-to': unknown;
}

/** A queue, and the nodes that have a replica of it. */
export interface Queue {
  readonly arguments: Readonly<Record<string, string>>;
  readonly members: Set<string>;
}

/** A virtual host: queues are kept, consumers live as long as their connections. */
export interface VirtualHost {
  readonly queues: Map<string, Queue>;
  readonly policies: Map<string, Policy>;
}

/** What a node keeps on disk. */
export interface BrokerState {
  readonly users: Map<string, BrokerUser>;
  readonly virtualHosts: Map<string, VirtualHost>;
  /** Names of the nodes of its cluster; none before its first start. */
  readonly nodes: Set<string>;
  /** False until the first start has made the default user. */
  initialized: boolean;
}

/** A node without anything. */
export function emptyBroker(): BrokerState {
  return { users: new Map(), virtualHosts: new Map(), nodes: new Set(), initialized: false };
}

/** Makes a virtual host, unless it is there. */
export function addVirtualHost(state: BrokerState, name: string): boolean {
  if (state.virtualHosts.has(name)) return false;
  state.virtualHosts.set(name, { queues: new Map(), policies: new Map() });
  return true;
}

/** Who takes messages of a queue: of its virtual host and its name. */
export interface Consumer {
  readonly key: string;
  readonly handler: AmqpConsumer;
}

/** New queues have a replica on so many nodes at most (quorum_cluster_size). */
const replicas = 3;

/** A running broker: its state, and the cluster that has the consumers of all connections that are open. */
export class Broker {
  readonly state: BrokerState;
  readonly cluster: Cluster;
  readonly #loopbackUsers: readonly string[];
  readonly #log: (text: string) => void;

  constructor(state: BrokerState, cluster: Cluster, loopbackUsers: readonly string[], log: (text: string) => void) {
    this.state = state;
    this.cluster = cluster;
    this.#loopbackUsers = loopbackUsers;
    this.#log = log;
  }

  /** The user whose name and password these are; some may come from the node itself only, as `guest`. */
  authentic(name: string, password: string, { address }: Peer): BrokerUser | undefined {
    const found = this.state.users.get(name);
    if (found?.password === undefined || found.password !== password) return undefined;
    const isAllowed = !this.#loopbackUsers.includes(name) || ['127.0.0.1', '::1'].includes(address);
    return isAllowed ? found : undefined;
  }

  /** Serves one AMQP connection to a port. */
  accept(peer: Peer, port: number): Session {
    this.#log(`[info] <0.900.0> accepting AMQP connection ${peer.address}:40000 -> ${port}`);
    let opened: { user: string; virtualHost: string } | undefined;
    const mine: Consumer[] = [];
    const cancel = () => {
      for (const consumer of mine) this.cluster.consumers.delete(consumer);
    };
    const answer = (request: AmqpRequest): unknown => {
      if (request.type === 'open') {
        this.#open(request, peer, port);
        opened = { user: request.user, virtualHost: request.virtualHost };
        return undefined;
      }
      if (opened === undefined) throw new AmqpError(505, 'UNEXPECTED_FRAME - expected method frame');
      if (request.type === 'cancel') return cancel();
      const key = `${opened.virtualHost}\n${request.queue}`;
      if (request.type === 'declare') return this.#declare(opened, request.queue, request.arguments);
      if (request.type === 'consume') {
        this.#demand(opened, 'read', 'queue', request.queue);
        const consumer = { key, handler: request.handler };
        this.cluster.consumers.add(consumer);
        mine.push(consumer);
        this.cluster.changed();
        return undefined;
      }
      this.#demand(opened, 'write', 'exchange', 'openstack');
      return this.#deliver(
        key,
        request.message,
        this.state.virtualHosts.get(opened.virtualHost)?.queues.get(request.queue),
      );
    };
    return {
      receive: answering(answer),
      closed: cancel,
    };
  }

  #open({ user, password, virtualHost }: AmqpRequest & { type: 'open' }, peer: Peer, port: number): void {
    const account = this.authentic(user, password, peer);
    if (account === undefined) {
      this.#log(
        `[error] <0.900.0> Error on AMQP connection <0.900.0> (${peer.address}:40000 -> ${port}, state: starting):\n[error] <0.900.0> PLAIN login refused: user '${user}' - invalid credentials`,
      );
      throw new AmqpError(
        403,
        'ACCESS_REFUSED - Login was refused using authentication mechanism AMQPLAIN. For details see the broker logfile.',
      );
    }
    if (!this.state.virtualHosts.has(virtualHost))
      throw new AmqpError(530, `NOT_ALLOWED - vhost ${virtualHost} not found`);
    if (!account.permissions.has(virtualHost))
      throw new AmqpError(530, `NOT_ALLOWED - access to vhost '${virtualHost}' refused for user '${user}'`);
    this.#log(
      `[info] <0.900.0> connection ${peer.address}:40000 -> ${port}: user '${user}' authenticated and granted access to vhost '${virtualHost}'`,
    );
  }

  #demand(who: { user: string; virtualHost: string }, action: keyof Permissions, kind: string, name: string): void {
    const pattern = this.state.users.get(who.user)?.permissions.get(who.virtualHost)?.[action];
    if (pattern !== undefined && pattern !== '' && new RegExp(`^(?:${pattern})$`).test(name)) return;
    throw new AmqpError(
      403,
      `ACCESS_REFUSED - ${action} access to ${kind} '${name}' in vhost '${who.virtualHost}' refused for user '${who.user}'`,
    );
  }

  #declare(who: { user: string; virtualHost: string }, queue: string, wanted: Readonly<Record<string, string>>): void {
    this.#demand(who, 'configure', 'queue', queue);
    const queues = this.state.virtualHosts.get(who.virtualHost)?.queues;
    const known = queues?.get(queue)?.arguments;
    if (known === undefined) {
      queues?.set(queue, { arguments: wanted, members: new Set([...this.cluster.nodes].slice(0, replicas)) });
      return;
    }
    for (const name of new Set([...Object.keys(known), ...Object.keys(wanted)])) {
      if (known[name] === wanted[name]) continue;
      const received = wanted[name] === undefined ? 'none' : `the value '${wanted[name]}' of type 'longstr'`;
      const current = known[name] === undefined ? 'none' : `'${known[name]}'`;
      throw new AmqpError(
        406,
        `PRECONDITION_FAILED - inequivalent arg '${name}' for queue '${queue}' in vhost '${who.virtualHost}': received ${received} but current is ${current}`,
      );
    }
  }

  /** A queue without most of its replicas takes and gives nothing. */
  async #deliver(key: string, message: unknown, queue: Queue | undefined): Promise<unknown> {
    for (;;) {
      const consumer = [...this.cluster.consumers].find((one) => one.key === key);
      const isThere = queue === undefined || this.cluster.hasMost(queue.members);
      if (consumer !== undefined && isThere) return consumer.handler(message);
      await this.cluster.change();
    }
  }
}
