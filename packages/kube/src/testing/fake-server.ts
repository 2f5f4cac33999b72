import { type Clock, sleep } from '../base/clock.ts';
import type {
  Client,
  DeleteOptions,
  ListOptions,
  ObjectRef,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from '../client/api.ts';
import { ApiError, ConnectionError, TooLongError } from '../objects/errors.ts';
import { apiVersionOf, type Kind, type KubeObject, keyOf, type Status, type StoredObject } from '../objects/objects.ts';
import { matchesFields, matchesLabels } from '../objects/selectors.ts';

/** One request that the fake server saw. */
export interface FakeRequest {
  readonly verb: string;
  readonly kind: string;
  readonly key: string;
  readonly at: number;
}

interface Event {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: StoredObject;
  readonly old?: StoredObject | undefined;
  readonly version: number;
}

/**
 * For tests of the runtime only: just enough of an API server behind the `Client` interface, with its failures under
 * control. It merges an apply shallowly by field; who wants the real thing takes the sandbox.
 */
export class FakeServer {
  readonly client: Client;
  readonly requests: FakeRequest[] = [];
  /** Decides on each request: an error that it throws is the answer. */
  intercept: (request: FakeRequest) => void | Promise<void> = () => {};
  /** Watch events for which this is true never arrive. */
  loses: (event: WatchEvent) => boolean = () => false;
  /** Plurals that are not served. */
  readonly missing = new Set<string>();
  /** Whether `sendInitialEvents` is known. */
  streams = true;
  /** Virtual milliseconds that each request takes. */
  latency = 0;
  /** Virtual milliseconds after which what is read arrives. */
  delay: () => number = () => 0;
  #version = 100;
  #oldest = 0;
  #uid = 0;
  readonly #clock: Clock;
  readonly #objects = new Map<string, Map<string, StoredObject>>();
  readonly #events: (Event & { plural: string })[] = [];
  readonly #watches = new Set<{ wake: () => void; fail: (error: unknown) => void }>();

  constructor(clock: Clock) {
    this.#clock = clock;
    const unsupported = () => {
      throw new Error('the fake server does not offer this');
    };
    this.client = {
      get: async (kind, ref, options) => {
        await this.#enter('get', kind, keyOf({ metadata: ref }), options?.signal);
        return structuredClone(this.#found(kind, ref)) as never;
      },
      list: (kind, options) => this.#list(kind, options) as never,
      watch: (kind, options) => this.#watch(kind, options) as never,
      create: async (kind, object, options) => {
        await this.#enter('create', kind, keyOf(object), options?.signal);
        if (this.peek(kind, keyOf(object))) {
          throw failure(409, 'AlreadyExists', `${kind.plural} "${object.metadata.name}" already exists`);
        }
        return this.put(kind, object) as never;
      },
      replace: async (kind, object, options) => {
        await this.#enter('replace', kind, keyOf(object), options?.signal);
        const stored = this.#found(kind, object.metadata as ObjectRef);
        const { resourceVersion } = object.metadata;
        if (resourceVersion && resourceVersion !== stored.metadata.resourceVersion) throw conflict(kind);
        return this.put(kind, object) as never;
      },
      apply: (kind, object, options) => this.#apply(kind, object, options) as never,
      patch: async (kind, ref, _type, patch, options) => {
        await this.#enter('patch', kind, keyOf({ metadata: ref }), options?.signal);
        return this.put<KubeObject>(kind, { ...this.#found(kind, ref), ...(patch as object) }) as never;
      },
      delete: (kind, ref, options) => this.#delete(kind, ref, options),
      listAll: unsupported,
      deleteCollection: unsupported,
      logs: unsupported,
      discover: unsupported,
      raw: unsupported,
      close: async () => {},
    };
  }

  /** What the server has, behind the client's back. */
  peek<T extends KubeObject>(kind: Kind<T>, key: string): StoredObject<T> | undefined {
    return this.#all(kind).get(key) as StoredObject<T> | undefined;
  }

  all(kind: Kind): StoredObject[] {
    return [...this.#all(kind).values()];
  }

  get writes(): FakeRequest[] {
    return this.requests.filter(({ verb }) => !['get', 'list', 'watch'].includes(verb));
  }

  /** Creates or replaces, as somebody else would. */
  put<T extends KubeObject>(kind: Kind<T>, object: T): StoredObject<T> {
    const old = this.peek(kind, keyOf(object));
    const { uid: _uid, resourceVersion: _version, ...metadata } = object.metadata;
    const next = {
      ...structuredClone(object),
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: { ...structuredClone(metadata), uid: old?.metadata.uid ?? `uid-${++this.#uid}` },
    } as unknown as StoredObject<T>;
    const same = (a: StoredObject | undefined) =>
      JSON.stringify({ ...a, metadata: { ...a?.metadata, resourceVersion: '' } });
    if (old && same(old) === same({ ...next, metadata: { ...next.metadata, resourceVersion: '' } })) return old;
    next.metadata.resourceVersion = String(++this.#version);
    this.#all(kind).set(keyOf(next), next);
    this.#tell(kind, { type: old ? 'MODIFIED' : 'ADDED', object: next, old, version: this.#version });
    return structuredClone(next);
  }

  /** Deletes, as somebody else would. */
  remove(kind: Kind, key: string): void {
    const old = this.peek(kind, key);
    if (!old) return;
    this.#all(kind).delete(key);
    const object = { ...old, metadata: { ...old.metadata, resourceVersion: String(++this.#version) } };
    this.#tell(kind, { type: 'DELETED', object, old, version: this.#version });
  }

  /** Forgets the history: watches from before are refused, running ones end with an ERROR event of 410. */
  expire(): void {
    this.#oldest = ++this.#version;
    this.breakWatches(failure(410, 'Expired', 'too old resource version'));
  }

  /** Ends all running watches with an error. */
  breakWatches(error: unknown = new ConnectionError('ECONNRESET', 'the connection broke off')): void {
    for (const watch of this.#watches) watch.fail(error);
  }

  async #enter(verb: string, kind: Kind, key: string, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const request = { verb, kind: kind.kind, key, at: this.#clock.now() };
    this.requests.push(request);
    if (this.latency > 0) await sleep(this.#clock, this.latency, signal);
    await this.intercept(request);
    signal?.throwIfAborted();
    if (this.missing.has(kind.plural)) {
      throw failure(404, 'NotFound', 'the server could not find the requested resource');
    }
  }

  async #travel(signal: AbortSignal | undefined): Promise<void> {
    const ms = this.delay();
    if (ms > 0) await sleep(this.#clock, ms, signal);
  }

  async #list(kind: Kind, options: ListOptions = {}) {
    await this.#enter('list', kind, '', options.signal);
    const from = Number(options.continue ?? 0);
    const items = this.all(kind).filter((object) => selects(options, object));
    const page = structuredClone(items.slice(from, from + (options.limit ?? items.length)));
    const next = from + page.length < items.length ? { continue: String(from + page.length) } : {};
    const metadata = { resourceVersion: String(this.#version), ...next };
    await this.#travel(options.signal);
    if (JSON.stringify(page).length > (options.mostBytes ?? Number.POSITIVE_INFINITY)) {
      throw new TooLongError(options.mostBytes ?? 0);
    }
    return { metadata, items: page };
  }

  async *#watch(kind: Kind, options: WatchOptions): AsyncGenerator<WatchEvent> {
    await this.#enter('watch', kind, '', options.signal);
    if (options.sendInitialEvents && !this.streams) {
      throw failure(422, 'Invalid', 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch');
    }
    let position = this.#version;
    if (options.sendInitialEvents) {
      const items = this.all(kind).filter((object) => selects(options, object));
      const version = String(this.#version);
      for (const object of items) {
        await this.#travel(options.signal);
        yield { type: 'ADDED', object: structuredClone(object) };
      }
      yield { type: 'BOOKMARK', resourceVersion: version, initialEventsEnd: true };
    } else {
      position = Number(options.resourceVersion);
      if (position < this.#oldest) throw failure(410, 'Expired', `too old resource version: ${position}`);
    }
    yield* this.#follow(kind, options, position);
  }

  async *#follow(kind: Kind, options: WatchOptions, from: number): AsyncGenerator<WatchEvent> {
    let position = from;
    let failed: { error: unknown } | undefined;
    let ended = false;
    let wake = () => {};
    const watch = {
      wake: () => wake(),
      fail: (error: unknown) => {
        failed ??= { error };
        wake();
      },
    };
    const onAbort = () => watch.fail(options.signal?.reason);
    options.signal?.addEventListener('abort', onAbort, { once: true });
    const timer = this.#clock.after((options.timeoutSeconds ?? 1800) * 1000, () => {
      ended = true;
      wake();
    });
    this.#watches.add(watch);
    try {
      for (;;) {
        if (failed) throw failed.error;
        const event = this.#events.find(({ plural, version }) => plural === kind.plural && version > position);
        if (event) {
          position = event.version;
          const told = visible(options, event);
          if (!told || this.loses(told)) continue;
          await this.#travel(options.signal);
          yield structuredClone(told);
        } else if (ended) {
          if (position <= this.#version) {
            yield { type: 'BOOKMARK', resourceVersion: String(this.#version), initialEventsEnd: false };
          }
          return;
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      this.#watches.delete(watch);
      timer.cancel();
      options.signal?.removeEventListener('abort', onAbort);
    }
  }

  async #apply(kind: Kind, object: KubeObject, options: WriteOptions): Promise<StoredObject> {
    const verb = options.subresource ? `apply ${options.subresource}` : 'apply';
    await this.#enter(verb, kind, keyOf(object), options.signal);
    const stored = this.peek(kind, keyOf(object));
    const { uid, resourceVersion } = object.metadata;
    if (uid !== undefined && !stored) throw conflict(kind);
    // Of what is not there a resourceVersion says nothing.
    if (resourceVersion !== undefined && stored && resourceVersion !== stored.metadata.resourceVersion)
      throw conflict(kind);
    if (uid !== undefined && uid !== stored?.metadata.uid) {
      const causes = [{ reason: 'FieldValueInvalid', field: 'metadata.uid', message: 'field is immutable' }];
      throw failure(422, 'Invalid', 'metadata.uid: Invalid value: field is immutable', { causes });
    }
    const { status, ...rest } = object;
    const body = options.subresource === 'status' ? { status } : rest;
    return this.put(kind, { ...stored, ...body, metadata: { ...stored?.metadata, ...object.metadata } } as KubeObject);
  }

  async #delete(kind: Kind, ref: ObjectRef, options: DeleteOptions = {}): Promise<undefined> {
    const key = keyOf({ metadata: ref });
    await this.#enter('delete', kind, key, options.signal);
    const { uid, resourceVersion } = this.#found(kind, ref).metadata;
    if (options.uid !== undefined && options.uid !== uid) throw conflict(kind);
    if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) throw conflict(kind);
    this.remove(kind, key);
    return undefined;
  }

  #found(kind: Kind, ref: ObjectRef): StoredObject {
    const found = this.peek(kind, keyOf({ metadata: ref }));
    if (!found) throw failure(404, 'NotFound', `${kind.plural} "${ref.name}" not found`, { name: ref.name });
    return found;
  }

  #all(kind: Kind): Map<string, StoredObject> {
    const objects = this.#objects.get(kind.plural) ?? new Map<string, StoredObject>();
    this.#objects.set(kind.plural, objects);
    return objects;
  }

  #tell(kind: Kind, event: Event): void {
    this.#events.push({ ...event, plural: kind.plural });
    for (const watch of this.#watches) watch.wake();
  }
}

/** An answer of the API server. */
export function failure(code: number, reason: string, message: string, details: Status['details'] = {}): ApiError {
  return new ApiError({ kind: 'Status', apiVersion: 'v1', code, reason, message, details }, 'fake server');
}

function conflict(kind: Kind): ApiError {
  return failure(409, 'Conflict', `Operation cannot be fulfilled on ${kind.plural}`);
}

function selects(options: ListOptions | WatchOptions, object: StoredObject): boolean {
  return (
    (options.namespace === undefined || options.namespace === object.metadata.namespace) &&
    matchesLabels(options.labelSelector ?? '', object.metadata.labels) &&
    matchesFields(options.fieldSelector ?? '', object)
  );
}

/** What a selecting watch says of an event: entering the selection is ADDED, leaving it DELETED. */
function visible(options: WatchOptions, { type, object, old }: Event): WatchEvent | undefined {
  const now = selects(options, object);
  const before = old !== undefined && selects(options, old);
  if (type === 'DELETED' || !now) return before ? { type: 'DELETED', object } : undefined;
  return { type: before ? 'MODIFIED' : 'ADDED', object };
}
