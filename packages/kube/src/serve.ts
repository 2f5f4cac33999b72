import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { askHealth, type Health } from './health.ts';
import type { Metrics } from './metrics.ts';

/** What is served, and where. */
export interface ServeOptions {
  /** 0 takes a free one. */
  readonly port: number;
  /** Default: all addresses. */
  readonly host?: string;
  /** Served at `/metrics`. */
  readonly metrics?: Metrics;
  /** Served at `/healthz` and `/readyz`, `?verbose` for each check. */
  readonly health?: Health;
}

/** A running server. */
export interface Serving {
  readonly port: number;
  /** Takes no more connections; resolves when the running answers are out. */
  close(): Promise<void>;
}

/**
 * Serves metrics and health over HTTP/1.1.
 * @throws the system's error (EADDRINUSE, EACCES) when it cannot listen
 */
export async function serve({ port, host, metrics, health }: ServeOptions): Promise<Serving> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    if (request.method !== 'GET' && request.method !== 'HEAD') return answer(response, 405, 'use GET\n');
    answerFor(pathname, searchParams.has('verbose')).then(
      ({ status, body, type }) => answer(response, status, body, type),
      (error: unknown) => answer(response, 500, `${error instanceof Error ? error.message : String(error)}\n`),
    );
  });

  async function answerFor(path: string, verbose: boolean): Promise<{ status: number; body: string; type?: string }> {
    const checks = path === '/healthz' ? health?.live : path === '/readyz' ? health?.ready : undefined;
    if (checks) {
      const { ok, lines } = await askHealth(checks);
      const sum = `${path.slice(1)} check ${ok ? 'passed' : 'failed'}`;
      return { status: ok ? 200 : 503, body: ok && !verbose ? 'ok' : `${[...lines, sum].join('\n')}\n` };
    }
    if (path === '/metrics' && metrics) {
      return { status: 200, body: await metrics.text(), type: metrics.contentType };
    }
    return { status: 404, body: `nothing at ${path}; there are /metrics, /healthz, /readyz\n` };
  }

  await listen(server, port, host);
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

function answer(response: ServerResponse, status: number, body: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': type, 'x-content-type-options': 'nosniff' });
  response.end(body);
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
