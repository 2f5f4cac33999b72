import type { ContainerFileSystem } from '../programs/file-system.ts';
import { systemError } from '../programs/file-tree.ts';
import type { Connection, Listener, ListenOptions, Network, Peer, Protocol, Session } from '../programs/program.ts';
import type { ServerSocket } from '../programs/socket.ts';
import type { ClusterNetwork } from './cluster-network.ts';
import { closeSocket, connectSocket } from './connection.ts';
import type { Resolver } from './dns.ts';
import { type Host, ownLoopback } from './host.ts';

const FIRST_UNPRIVILEGED_PORT = 1024;
const UMASK = 0o022;

/** The network as the processes of one container see it; `shutDown` ends all that they have opened. */
export class ProcessNetwork implements Network {
  readonly #cluster: ClusterNetwork;
  readonly #host: Host;
  readonly #resolver: Resolver;
  readonly #files: ContainerFileSystem;
  readonly #uid: number;
  readonly #mayBindLowPorts: boolean;
  readonly #open = new Set<{ close(): void }>();
  #ended = false;

  constructor(options: {
    cluster: ClusterNetwork;
    host: Host;
    resolver: Resolver;
    files: ContainerFileSystem;
    uid: number;
  }) {
    this.#cluster = options.cluster;
    this.#host = options.host;
    this.#resolver = options.resolver;
    this.#files = options.files;
    this.#uid = options.uid;
    // containerd lets everybody bind low ports within a pod's own network, not within the node's.
    this.#mayBindLowPorts = options.uid === 0 || options.host.pod !== undefined;
  }

  listen(
    address: number | `unix:${string}`,
    protocol: Protocol,
    accept: (peer: Peer) => Session,
    options: ListenOptions = {},
  ): Listener {
    this.#demandAlive();
    const host = options.host ?? '0.0.0.0';
    const socket: ServerSocket = {
      protocol,
      accept,
      bindAddress: ownLoopback(host) ?? host,
      connections: new Set(),
      open: true,
    };
    const release =
      typeof address === 'number' ? this.#bindPort(address, socket) : this.#bindPath(address, socket, options);
    const listener = {
      close: () => {
        if (!this.#open.delete(listener)) return;
        release();
        closeSocket(socket);
      },
    };
    this.#open.add(listener);
    return listener;
  }

  async connect(host: string, port: number, protocol: Protocol): Promise<Connection> {
    return (await this.#connect(host, port, protocol)).connection;
  }

  /** The same network as one process has it: `onOpen` is told the inode of each TCP connection that it opens. */
  of(onOpen: (inode: number, closed: AbortSignal) => void): Network {
    return {
      listen: (...words) => this.listen(...words),
      connectUnix: (...words) => this.connectUnix(...words),
      lookup: (host) => this.lookup(host),
      connect: async (...words) => {
        const { connection, inode } = await this.#connect(...words);
        onOpen(inode, connection.closed);
        return connection;
      },
    };
  }

  async #connect(host: string, port: number, protocol: Protocol) {
    this.#demandAlive();
    const found = await this.#cluster.connect(this.#host, host, port, protocol, this.#resolver);
    const connection = this.#track(found);
    return { connection, inode: this.#host.opened(found.remote, this.#uid, connection.closed) };
  }

  async connectUnix(path: string, protocol: Protocol): Promise<Connection> {
    this.#demandAlive();
    const socket = this.#files.socketAt(path);
    if (socket.protocol !== protocol) throw systemError('EPROTO', path);
    const peer = { address: path, ...(this.#host.pod && { pod: this.#host.pod }) };
    return this.#track(connectSocket(socket, peer, path));
  }

  lookup(host: string): string[] {
    this.#demandAlive();
    return [...this.#cluster.lookup(this.#host, host, this.#resolver)];
  }

  /** Closes every socket and connection, as the kernel does when the last process has gone. */
  shutDown(): void {
    this.#ended = true;
    for (const open of this.#open) open.close();
  }

  #bindPort(port: number, socket: ServerSocket): () => void {
    if (port < FIRST_UNPRIVILEGED_PORT && !this.#mayBindLowPorts) throw systemError('EACCES', `:${port}`);
    this.#host.bind(port, socket);
    return () => this.#host.unbind(port, socket);
  }

  #bindPath(address: string, socket: ServerSocket, { mode = 0o777 }: ListenOptions): () => void {
    const node = this.#files.bindSocket(address.slice('unix:'.length), socket, mode & ~UMASK);
    return () => {
      delete node.server;
    };
  }

  #track(connection: Connection): Connection {
    if (this.#ended) {
      connection.close();
      throw systemError('ECONNRESET', this.#host.address);
    }
    this.#open.add(connection);
    connection.closed.addEventListener('abort', () => this.#open.delete(connection), { once: true });
    return connection;
  }

  #demandAlive(): void {
    if (this.#ended) throw systemError('ECONNRESET', this.#host.address);
  }
}
