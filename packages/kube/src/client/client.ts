import type { Clock } from '../base/clock.ts';
import { isApiError } from '../objects/errors.ts';
import {
  apiVersionOf,
  defineKind,
  type Kind,
  type KubeObject,
  type Status,
  type StoredObject,
} from '../objects/objects.ts';
import { readLines } from '../transport/text-stream.ts';
import type { Transport } from '../transport/transport.ts';
import type {
  ApplyOptions,
  Client,
  DeleteOptions,
  ListOptions,
  LogOptions,
  ObjectList,
  ObjectRef,
  PatchType,
  Permitted,
  Selection,
  WatchOptions,
  WriteOptions,
} from './api.ts';
import { discoverKinds } from './discovery.ts';
import { type ApiRequest, type Authenticator, createExchange } from './exchange.ts';
import { collectionPath, creationPath, objectPath, type Query, queryString, refOf } from './urls.ts';
import { parseWatchEvent } from './watch-events.ts';

/** Options of `createClient`. */
export interface ClientOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** Without it requests carry no credentials but those of the transport (client certificates). */
  readonly authenticate?: Authenticator;
  /** Hears the server's `Warning` headers: deprecated versions, unknown fields, discovery that is incomplete. */
  readonly onWarning?: (text: string, request: { readonly method: string; readonly path: string }) => void;
  /** The part before '/' is the field manager of writes that name none. Default: `kube`. */
  readonly userAgent?: string;
  /** Milliseconds for an answer (for a watch or a log: for its head); then ConnectionError `ETIMEDOUT`. Default: 60000. */
  readonly requestTimeout?: number;
}

const patchContentTypes = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} satisfies Record<PatchType, string>;

const pageSize = 500;

const podLogs = defineKind('v1', 'Pod', 'pods');

/**
 * Makes a `Client` over any transport.
 *
 * It waits and tries again (at most 10 times) when the server says so by 429 or 5xx with `Retry-After`; reads also when
 * the connection broke off. After a 401 it renews its credentials once. `close` closes the transport.
 *
 * @example
 * const client = createClient({ transport, clock: realClock });
 * const pod = await client.get(Pod, { namespace: 'default', name: 'web-0' });
 */
