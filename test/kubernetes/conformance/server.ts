import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { dirname, join } from 'node:path';
import {
  type Client,
  createClient,
  defineKind,
  type HttpRequest,
  type KubeObject,
  realClock,
  realRandom,
  type Status,
  type Transport,
  transportFor,
} from '@openstack-operator/kube';
import { callOverHttps, createApiServer } from '@openstack-operator/sandbox';
import { builtinResourceTypes, resourceTypeFromCrd } from '@openstack-operator/sandbox/schema';
import { parse } from 'yaml';

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
  /** Forgets what was before a version, as a server does in time; false when this server cannot be made to. */
  forgetBefore(version: number): Promise<boolean>;
}

/** What a raw request carries; a `body` that is no text is sent as JSON. */
export interface RequestOptions {
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  readonly userAgent?: string;
  /** Somebody else, in whose name the administrator asks. */
  readonly as?: string;
  readonly groups?: readonly string[];
}

/** A parsed answer: an object, a list, a table or a Status, looked into freely. */
export interface Body extends Pick<Status, 'message' | 'reason' | 'code' | 'details'> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: KubeObject['metadata'];
  readonly status?: unknown;
  readonly items?: readonly KubeObject[];
  readonly rows?: readonly { readonly cells: readonly unknown[]; readonly object?: KubeObject }[];
  readonly [field: string]: unknown;
}

/** What came back. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Body;
}

/**
 * An answer with what differs from run to run put as `<uid>`, `<time>`, `<version>`, and each of `names` as
 * `<name>`: for inline snapshots, which the real server has written.
 */
export function stable(value: unknown, ...names: string[]): unknown {
  let text = JSON.stringify(value)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, '<uid>')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')
    .replaceAll(/"resourceVersion":"\d+"/g, '"resourceVersion":"<version>"');
  for (const name of names) text = text.replaceAll(name, '<name>');
  return JSON.parse(text);
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
  return process.env['CONFORMANCE_SERVER'] === 'kubernetes' ? serverOf('kubernetes', kubernetesTransport()) : sandbox();
}

/** A sandbox of its own, whatever the server of this run: to compare one with the other. */
export function sandbox(): TestServer {
  return serverOf('sandbox', sandboxTransport());
}

function serverOf(name: TestServer['name'], transport: Transport): TestServer {
  const client = createClient({ transport, clock: realClock, userAgent: 'conformance' });
  return {
    name,
    client,
    transport,
    request: (method, path, options) => request(transport, method, path, options),
    async namespace() {
      const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
      const namespace = uniqueName('conformance');
      await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
      return namespace;
    },
    forgetBefore: name === 'kubernetes' ? compactEtcd : (version) => Promise.resolve(version < 100),
  };
}

/** Asks the etcd beside the kubeconfig, where tools/kubernetes/up --api-only has put it. */
async function compactEtcd(revision: number): Promise<boolean> {
  const socketPath = join(dirname(process.env['CONFORMANCE_KUBECONFIG'] ?? ''), 'etcd:0');
  if (!existsSync(socketPath)) return false;
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  httpRequest({ socketPath, method: 'POST', path: '/v3/kv/compaction' }, (response) => {
    response.resume().on('end', () => resolve(true));
  })
    .on('error', reject)
    .end(JSON.stringify({ revision: String(revision) }));
  return promise;
}

function sandboxTransport(): Transport {
  const types = builtinResourceTypes();
  return createApiServer({
    clock: realClock,
    random: realRandom,
    types,
    customType: resourceTypeFromCrd,
    authorization: 'RBAC',
    webhooks: callOverHttps(realClock),
  }).transport();
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
    as,
    groups = [],
  }: RequestOptions = {},
): Promise<Answer> {
  const asked: HttpRequest = {
    method,
    path,
    headers: {
      accept,
      'user-agent': userAgent,
      ...(body !== undefined && { 'content-type': contentType }),
      ...(as !== undefined && { 'impersonate-user': as }),
      ...(groups.length > 0 && { 'impersonate-group': groups }),
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  };
  const response = await transport.request(asked);
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const json = text.startsWith('{');
  return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text };
}
