import {
  type Client,
  type Clock,
  ConnectionError,
  createClient,
  type HttpRequest,
  type HttpResponse,
  type Random,
  sleep,
  type Transport,
} from '@openstack-operator/kube';
import { stringify as stringifyYaml } from 'yaml';
import type { ResourceType } from '../resources/resource-type.ts';
import { handleReview, isReview } from './access-reviews.ts';
import { ByteStream } from './byte-stream.ts';
import type { AdmissionPlugin, Core } from './core.ts';
import { type CustomTypeFactory, serveCustomResources } from './custom-resources.ts';
import { type Body, parseBody } from './decode.ts';
import type { Faults, RequestFault } from './faults.ts';
import { impersonate } from './impersonation.ts';
import { LaggingStore } from './lagging-store.ts';
import { handleLog, type LogSource } from './log-handler.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { negotiate } from './negotiation.ts';
import { handleNonResource, PlainNotFound } from './non-resource-handler.ts';
import { decodeProtobuf, PROTOBUF } from './protobuf.ts';
import { accessDenied, accessOf, mayAccess } from './rbac.ts';
import { Registry } from './registry.ts';
import { includeObject } from './representation.ts';
import { header, type RequestInfo, requestInfo, type User } from './request-info.ts';
import { handleResource, type Reply } from './resource-handler.ts';
import { roleEscalation } from './role-escalation.ts';
import { internalError, methodNotAllowed, notFound, notOffered, pathNotFound, StatusError } from './status.ts';
import { Store } from './store.ts';
import { handleSubresource } from './subresource-handler.ts';
import { watch } from './watch.ts';
import { AwaitsWebhook, type WebhookCaller, webhookAdmission } from './webhooks.ts';
import { createObject } from './write.ts';

/** Options of `createApiServer`. */
export interface ApiServerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** The built-in kinds. */
  readonly types: readonly ResourceType[];
  readonly store?: Store;
  readonly faults?: Faults;
  /** Makes kinds of CustomResourceDefinitions; without it definitions are stored and nothing more. */
  readonly customType?: CustomTypeFactory;
  /** `AlwaysAllow` (default): everybody may all. `RBAC`: as the roles and bindings in the store say. */
  readonly authorization?: 'AlwaysAllow' | 'RBAC';
  /** Where the logs of containers come from. Default: nowhere. */
  readonly logs?: LogSource;
  /** Milliseconds between two bookmarks of a watch. Default: 60000. */
  readonly bookmarkMs?: number;
  /** How webhooks are called. Default: their configurations are stored, and they are never asked. */
  readonly webhooks?: WebhookCaller;
}

/** The default user of the in-memory client: an administrator. */
export const ADMIN: User = { name: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] };

/** A Kubernetes API server in this process. */
export interface ApiServer {
  /** All objects: read and listened to directly by in-process controllers, which write through a client. */
  readonly store: Store;
  readonly registry: Registry;
  /** What handlers work on; in-process controllers may write through the same functions (write.ts, delete.ts). */
  readonly core: Core;
  /** Appended to by those who bring admission of their own (service addresses, quotas). */
  readonly admission: AdmissionPlugin[];
  /** Answers one request. Rejects with a ConnectionError when a fault breaks the connection. */
  handle(request: HttpRequest, user: User, signal?: AbortSignal): Promise<HttpResponse>;
  /** Requests without sockets: answers come within microtasks, so that virtual time stays exact. */
  transport(user?: User): Transport;
  /** Ends every watch, as a server does that shuts down or sends GOAWAY; what comes anew is served. */
  goAway(): void;
  /** kube's client over `transport`. */
  client(user?: User, options?: { userAgent?: string }): Client;
}

