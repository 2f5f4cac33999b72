import * as http from 'node:http';
import type { Socket } from 'node:net';
import { createSemaphore } from '../base/semaphore.ts';
import { ConnectionError } from '../objects/errors.ts';
import {
  type ConnectionSettings,
  connectionErrorOf,
  defaultTls,
  openConnection,
  parseServer,
  pathPrefix,
  type TlsSettings,
} from './connection.ts';
import type { HttpRequest, HttpResponse, Transport } from './transport.ts';

/** Requests at once, streams aside; each stream has a connection of its own. */
const maxRequests = 32;

/** What `Agent.createConnection` is called back with. */
type Connected = (error: Error | null, socket?: Socket) => void;

/**
 * Requests over HTTP/1.1, on connections that are kept: for plain http (kube-apiserver speaks no HTTP/2 there), and for
 * servers or proxies that do not offer HTTP/2. Each stream holds a connection; the other requests share 32. Idle
 * connections do not keep the process alive; TCP keep-alive finds a peer that is gone after 40 s.
 *
 * A read on a kept connection that the server has just closed is sent again. Errors: ConnectionError with the code of
 * the socket or of TLS, `ECONNRESET` when the connection was lost.
 */
export function createHttp1Transport(settings: ConnectionSettings): Transport {
  const url = parseServer(settings.server);
  const prefix = pathPrefix(url);
  const sockets = new Set<Socket>();
  // Not the agent's own limit: it does not count connections that are still being made.
  const semaphore = createSemaphore(maxRequests);
  let current: { readonly tls: TlsSettings; readonly agent: http.Agent } | undefined;
  let closed = false;

  async function open(tls: TlsSettings, connected: Connected): Promise<void> {
    let socket: Socket;
    try {
      socket = await openConnection(settings, tls, ['http/1.1']);
    } catch (error) {
      connected(error as Error);
      return;
    }
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    if (closed) socket.destroy();
    connected(null, socket);
  }

  async function agentNow(): Promise<http.Agent> {
    const tls = (await settings.tls?.()) ?? defaultTls;
    if (current?.tls !== tls) {
      if (current) retire(current.agent);
      const agent = new http.Agent({ keepAlive: true, maxFreeSockets: maxRequests });
      agent.createConnection = (_options, callback) => {
        void open(tls, callback as Connected);
        return undefined;
      };
      current = { tls, agent };
    }
    return current.agent;
  }

  function send(
    request: HttpRequest,
    agent: http.Agent,
    signal: AbortSignal | undefined,
    { onStale, onEnd }: { onStale: () => void; onEnd: () => void },
  ): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      const outgoing = http.request({
        agent,
        method: request.method,
        path: prefix + request.path,
        host: url.hostname,
        port: url.port,
        headers: {
          ...(request.headers as http.OutgoingHttpHeaders | undefined),
          ...(request.body === undefined ? {} : { 'content-length': Buffer.byteLength(request.body) }),
          host: url.host,
        },
      });
      const onAbort = () => outgoing.destroy(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
      signal?.addEventListener('abort', onAbort, { once: true });
      outgoing.once('close', () => {
        signal?.removeEventListener('abort', onAbort);
        onEnd();
      });
      outgoing.on('error', (error) => {
        if (outgoing.reusedSocket) onStale();
        reject(signal?.aborted ? signal.reason : connectionErrorOf(error, settings.server));
      });
      outgoing.once('response', (response) => {
        resolve({
          status: response.statusCode ?? 0,
          headers: Object.fromEntries(
            Object.entries(response.headersDistinct).map(([name, values]) => [name, values?.join(', ')]),
          ),
          body: read(response, signal),
        });
      });
      outgoing.end(request.body);
    });
  }

  async function* read(response: http.IncomingMessage, signal: AbortSignal | undefined) {
    try {
      for await (const chunk of response) yield chunk as Uint8Array;
    } catch (error) {
      signal?.throwIfAborted();
      throw connectionErrorOf(error, settings.server);
    }
  }

  return {
    async request(request, signal) {
      for (;;) {
        if (closed) throw new ConnectionError('ECONNABORTED', `${settings.server}: the transport is closed`);
        const agent = await agentNow();
        const onEnd = request.stream ? () => {} : await semaphore.acquire(signal);
        let stale = false;
        const onStale = () => {
          stale = request.method === 'GET' && !closed && !signal?.aborted;
        };
        try {
          signal?.throwIfAborted();
          return await send(request, agent, signal, { onStale, onEnd });
        } catch (error) {
          onEnd();
          // The server may close a kept connection at the moment of its use; the next one may be stale as well.
          if (!stale) throw error;
        }
      }
    },
    async close() {
      closed = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Lets what runs end; its connections are not used again. */
function retire(agent: http.Agent): void {
  agent.maxFreeSockets = 0;
  for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
}
