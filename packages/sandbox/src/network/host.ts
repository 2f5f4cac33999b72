import { systemError } from '../programs/file-tree.ts';
import type { Protocol } from '../programs/program.ts';
import type { ServerSocket } from '../programs/socket.ts';

/** Names a pod. */
export interface PodRef {
  readonly namespace: string;
  readonly name: string;
}

/** What a client's socket is connected to, as the client sees it: a Service's own address, not that of its pod. */
export interface Remote {
  readonly address: string;
  readonly port: number;
}

/**
 * One network namespace: a pod's, or a node's, which pods with hostNetwork share. Sockets of all its processes stand
 * in one table.
 */
export class Host {
  readonly address: string;
  /** The pod whose namespace it is; absent for a node. */
  readonly pod: PodRef | undefined;
  /** The node it is on: itself for a node. */
  readonly node: Host;
  /** A host that is cut off answers nothing. */
  up = true;
  /** hostPort -> where it leads. Nodes only. */
  readonly forwards = new Map<number, { readonly host: Host; readonly port: number }>();
  /** Connections that its processes have opened, by the inode of their socket. */
  readonly connections = new Map<number, Remote & { readonly uid: number }>();
  #inodes = 0;
  readonly #sockets = new Map<number, ServerSocket[]>();

  constructor(options: { address: string; pod?: PodRef; node?: Host }) {
    this.address = options.address;
    this.pod = options.pod;
    this.node = options.node ?? this;
  }

  /** Notes a connection until it is closed, and gives the inode of its socket. */
  opened(remote: Remote, uid: number, closed: AbortSignal): number {
    const inode = ++this.#inodes;
    this.connections.set(inode, { ...remote, uid });
    closed.addEventListener('abort', () => this.connections.delete(inode), { once: true });
    return inode;
  }

  /** @throws SystemError EADDRINUSE, EADDRNOTAVAIL */
  bind(port: number, socket: ServerSocket): void {
    const { bindAddress } = socket;
    const own = isAny(bindAddress) || isLoopback(bindAddress) || bindAddress === this.address;
    if (!own) throw systemError('EADDRNOTAVAIL', `${bindAddress}:${port}`);
    const sockets = this.#sockets.get(port) ?? [];
    const conflict = sockets.some(
      (other) => isAny(other.bindAddress) || isAny(bindAddress) || other.bindAddress === bindAddress,
    );
    if (conflict) throw systemError('EADDRINUSE', `${bindAddress}:${port}`);
    this.#sockets.set(port, [...sockets, socket]);
  }

  unbind(port: number, socket: ServerSocket): void {
    const rest = (this.#sockets.get(port) ?? []).filter((other) => other !== socket);
    if (rest.length > 0) this.#sockets.set(port, rest);
    else this.#sockets.delete(port);
  }

  /** The socket that a connect to one of the host's addresses reaches. */
  socketAt(address: string, port: number): ServerSocket | undefined {
    const wanted = ownLoopback(address) ?? address;
    return this.#sockets.get(port)?.find(({ bindAddress }) => isAny(bindAddress) || bindAddress === wanted);
  }

  /** Ports somebody listens on, for messages. */
  ports(): { port: number; protocol: Protocol }[] {
    return [...this.#sockets].flatMap(([port, sockets]) => sockets.map(({ protocol }) => ({ port, protocol })));
  }
}

/** The loopback address that a name stands for. 127.0.0.0/8 has more of them: who listens on one does not hear another. */
export function ownLoopback(address: string): string | undefined {
  return address === '::1' || address === 'localhost' ? '127.0.0.1' : undefined;
}

/** Whether an address stands for the host itself. */
export function isLoopback(address: string): boolean {
  return address === '::1' || address === 'localhost' || address.startsWith('127.');
}

function isAny(address: string): boolean {
  return address === '0.0.0.0' || address === '::' || address === '*' || address === '';
}
