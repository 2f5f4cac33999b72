import type { TLSSocket } from 'node:tls';
import { ConnectionError } from '../objects/errors.ts';
import { type ConnectionSettings, defaultTls, openConnection, type TlsSettings } from './connection.ts';
import { type Http2Session, openHttp2Session, refused } from './http2-session.ts';
import type { HttpRequest, HttpResponse, Transport } from './transport.ts';

/** The server does not speak HTTP/2 (its ALPN answer says so). */
export const noHttp2 = 'ERR_NO_HTTP2';

/** How often a request is sent again that the server did nothing with. */
const maxRefusals = 10;

interface Waiting {
  readonly resolve: (session: Http2Session) => void;
  readonly reject: (error: unknown) => void;
}

/** The sessions for one sort of requests. */
interface Lane {
  /** Opens another session when all are full; else requests wait for their turn. */
  readonly grows: boolean;
  /** Sessions that take requests -> how many run on each. */
  readonly sessions: Map<Http2Session, number>;
  readonly waiting: Set<Waiting>;
  opening: boolean;
  tls: TlsSettings | undefined;
}

/**
 * Requests over HTTP/2: streams (watches, followed logs) on a session of their own, so that they and
 * the rest do not wait for one another.
 * A server's limit of concurrent streams is kept: then streams open another session, other requests wait.
 *
 * After GOAWAY a new session takes over and the old one ends when its streams have; what the server did not process is
 * sent again, and so are reads that were lost. A silent peer is pinged after 30 s and given up after 45 s. Sessions
 * without requests do not keep the process alive. With an `http://` server it speaks HTTP/2 from the first byte.
 *
 * Errors: ConnectionError with the code of the socket or of TLS, `ECONNRESET` when the connection was lost,
 * `ERR_NO_HTTP2` when the server chose another protocol.
 */
export function createHttp2Transport(settings: ConnectionSettings): Transport {
  const streams: Lane = newLane(true);
  const others: Lane = newLane(false);
  /** Those that drain as well. */
  const all = new Set<Http2Session>();
  let closed = false;
  const closedError = () => new ConnectionError('ECONNABORTED', `${settings.server}: the transport is closed`);

  async function open(lane: Lane): Promise<void> {
    lane.opening = true;
    const tls = lane.tls ?? defaultTls;
    try {
      const socket = await openConnection(settings, tls, ['h2', 'http/1.1']);
      if ('alpnProtocol' in socket && (socket as TLSSocket).alpnProtocol !== 'h2') {
        socket.destroy();
        throw new ConnectionError(noHttp2, `${settings.server}: the server does not speak HTTP/2`);
      }
      const session = await openHttp2Session({
        server: settings.server,
        socket,
        clock: settings.clock,
        onChange: () => pump(lane),
        onRequestEnd: () => {
          const running = lane.sessions.get(session);
          if (running !== undefined) lane.sessions.set(session, running - 1);
          pump(lane);
        },
        onClose: () => all.delete(session),
      });
      all.add(session);
      if (closed) session.destroy(closedError());
      else if (tls === (lane.tls ?? defaultTls)) lane.sessions.set(session, 0);
      else session.close();
    } catch (error) {
      for (const { reject } of lane.waiting) reject(error);
      lane.waiting.clear();
    } finally {
      lane.opening = false;
    }
    pump(lane);
  }

  /** Gives those who wait a session, first come, first served. */
  function pump(lane: Lane): void {
    for (const session of lane.sessions.keys()) if (!session.usable) lane.sessions.delete(session);
    for (const waiting of lane.waiting) {
      const [session, running = 0] = [...lane.sessions].find(([{ limit }, running]) => running < limit) ?? [];
      if (session === undefined) {
        if (!lane.opening && (lane.grows || lane.sessions.size === 0)) void open(lane);
        return;
      }
      lane.sessions.set(session, running + 1);
      lane.waiting.delete(waiting);
      waiting.resolve(session);
    }
  }

  function acquire(lane: Lane, signal: AbortSignal | undefined): Promise<Http2Session> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        lane.waiting.delete(waiting);
        reject(signal?.reason);
      };
      const settled = () => signal?.removeEventListener('abort', onAbort);
      const waiting: Waiting = {
        resolve: (session) => {
          settled();
          resolve(session);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      lane.waiting.add(waiting);
      pump(lane);
    });
  }

  async function request(request: HttpRequest, signal?: AbortSignal): Promise<HttpResponse> {
    const lane = request.stream ? streams : others;
    const tls = (await settings.tls?.()) ?? defaultTls;
    if (lane.tls !== tls) {
      lane.tls = tls;
      for (const session of lane.sessions.keys()) session.close();
    }
    let lost = false;
    for (let refusals = 0; ; ) {
      signal?.throwIfAborted();
      if (closed) throw closedError();
      const session = await acquire(lane, signal);
      try {
        return await session.send(request, signal);
      } catch (error) {
        if (!(error instanceof ConnectionError)) throw error;
        const again = error.code === refused ? ++refusals <= maxRefusals : request.method === 'GET' && !lost;
        if (!again) throw error;
        if (error.code !== refused) lost = true;
      }
    }
  }

  return {
    request,
    async close() {
      closed = true;
      const error = closedError();
      for (const lane of [streams, others]) {
        for (const { reject } of lane.waiting) reject(error);
        lane.waiting.clear();
      }
      for (const session of all) session.destroy(error);
    },
  };
}

function newLane(grows: boolean): Lane {
  return { grows, sessions: new Map(), waiting: new Set(), opening: false, tls: undefined };
}
