import type { Peer, Protocol, Session } from './program.ts';

/** A listening socket, TCP or Unix: what a connect finds at the other end. */
export interface ServerSocket {
  readonly protocol: Protocol;
  readonly accept: (peer: Peer) => Session;
  /** The address it is bound to: `0.0.0.0`, `127.0.0.1`, or one of the host's own. Unix sockets have none. */
  readonly bindAddress: string;
  /** Connections that end when the socket's process ends. */
  readonly connections: Set<{ close(): void }>;
  open: boolean;
}
