import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  type Client,
  createClient,
  defineKind,
  type HttpRequest,
  realClock,
  realRandom,
  type Transport,
  transportFor,
} from '@openstack-operator/kube';
import { createApiServer } from '@openstack-operator/sandbox';
import { parse } from 'yaml';
import { builtinTypes } from './builtin-types.ts';

/** The server that a run is about. `CONFORMANCE_SERVER=kubernetes` takes the real one of CONFORMANCE_KUBECONFIG. */
export interface TestServer {
  readonly name: 'sandbox' | 'kubernetes';
  /** The administrator's. */
  readonly client: Client;
  readonly transport: Transport;
  /** One request as it is, with the answer parsed as JSON where it is JSON. */
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** Makes a namespace of a new name. */
  namespace(): Promise<string>;
}

/** What a raw request carries; a `body` that is no text is sent as JSON. */
export interface RequestOptions {
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  readonly userAgent?: string;
}

/** What came back. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by tests
  readonly body: any;
}

let server: Promise<TestServer> | undefined;

/** The server of this run, started once. */
export function testServer(): Promise<TestServer> {
  server ??= start();
  return server;
}

/** A name that nobody else uses. */
export function uniqueName(prefix: string): string {
  return `${prefix}-${randomBytes(4).toString('hex')}`;
}

async function start(): Promise<TestServer> {
  const real = process.env['CONFORMANCE_SERVER'] === 'kubernetes';
  const transport = real ? kubernetesTransport() : sandboxTransport();
  const client = createClient({ transport, clock: realClock, userAgent: 'conformance' });
  return {
    name: real ? 'kubernetes' : 'sandbox',
    client,
    transport,
    request: (method, path, options) => request(transport, method, path, options),
    async namespace() {
      const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
      const name = uniqueName('conformance');
      await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      return name;
    },
  };
}

function sandboxTransport(): Transport {
  return createApiServer({ clock: realClock, random: realRandom, types: builtinTypes }).transport();
}

function kubernetesTransport(): Transport {
  const path = process.env['CONFORMANCE_KUBECONFIG'];
  if (!path) throw new Error('CONFORMANCE_KUBECONFIG must name the kubeconfig of a real API server');
  const config = parse(readFileSync(path, 'utf8'));
  const cluster = config.clusters[0].cluster;
  const { user } = config.users[0];
  const decode = (text: string) => Buffer.from(text, 'base64').toString();
  const tls = {
    ca: decode(cluster['certificate-authority-data']),
    cert: decode(user['client-certificate-data']),
    key: decode(user['client-key-data']),
  };
  return transportFor({ server: cluster.server, clock: realClock, tls: () => Promise.resolve(tls) });
}

async function request(
  transport: Transport,
  method: string,
  path: string,
  {
    body,
    contentType = 'application/json',
    accept = 'application/json',
    userAgent = 'conformance',
  }: RequestOptions = {},
): Promise<Answer> {
  const asked: HttpRequest = {
    method,
    path,
    headers: { accept, 'user-agent': userAgent, ...(body !== undefined && { 'content-type': contentType }) },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  };
  const response = await transport.request(asked);
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const json = (response.headers['content-type'] ?? '').startsWith('application/json');
  return { status: response.status, headers: response.headers, body: json && text ? JSON.parse(text) : text };
}
