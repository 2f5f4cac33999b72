import * as http2 from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock } from '../base/clock.ts';
import { ConnectionError } from '../objects/errors.ts';
import { connectionErrorOf, parseServer, pathPrefix } from './connection.ts';
import type { HttpRequest, HttpResponse } from './transport.ts';

/** The server did nothing with the request: any request may be sent again. */
export const refused = 'REFUSED_STREAM';

/** One HTTP/2 connection. */
export interface Http2Session {
  /** Whether new requests may be sent on it: false after GOAWAY, `close` or a loss. */
  readonly usable: boolean;
  /** Requests that the server allows at once. */
  readonly limit: number;
  /**
   * Sends a request.
   * @throws ConnectionError, with code `REFUSED_STREAM` when the server did nothing with it
   */
  send(request: HttpRequest, signal?: AbortSignal): Promise<HttpResponse>;
  /** Takes no more requests, and ends when those that run have ended. */
  close(): void;
  /** Ends at once; what runs fails with the error. */
  destroy(error: ConnectionError): void;
}

/** What a session is made of. */
export interface Http2SessionOptions {
  readonly server: string;
  readonly socket: Socket;
  readonly clock: Clock;
  /** The limit has changed, or the session takes no more requests. */
  readonly onChange: () => void;
  /** Once for each `send`. */
  readonly onRequestEnd: () => void;
  /** The connection is gone. */
  readonly onClose: () => void;
}

/** How often we look whether bytes came, in milliseconds. */
const tick = 5_000;
/** Silent ticks until a ping, and until the peer is given up: 30 s and 15 s more, as k8s.io/apimachinery's transport. */
const pingAfter = 6;
const deadAfter = 9;

/** Flow control: what a stream, and the connection, may hold that we have not read. The defaults (64 KiB) are slow. */
const streamWindow = 1 << 20;
const connectionWindow = 16 << 20;

/** Allowed requests until the server's SETTINGS say it; as Go's client. */
const initialLimit = 100;