/** Makes an API server; it holds the system's namespaces and nothing more. */
export function createApiServer(options: ApiServerOptions): ApiServer {
  const { clock, random, faults, bookmarkMs = 60_000 } = options;
  const store = options.store ?? new Store();
  const registry = new Registry();
  for (const type of options.types) registry.add(type);
  const core: Core = { store, registry, clock, random, admission: [] };
  core.admission.push(namespaceLifecycle(core));
  const open = options.authorization !== 'RBAC';
  if (!open) core.admission.push(roleEscalation(core));
  if (options.customType) serveCustomResources(core, options.customType);
  createSystemNamespaces(core);

  function respond(
    asked: RequestInfo,
    sent: string | Uint8Array,
    warn: (message: string) => void,
    seen: Core,
    signal?: AbortSignal,
  ): Reply {
    const info = impersonate(store, asked, open);
    const access = accessOf(info);
    if (!open && !mayAccess(store, info.user, access)) throw accessDenied(info.user, access);
    if (!info.isResource) return handleNonResource(registry, info);
    const served = registry.find(info.group, info.version, info.resource);
    if (!served) {
      // A real server has a router for each group that is built in, and one for what is beside them.
      const group = registry.all().some(({ type, custom }) => !custom && type.kind.group === info.group);
      throw group ? pathNotFound() : new PlainNotFound(info.path);
    }
    if (served.custom?.warning) warn(served.custom.warning);
    const { type, id } = served;
    const body = bodyOf(sent, header(info, 'content-type'));
    if (isReview(id)) {
      if (info.verb !== 'create') throw methodNotAllowed();
      return handleReview(core, id, info, parseBody(body), open);
    }
    const [subresource = ''] = info.subresource.split('/');
    if (type.refusedSubresources?.includes(subresource)) {
      throw notOffered(`${served.groupResource.resource}/${subresource}`);
    }
    if (subresource !== '' && !type.subresources.includes(subresource)) {
      throw served.custom ? notFound(served.groupResource, info.name) : pathNotFound();
    }
    if (info.subresource === 'log') return handleLog(core, options.logs, info, signal);
    if (info.subresource !== '' && info.subresource !== 'status') {
      return handleSubresource(seen, served, info, body, warn);
    }
    const toCollection = info.name === '' && (info.verb === 'update' || info.verb === 'patch');
    if (toCollection || !type.verbs.includes(info.verb)) throw methodNotAllowed();
    if (info.verb !== 'watch') return handleResource(seen, served, info, body, warn);
    const wanted = negotiate(header(info, 'accept'));
    const serving = { wanted, include: includeObject(info.query), faults, bookmarkMs };
    return { status: 200, body: opened(watch(seen, served, info, serving)) };
  }

  /** Watches that have not ended. */
  const watches = new Set<ByteStream>();
  function opened(stream: ByteStream): ByteStream {
    watches.add(stream);
    stream.onEnd(() => watches.delete(stream));
    return stream;
  }

  /** What one request works on: a read may see an older store, a write may have webhooks to ask. */
  function coreOf(info: RequestInfo, fault: RequestFault | undefined): Core {
    if (isRead(info)) {
      return fault?.kind === 'stale' ? { ...core, store: new LaggingStore(store, fault.versions) } : core;
    }
    if (options.webhooks === undefined) return core;
    return { ...core, admission: [...core.admission, webhookAdmission(core, options.webhooks, new Map())] };
  }

  async function handle(request: HttpRequest, user: User, signal?: AbortSignal): Promise<HttpResponse> {
    signal?.throwIfAborted();
    const info = requestInfo(request, user);
    const fault = faults?.request?.(info);
    const refusal = fault && (await suffer(fault, clock, signal));
    const warnings: string[] = [];
    const seen = coreOf(info, fault);
    let reply = refusal;
    while (reply === undefined) {
      try {
        reply = answer(info, request, warnings, seen, signal);
      } catch (error) {
        if (!(error instanceof AwaitsWebhook)) throw error;
        await error.answered;
      }
    }
    if (fault?.kind === 'dropResponse') {
      if (reply.body instanceof ByteStream) reply.body.close();
      throw new ConnectionError('ECONNRESET', 'the sandbox lost the answer on its way');
    }
    return httpResponse(reply, info, warnings, signal);
  }

  function answer(
    info: RequestInfo,
    request: HttpRequest,
    warnings: string[],
    seen: Core,
    signal?: AbortSignal,
  ): Reply {
    try {
      const warn = (message: string) => {
        if (!warnings.includes(message)) warnings.push(message);
      };
      return respond(info, request.body ?? '', warn, seen, signal);
    } catch (error) {
      if (error instanceof AwaitsWebhook) throw error;
      if (error instanceof PlainNotFound) {
        const headers = { 'content-type': 'text/plain; charset=utf-8' };
        return { status: 404, headers, body: '404 page not found\n' };
      }
      const refused = error instanceof StatusError ? error : internalError(describe(error));
      const seconds = refused.status.details?.retryAfterSeconds;
      return {
        status: refused.status.code,
        body: refused.status,
        ...(seconds && { headers: { 'retry-after': String(seconds) } }),
      };
    }
  }

  const transport = (user: User = ADMIN): Transport => ({
    request: (request, signal) => handle(request, user, signal),
    close: () => Promise.resolve(),
  });
  return {
    store,
    registry,
    core,
    admission: core.admission,
    handle,
    transport,
    goAway: () => {
      for (const stream of watches) stream.close();
    },
    client: (user, { userAgent } = {}) =>
      createClient({ transport: transport(user), clock, ...(userAgent !== undefined && { userAgent }) }),
  };
}

