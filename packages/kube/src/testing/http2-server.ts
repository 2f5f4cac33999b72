import * as http2 from 'node:http2';
import { onTestFinished } from 'vitest';
import { realClock } from '../base/clock.ts';
import type { ConnectionSettings } from '../transport/connection.ts';
import { createHttp2Transport } from '../transport/http2-transport.ts';
import { readText } from '../transport/text-stream.ts';
import type { HttpResponse, Transport } from '../transport/transport.ts';
import { listen } from './server.ts';

type Handler = (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => void;

/** A server that counts its sessions, and a transport to it. */
export async function serve(
  handle: Handler,
  { settings = {}, ...connection }: { settings?: http2.Settings } & Partial<ConnectionSettings> = {},
) {
  const sessions: http2.ServerHttp2Session[] = [];
  const server = http2.createServer({ settings });
  server.on('session', (session) => {
    session.on('error', () => {});
    sessions.push(session);
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    handle(stream, headers);
  });
  const port = await listen(server);
  return { sessions, port, transport: transportTo({ server: `http://127.0.0.1:${port}`, ...connection }) };
}

/** A transport that is closed when the test ends. */
export function transportTo(settings: { server: string } & Partial<ConnectionSettings>): Transport {
  const transport = createHttp2Transport({ clock: realClock, ...settings });
  onTestFinished(() => transport.close());
  return transport;
}

/** Says ok, and what it was asked for. */
export const answer: Handler = (stream, headers) => {
  stream.respond({ ':status': 200, 'x-path': headers[':path'] });
  stream.end('ok');
};

/** A request, and one of a stream. */
export const get = { method: 'GET', path: '/version' };
export const watch = { method: 'GET', path: '/watch', stream: true };

/** The whole body of an answer. */
export async function textOf(response: Promise<HttpResponse>): Promise<string> {
  return readText((await response).body);
}
