import * as http from 'node:http';
import * as http2 from 'node:http2';
import * as net from 'node:net';
import type { Writable } from 'node:stream';
import * as tls from 'node:tls';
import { ConnectionError, type HttpRequest } from '@openstack-operator/kube';
import { stringify as stringifyYaml } from 'yaml';
import { ADMIN, type ApiServer } from './api-server.ts';
import { createCertificateAuthority, userOfCertificate } from './certificates.ts';
import { isRequestTarget, type User } from './request-info.ts';
import { StatusError } from './status.ts';

/** Options of `listen`. */
export interface ListenOptions {
  /** Default: a free one. */
  readonly port?: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** `false`: plain HTTP, and everybody is the administrator. Default: TLS with an authority made for this process. */
  readonly tls?: boolean;
  /** Bearer tokens and who they belong to. */
  readonly tokens?: Readonly<Record<string, User>>;
}

/** An API server that is reached over sockets. */
export interface Listening extends AsyncDisposable {
  readonly port: number;
  /** Such as `https://127.0.0.1:6443`. */
  readonly url: string;
  /** PEM; absent without TLS. */
  readonly certificateAuthority?: string;
  /** A kubeconfig (YAML) for a user (default: the administrator), with a client certificate made for it. */
  kubeconfig(user?: User): Promise<string>;
  /** Ends all connections. */
  close(): Promise<void>;
}

const ANONYMOUS: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

type Incoming = http.IncomingMessage | http2.Http2ServerRequest;
type Outgoing = http.ServerResponse | http2.Http2ServerResponse;

/** Serves HTTP/1.1 and HTTP/2 on one port. */
export async function listen(server: ApiServer, options: ListenOptions = {}): Promise<Listening> {
  const { port = 0, host = '127.0.0.1', tokens = {} } = options;
  const secure = options.tls !== false;
  const authority = secure ? await createCertificateAuthority() : undefined;
  const serverCertificate = await authority?.issueServer([...new Set([host, '127.0.0.1', 'localhost'])]);

  const onRequest = (request: Incoming, response: Outgoing) => {
    Promise.resolve()
      .then(() => serve(server, request, response, secure ? authenticate(request, tokens) : ADMIN))
      .catch(() => response.destroy());
  };
  // A watch lives for as long as its client: no time-outs of Node's own.
  const plain = http.createServer({ requestTimeout: 0, keepAliveTimeout: 0 }, onRequest);
  plain.timeout = 0;
  const h2 = http2.createServer({ settings: { maxConcurrentStreams: 250 } }, onRequest);
  h2.setTimeout(0);
  const sockets = new Set<net.Socket>();
  const onConnection = (socket: net.Socket, protocol: string | false | null) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    (protocol === 'h2' ? h2 : plain).emit('connection', socket);
  };
  const listener = serverCertificate
    ? tls.createServer(
        {
          cert: serverCertificate.certificate,
          key: serverCertificate.key,
          ca: authority?.certificate,
          requestCert: true,
          rejectUnauthorized: false,
          ALPNProtocols: ['h2', 'http/1.1'],
        },
        (socket) => onConnection(socket, socket.alpnProtocol),
      )
    : net.createServer((socket) => peekProtocol(socket, onConnection));
  listener.on('tlsClientError', (_, socket: net.Socket) => socket.destroy());

  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(port, host, resolve);
  });
  const bound = (listener.address() as net.AddressInfo).port;
  const url = `${secure ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${bound}`;
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => {
      listener.close(() => resolve());
    });
  };
  return {
    port: bound,
    url,
    ...(authority && { certificateAuthority: authority.certificate }),
    kubeconfig: async (user = ADMIN) => {
      const client = await authority?.issueClient(user);
      return kubeconfigText(url, user.name, authority?.certificate, client);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Without TLS no ALPN tells the protocol: HTTP/2 with prior knowledge opens with `PRI * HTTP/2.0`. */
function peekProtocol(socket: net.Socket, onConnection: (socket: net.Socket, protocol: string) => void): void {
  socket.on('error', () => socket.destroy());
  socket.once('data', (chunk: Buffer) => {
    socket.pause();
    socket.unshift(chunk);
    onConnection(socket, chunk.toString('latin1', 0, 14) === 'PRI * HTTP/2.0' ? 'h2' : 'http/1.1');
    process.nextTick(() => socket.resume());
  });
}

function authenticate(request: Incoming, tokens: Readonly<Record<string, User>>): User | undefined {
  const { authorization } = request.headers;
  if (authorization?.startsWith('Bearer ')) {
    const token = authorization.slice('Bearer '.length);
    const user = Object.hasOwn(tokens, token) ? tokens[token] : undefined;
    return user && { ...user, groups: [...new Set([...user.groups, 'system:authenticated'])] };
  }
  const socket = request.socket as tls.TLSSocket;
  const certificate = socket.getPeerX509Certificate?.();
  if (!certificate) return ANONYMOUS;
  return socket.authorized ? userOfCertificate(certificate.raw) : undefined;
}

async function serve(server: ApiServer, request: Incoming, response: Outgoing, user: User | undefined): Promise<void> {
  if (!user) {
    const { status } = new StatusError(401, 'Unauthorized', 'Unauthorized');
    (response as http.ServerResponse).writeHead(401, { 'content-type': 'application/json' });
    response.end(JSON.stringify(status));
    return;
  }
  // What both responses have in common is typed apart.
  const writable = response as http.ServerResponse;
  if (!isRequestTarget(request.url ?? '')) {
    writable.writeHead(400, { 'content-type': 'text/plain; charset=utf-8' });
    response.end('400 Bad Request');
    return;
  }
  const abort = new AbortController();
  response.on('close', () => abort.abort());
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && !name.startsWith(':')) headers[name] = value;
  }
  const asked: HttpRequest = {
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    headers,
    body: Buffer.concat(chunks),
  };
  try {
    const answer = await server.handle(asked, user, abort.signal);
    writable.writeHead(answer.status, withoutUndefined(answer.headers));
    // A watch without events must still answer at once.
    if (response instanceof http.ServerResponse) response.flushHeaders();
    if (request.method === 'HEAD') return void response.end();
    for await (const chunk of answer.body) {
      // After its end a response neither drains nor closes any more.
      if (!writable.write(chunk) && !abort.signal.aborted) await drained(writable);
    }
    response.end();
  } catch (error) {
    if (!(error instanceof ConnectionError) && !abort.signal.aborted) throw error;
    if (response instanceof http.ServerResponse) request.socket.destroy();
    else response.stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
  }
}

function drained(response: Writable): Promise<void> {
  return new Promise((resolve) => {
    // A watch waits often and lives long: the listener that was not called goes too.
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.once('drain', done);
    response.once('close', done);
  });
}

function withoutUndefined(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

function kubeconfigText(
  server: string,
  name: string,
  authority: string | undefined,
  client: { certificate: string; key: string } | undefined,
): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  return stringifyYaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'sandbox',
        cluster: { server, ...(authority && { 'certificate-authority-data': base64(authority) }) },
      },
    ],
    users: [
      {
        name,
        user: client
          ? { 'client-certificate-data': base64(client.certificate), 'client-key-data': base64(client.key) }
          : {},
      },
    ],
    contexts: [{ name: 'sandbox', context: { cluster: 'sandbox', user: name } }],
    'current-context': 'sandbox',
  });
}