/** What every cluster has from its first moment on. */
function createSystemNamespaces(core: Core): void {
  const [served] = core.registry.versionsOf('namespaces');
  if (!served) return;
  const user: User = { name: 'system:apiserver', groups: ['system:masters'] };
  const common = { served, namespace: '', subresource: '', user, manager: 'kube-apiserver', dryRun: false };
  for (const name of ['default', 'kube-node-lease', 'kube-public', 'kube-system']) {
    if (core.store.get('namespaces', name)) continue;
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    createObject(core, { ...common, name: '', warn: () => undefined }, object);
  }
}

/** What was sent as text; protobuf as the JSON that it stands for. */
function bodyOf(sent: string | Uint8Array, contentType: string): Body {
  if (typeof sent === 'string') return { text: sent, contentType };
  const isProtobuf = sent.length > 0 && contentType.startsWith(PROTOBUF);
  return isProtobuf
    ? { text: JSON.stringify(decodeProtobuf(sent)), contentType: 'application/json' }
    : { text: new TextDecoder().decode(sent), contentType };
}

/** Lets a fault happen; gives the answer when the fault is one. */
async function suffer(fault: RequestFault, clock: Clock, signal: AbortSignal | undefined): Promise<Reply | undefined> {
  switch (fault.kind) {
    case 'delay':
      await sleep(clock, fault.ms, signal);
      return undefined;
    case 'drop':
      throw new ConnectionError('ECONNRESET', 'the sandbox broke the connection');
    case 'hang':
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }));
    case 'dropResponse':
    case 'stale':
      return undefined;
    case 'status': {
      const { code, reason = 'InternalError', message = 'a fault was injected', retryAfterSeconds } = fault;
      const { status } = new StatusError(code, reason, message, retryAfterSeconds ? { retryAfterSeconds } : undefined);
      return {
        status: code,
        body: status,
        ...(retryAfterSeconds && { headers: { 'retry-after': String(retryAfterSeconds) } }),
      };
    }
    default:
      return fault satisfies never;
  }
}

function httpResponse(
  reply: Reply,
  info: RequestInfo,
  warnings: readonly string[],
  signal: AbortSignal | undefined,
): HttpResponse {
  const headers: Record<string, string> = { 'content-type': 'application/json', ...reply.headers };
  if (warnings.length > 0) {
    headers['warning'] = warnings.map((text) => `299 - "${text.replaceAll(/[\\"]/g, '\\$&')}"`).join(', ');
  }
  const { body } = reply;
  if (body instanceof ByteStream) {
    const abort = () => body.close(signal?.reason as Error);
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    body.onEnd(() => signal?.removeEventListener('abort', abort));
    return { status: reply.status, headers, body };
  }
  let text: string;
  if (typeof body === 'string') text = body;
  else if (wantsYaml(info)) {
    headers['content-type'] = 'application/yaml';
    text = stringifyYaml(body);
  } else text = JSON.stringify(body);
  return { status: reply.status, headers, body: once(text) };
}

function isRead({ verb }: RequestInfo): boolean {
  return verb === 'get' || verb === 'list' || verb === 'watch';
}

function wantsYaml(info: RequestInfo): boolean {
  try {
    return negotiate(header(info, 'accept')).yaml;
  } catch {
    return false;
  }
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