export function createClient(options: ClientOptions): Client {
  const { userAgent = 'kube', requestTimeout = 60_000 } = options;
  const exchange = createExchange({ ...options, userAgent, requestTimeout });

  async function send<R>(request: ApiRequest): Promise<R> {
    return (await exchange.json(request)) as R;
  }

  async function list<T extends KubeObject>(kind: Kind<T>, options: ListOptions = {}): Promise<ObjectList<T>> {
    const { namespace, signal, mostBytes, ...query } = options;
    const answer = await send<ObjectList<T> & { items: StoredObject<T>[] | null }>({
      method: 'GET',
      path: collectionPath(kind, namespace) + queryString(query),
      signal,
      mostBytes,
    });
    const typeMeta = { apiVersion: apiVersionOf(kind), kind: kind.kind };
    return {
      metadata: answer.metadata,
      items: (answer.items ?? []).map((item) => ({ ...typeMeta, ...item })),
    };
  }

  async function* listAll<T extends KubeObject>(kind: Kind<T>, options: Selection & { limit?: number } = {}) {
    let page: { continue?: string } = {};
    let restarted = false;
    do {
      let answer: ObjectList<T>;
      try {
        answer = await list(kind, { limit: pageSize, ...options, ...page });
      } catch (error) {
        if (!isApiError(error, 410) || page.continue === undefined || restarted) throw error;
        // The server's list of that time is compacted away; its Status may hold a token to go on with the present one.
        const goOn = error.status.metadata?.['continue'];
        restarted = typeof goOn !== 'string';
        page = typeof goOn === 'string' ? { continue: goOn } : {};
        continue;
      }
      yield* answer.items;
      page = answer.metadata.continue ? { continue: answer.metadata.continue } : {};
      if (page.continue === undefined) return;
    } while (true);
  }

  async function* watch<T extends KubeObject>(kind: Kind<T>, options: WatchOptions) {
    const { namespace, signal, ...query } = options;
    const path = collectionPath(kind, namespace);
    const initial = query.sendInitialEvents === undefined ? {} : { resourceVersionMatch: 'NotOlderThan' };
    const body = exchange.stream({
      method: 'GET',
      path: path + queryString({ watch: true, allowWatchBookmarks: true, ...query, ...initial }),
      signal,
    });
    for await (const line of readLines(body)) {
      if (line !== '') yield parseWatchEvent<T>(line, `WATCH ${path}`);
    }
  }

  async function* logs(pod: ObjectRef, options: LogOptions = {}) {
    const { signal, ...query } = options;
    const path = objectPath(podLogs, pod, 'log') + queryString(query);
    // A log that is not followed may also be long, and slow: it is read as it comes.
    yield* readLines(exchange.stream({ method: 'GET', path, headers: { accept: '*/*' }, signal }));
  }

  async function patchWith<R>(
    path: string,
    contentType: string,
    patch: unknown,
    query: Query,
    terms: Pick<ApiRequest, 'signal' | 'permit'>,
  ): Promise<R> {
    return send({
      method: 'PATCH',
      path: path + queryString(query),
      headers: { 'content-type': contentType },
      body: JSON.stringify(patch),
      ...terms,
    });
  }

  return {
    list,
    listAll,
    watch,
    logs,

    get: (kind, ref, { subresource, signal } = {}) =>
      send({ method: 'GET', path: objectPath(kind, ref, subresource), signal }),

    create: (kind, object, options = {}) => {
      const { subresource } = options;
      const path = subresource ? objectPath(kind, refOf(object), subresource) : creationPath(kind, object);
      return send({ method: 'POST', path: path + writeQuery(options), ...jsonBody(object), ...termsOf(options) });
    },

    replace: (kind, object, options = {}) => {
      const path = objectPath(kind, refOf(object), options.subresource) + writeQuery(options);
      return send({ method: 'PUT', path, ...jsonBody(object), ...termsOf(options) });
    },

    patch: (kind, ref, type, patch, options = {}) =>
      patchWith(
        objectPath(kind, ref, options.subresource),
        patchContentTypes[type],
        patch,
        writeParameters(options),
        termsOf(options),
      ),

    apply: (kind, object, options: ApplyOptions) =>
      // JSON is YAML: the server takes it under this type, and it is the only one that every served version knows.
      patchWith(
        objectPath(kind, refOf(object), options.subresource),
        'application/apply-patch+yaml',
        object,
        { ...writeParameters(options), force: options.force },
        termsOf(options),
      ),

    async delete<T extends KubeObject>(kind: Kind<T>, ref: ObjectRef, options: DeleteOptions = {}) {
      const answer = await send<Status | StoredObject<T>>({
        method: 'DELETE',
        path: objectPath(kind, ref),
        ...jsonBody(deleteBody(options)),
        ...termsOf(options),
      });
      return stays(answer) ? answer : undefined;
    },

    async deleteCollection(kind, options) {
      const { namespace, labelSelector, fieldSelector, ...rest } = options;
      await send({
        method: 'DELETE',
        path: collectionPath(kind, namespace) + queryString({ labelSelector, fieldSelector }),
        ...jsonBody(deleteBody(rest)),
        ...termsOf(rest),
      });
    },

    discover: ({ signal } = {}) =>
      discoverKinds(
        (path, accept) => send({ method: 'GET', path, headers: { accept }, signal }),
        (text) => options.onWarning?.(text, { method: 'GET', path: '/apis' }),
      ),

    raw: (path, { signal } = {}) => send({ method: 'GET', path, signal }),

    close: () => options.transport.close(),
  };
}

function termsOf({ signal, permit }: Permitted): Pick<ApiRequest, 'signal' | 'permit'> {
  return { signal, permit };
}

function jsonBody(value: unknown) {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}

function writeParameters({ fieldManager, dryRun, fieldValidation }: WriteOptions): Query {
  return { fieldManager, fieldValidation, dryRun: dryRun ? 'All' : undefined };
}

function writeQuery(options: WriteOptions): string {
  return queryString(writeParameters(options));
}

/** `metav1.DeleteOptions`. */
function deleteBody({ uid, resourceVersion, propagationPolicy, gracePeriodSeconds, dryRun }: DeleteOptions) {
  const preconditions = uid === undefined && resourceVersion === undefined ? undefined : { uid, resourceVersion };
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    preconditions,
    propagationPolicy,
    gracePeriodSeconds,
    dryRun: dryRun ? ['All'] : undefined,
  };
}

/**
 * Whether a deleted object is still there. The server answers with a Status for most kinds, but for some (Service, Pod)
 * with the last state of what is gone already.
 */
function stays<T extends KubeObject>(answer: Status | StoredObject<T>): answer is StoredObject<T> {
  if (answer.kind === 'Status') return false;
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = (answer as StoredObject<T>).metadata;
  return deletionTimestamp !== undefined && ((finalizers?.length ?? 0) > 0 || deletionGracePeriodSeconds !== 0);
}
