import { systemError } from '../programs/file-tree.ts';
import type { Connection, Peer } from '../programs/program.ts';
import type { ServerSocket } from '../programs/socket.ts';

/**
 * Connects to a listening socket: the server's `accept` sees the peer at once. The connection ends when either side
 * closes it or the server's process ends; calls under way then fail with ECONNRESET.
 */
export function connectSocket(
  socket: ServerSocket,
  peer: Peer,
  subject: string,
): Connection & { readonly socket: ServerSocket } {
  const controller = new AbortController();
  const session = socket.accept(peer);
  const close = () => {
    if (controller.signal.aborted) return;
    socket.connections.delete(ends);
    controller.abort();
    session.closed?.();
  };
  const ends = { close };
  socket.connections.add(ends);
  return {
    socket,
    closed: controller.signal,
    close,
    call(message) {
      return new Promise((resolve, reject) => {
        const onClosed = () => reject(systemError('ECONNRESET', subject));
        if (controller.signal.aborted) return onClosed();
        controller.signal.addEventListener('abort', onClosed, { once: true });
        const settled = () => controller.signal.removeEventListener('abort', onClosed);
        session.receive(message).then(
          (reply) => {
            settled();
            resolve(reply);
          },
          // A server whose handler fails drops the connection: its error is not the client's to see.
          () => {
            settled();
            close();
            onClosed();
          },
        );
      });
    },
  };
}

/** Ends a listening socket and all its connections. */
export function closeSocket(socket: ServerSocket): void {
  socket.open = false;
  for (const connection of socket.connections) connection.close();
}