/** Speaks HTTP/2 on a socket. Resolves when the session stands; it lets the process exit while no request runs. */
export async function openHttp2Session(options: Http2SessionOptions): Promise<Http2Session> {
  const { server, socket, clock, onChange, onRequestEnd } = options;
  const url = parseServer(server);
  const prefix = pathPrefix(url);
  const session = http2.connect(url, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: streamWindow },
    // Megabytes; above the default of 10, many big answers at once end in ENHANCE_YOUR_CALM (nodejs/node#29223).
    maxSessionMemory: 64,
  });
  let running = 0;
  let limit = initialLimit;
  let draining = false;
  let failure: Error | undefined;

  session.on('error', (error) => {
    failure = error;
  });
  session.on('goaway', () => {
    draining = true;
    onChange();
  });
  session.on('close', () => {
    failure ??= new ConnectionError('ECONNRESET', `${server}: the connection was closed`);
    options.onClose();
    onChange();
  });
  session.on('remoteSettings', ({ maxConcurrentStreams }) => {
    // A server that allows none would be asked for a session that does, for ever.
    limit = Math.max(1, maxConcurrentStreams ?? limit);
    onChange();
  });
  await new Promise<void>((resolve, reject) => {
    session.once('connect', () => resolve());
    session.once('close', () => reject(connectionErrorOf(failure, server)));
  });
  session.setLocalWindowSize(connectionWindow);
  session.unref();
  watchPeer(session, socket, clock, server);

  /** What became of a stream that ended without an answer, or in the middle of it. */
  function failureOf(stream: http2.ClientHttp2Stream, error: unknown): Error {
    if (error instanceof ConnectionError) return error;
    if (stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM) {
      return new ConnectionError(refused, `${server}: the server refused the stream`, { cause: error });
    }
    const cause = error ?? failure;
    if (cause instanceof ConnectionError) return cause;
    const detail = cause instanceof Error ? cause.message : `the stream was reset with code ${stream.rstCode}`;
    return new ConnectionError('ECONNRESET', `${server}: ${detail}`, { cause });
  }

  /**
   * The body of an answer. Not the stream's own iterator: it takes `closed`, which for HTTP/2 means that the last frame
   * has come, for `destroyed`, and throws ERR_STREAM_PREMATURE_CLOSE away what is still to be read.
   */
  async function* read(stream: http2.ClientHttp2Stream, signal: AbortSignal | undefined) {
    let wake = () => {};
    for (const event of ['readable', 'end', 'close']) stream.on(event, () => wake());
    try {
      while (!stream.readableEnded && !stream.destroyed) {
        const chunk = stream.read() as Uint8Array | null;
        if (chunk !== null) yield chunk;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      if (!stream.readableEnded) cancel(stream);
    }
    signal?.throwIfAborted();
    // Node ends the body of a stream that broke off as if it were whole; only the code tells.
    if (!stream.readableEnded || stream.rstCode) throw failureOf(stream, stream.errored);
  }

  function send(request: HttpRequest, signal?: AbortSignal): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      let stream: http2.ClientHttp2Stream;
      try {
        stream = session.request(
          {
            ...request.headers,
            ':method': request.method,
            ':path': prefix + request.path,
          },
          { endStream: request.body === undefined },
        );
      } catch (cause) {
        onRequestEnd();
        // Either the session was closed since it was chosen, or a header is none.
        const chosenTooLate = session.closed || session.destroyed;
        reject(chosenTooLate ? new ConnectionError(refused, `${server}: the session is closed`, { cause }) : cause);
        return;
      }
      if (running++ === 0) session.ref();
      let error: unknown;
      let answered = false;
      const onAbort = () => cancel(stream, signal?.reason);
      signal?.addEventListener('abort', onAbort, { once: true });
      stream.on('error', (cause) => {
        error = cause;
      });
      stream.once('response', (headers) => {
        answered = true;
        resolve({ status: Number(headers[':status']), headers: flat(headers), body: read(stream, signal) });
      });
      stream.once('close', () => {
        signal?.removeEventListener('abort', onAbort);
        if (--running === 0 && !session.destroyed) session.unref();
        onRequestEnd();
        // Every stream ends here, and an error that nobody hears of costs a stack trace.
        if (!answered) reject(signal?.aborted ? signal.reason : failureOf(stream, error));
      });
      if (request.body !== undefined) stream.end(request.body);
    });
  }

  return {
    get usable() {
      return !draining && !session.closed && !session.destroyed;
    },
    get limit() {
      return limit;
    },
    send,
    close: () => {
      draining = true;
      session.close();
    },
    // Without an error Node would end the bodies of the streams as if they were whole.
    destroy: (error) => session.destroy(error),
  };
}

/** Tells the server that we want no more of it. */
function cancel(stream: http2.ClientHttp2Stream, reason?: unknown): void {
  stream.close(http2.constants.NGHTTP2_CANCEL);
  stream.destroy(reason instanceof Error ? reason : undefined);
}

function flat(headers: http2.IncomingHttpHeaders): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !name.startsWith(':'))
      .map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

/**
 * Gives up a peer that is silent and does not answer a ping: without it a dead connection lasts a quarter of an hour.
 * Node's ping callback never comes then, so bytes count, of any kind. Many short ticks, and not one long timer: after
 * this process itself stood still, what has arrived meanwhile is read between two of them.
 */
function watchPeer(session: http2.ClientHttp2Session, socket: Socket, clock: Clock, server: string): void {
  let seen = socket.bytesRead;
  let silent = 0;
  const look = () => {
    if (session.destroyed) return;
    silent = socket.bytesRead === seen ? silent + 1 : 0;
    seen = socket.bytesRead;
    if (silent >= deadAfter) {
      const seconds = (deadAfter * tick) / 1000;
      session.destroy(new ConnectionError('ECONNRESET', `${server}: silent for ${seconds} s, no answer to a ping`));
      return;
    }
    if (silent === pingAfter) {
      try {
        // After GOAWAY Node takes a ping and does not send it; SETTINGS must be answered just the same.
        if (session.closed) session.settings({});
        else session.ping(() => {});
      } catch {
        // It throws when the session is being destroyed: then there is nobody to ask.
        return;
      }
    }
    timer = clock.after(tick, look, { ref: false });
  };
  let timer = clock.after(tick, look, { ref: false });
  session.once('close', () => timer.cancel());
}
