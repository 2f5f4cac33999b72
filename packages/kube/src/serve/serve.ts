import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Log, noLog } from '../base/log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { askHealth, type Health } from './health.ts';
import type { AccessCheck } from './metrics-access.ts';

/** Options of `serve`. */
export interface ServeOptions {
  /** 0 takes a free one. */
  readonly port: number;
  /** Default: all addresses. */
  readonly host?: string;
  /** Served at `/metrics`. */
  readonly metrics?: Metrics;
  /** Who may read `/metrics` (default: everybody). */
  readonly access?: AccessCheck;
  /** Served at `/healthz` and `/readyz`, `?verbose` for each check. */
  readonly health?: Health;
  /** Gets what the answers withhold: errors, and why a check failed. */
  readonly log?: Log;
  readonly limits?: Partial<ServeLimits>;
}

/** Limits of what clients may use of the process. Times are in ms. */
export interface ServeLimits {
  /** Until the request line and the headers are there. */
  readonly headers: number;
  /** Until the request is there with its body, which nobody reads. */
  readonly request: number;
  /** How long a connection may be silent, between two requests as within an answer: longer than scrapes are apart. */
  readonly idle: number;
  /** Bytes of request line and headers together. */
  readonly headerBytes: number;
  /** Connections at once. One more ends the oldest, so that the kubelet's probes get in. */
  readonly connections: number;
}

const defaultLimits: ServeLimits = {
  headers: 5000,
  request: 10_000,
  idle: 90_000,
  headerBytes: 16_384,
  connections: 256,
};

/** A running server. */
export interface Serving {
  readonly port: number;
  /** Takes no more connections; resolves when the running answers are out. */
  close(): Promise<void>;
}

/** What is told to who may not read metrics. */
const refusals = {
  401: 'metrics take a bearer token of the cluster, such as that of a ServiceAccount\n',
  403: 'metrics take the right to get the nonResourceURL /metrics: bind the caller to a ClusterRole that allows it\n',
  429: 'too many ask for metrics at once\n',
  500: 'who asks could not be told: the API server did not answer, or the operator may not ask it\n',
} as const;

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly type?: string;
}

/**
 * Serves metrics and health over HTTP/1.1. No request ends the process: what is malformed gets 400, 408 or 431 and loses
 * its connection, upgrades are not offered.
 * @throws the system's error (EADDRINUSE, EACCES) when it cannot listen
 */
export async function serve(options: ServeOptions): Promise<Serving> {
  const { port, host, log = noLog } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const server = createServer(
    {
      headersTimeout: limits.headers,
      requestTimeout: limits.request,
      keepAliveTimeout: limits.idle,
      connectionsCheckingInterval: Math.min(1000, limits.headers),
      maxHeaderSize: limits.headerBytes,
    },
    (request, response) => {
      // A client that leaves is no error of ours.
      request.on('error', () => response.destroy());
      response.on('error', () => response.destroy());
      answer(options, request)
        .catch((error: unknown): Answer => {
          log.error('a request could not be answered', { path: request.url, error });
          return { status: 500, body: 'internal error; the log says which\n' };
        })
        .then((answer) => send(request, response, answer))
        .catch(() => response.destroy());
    },
  );
  server.setTimeout(limits.idle, (socket) => socket.destroy());
  limitConnections(server, limits.connections);
  await listen(server, port, host);
  // Such as EMFILE of a connection that could not be accepted: without a listener it would end the process.
  server.on('error', (error) => log.error('the metrics and health server has an error', { error }));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        // Scrapers keep their connections; idle ones would hold the process for as long.
        server.closeIdleConnections();
      }),
  };
}

async function answer(
  { metrics, health, access, log = noLog }: ServeOptions,
  request: IncomingMessage,
): Promise<Answer> {
  const target = request.url ?? '/';
  // A path is never taken for a reference: `//` would be one to a host without a name.
  const url = URL.parse(target.startsWith('/') ? `http://localhost${target}` : target);
  if (url === null)
    return { status: 400, body: 'the request target is no path; there are /metrics, /healthz, /readyz\n' };
  if (request.method !== 'GET' && request.method !== 'HEAD') return { status: 405, body: 'use GET\n' };
  const { pathname: path, searchParams } = url;
  const checks = path === '/healthz' ? health?.live : path === '/readyz' ? health?.ready : undefined;
  if (checks) {
    const { ok, lines, failures } = await askHealth(checks);
    if (!ok) log.warn('a health check failed', { path, failures });
    const sum = `${path.slice(1)} check ${ok ? 'passed' : 'failed'}`;
    return {
      status: ok ? 200 : 503,
      body: ok && !searchParams.has('verbose') ? 'ok' : `${[...lines, sum].join('\n')}\n`,
    };
  }
  if (path === '/metrics' && metrics) {
    const status = (await access?.(request.headers.authorization, path)) ?? 200;
    if (status !== 200) return { status, body: refusals[status] };
    return { status, body: await metrics.text(), type: metrics.contentType };
  }
  return { status: 404, body: 'there are /metrics, /healthz, /readyz\n' };
}

function send(request: IncomingMessage, response: ServerResponse, { status, body, type }: Answer): void {
  response.writeHead(status, {
    'content-type': type ?? 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'x-content-type-options': 'nosniff',
    // A body that nobody reads is not worth a connection.
    ...(request.complete || hasNoBody(request) ? {} : { connection: 'close' }),
  });
  response.end(body);
}

function hasNoBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}

/** Ends the oldest connection when there is one more than `most`. */
function limitConnections(server: Server, most: number): void {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    const [oldest] = sockets;
    if (sockets.size > most) oldest?.destroy();
  });
}

function listen(server: Server, port: number, host: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
