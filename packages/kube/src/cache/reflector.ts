import { abortScope } from '../base/abort.ts';
import { type Clock, sleep } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { TimeSlice } from '../base/time-slice.ts';
import type { Client, WatchEvent } from '../client/api.ts';
import { type ApiError, ConnectionError, isApiError, TooLongError } from '../objects/errors.ts';
import { type Kind, type KubeObject, keyOf, type StoredObject } from '../objects/objects.ts';
import type { Store } from './store.ts';

/** Which objects of a kind a reflector watches. Without `namespace`: all namespaces. */
export interface ReflectorSelection {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** How a `Reflector` is made. */
export interface ReflectorOptions<T extends KubeObject = KubeObject> {
  readonly client: Client;
  readonly kind: Kind<T>;
  readonly selection?: ReflectorSelection;
  readonly store: Store<T>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Asked before each event is taken: who listens to the store may work long. */
  readonly slice?: TimeSlice;
  /** Told at the first list and whenever the server begins or ends to serve the kind. */
  readonly onState?: (state: ReflectorState) => void;
}

/** `starting` until the first list is there; `not-served` while the server answers 404. */
export type ReflectorState = 'starting' | 'synced' | 'not-served';

/** client-go's figures: 0.8 s doubling to 30 s, each time by a factor in [1, 2); forgotten after 2 quiet minutes. */
const BACKOFF = { first: 800, most: 30_000, forget: 120_000 };
/** Seconds of a watch: in [300, 600), so that watches of many clients do not end at once. */
const WATCH_SECONDS = 300;
/** How much longer than it asked for a watch may last before it counts as hung, in ms. */
const WATCH_GRACE = 10_000;
/** How long a streamed list may say nothing before the paged one is tried, in ms (a server that does not know it). */
const STREAM_SILENCE = 10_000;
const PAGE = 500;
/** A longer page is asked for in smaller ones: 500 objects may have 1.5 MiB each, and six times that as JSON. */
const PAGE_BYTES = 16 * 2 ** 20;

/**
 * Keeps a store equal to the server: a list, streamed (KEP-3157) or paged, then watches that go on where the last one
 * ended. It reads and stores, nothing else; whoever listens to the store may enqueue keys.
 */
export class Reflector<T extends KubeObject = KubeObject> {
  readonly #options: ReflectorOptions<T>;
  #state: ReflectorState = 'starting';
  #listed = false;
  #streams = true;
  #page: number | undefined = PAGE;
  #failures = 0;
  #failed = Number.NEGATIVE_INFINITY;
  #missing = 0;
  #error: unknown;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
  }

  get state(): ReflectorState {
    return this.#state;
  }

  /** What went wrong last; undefined while all is well. */
  get error(): unknown {
    return this.#error;
  }

  /** Follows the server until aborted. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      try {
        if (this.#listed || this.#streams) await this.#watch(signal);
        else await this.#list(signal);
        this.#error = undefined;
      } catch (error) {
        if (signal.aborted) return;
        const wait = this.#learn(error);
        if (wait > 0) await sleep(clock, wait, signal).catch(() => {});
      }
    }
  }

  /** One watch to its end: from where the last one ended, or, with nothing listed, streaming what exists first. */
  async #watch(signal: AbortSignal): Promise<void> {
    const { client, kind, selection, store, clock, random, slice } = this.#options;
    const timeoutSeconds = Math.floor(WATCH_SECONDS * (1 + random.next()));
    const begun = clock.monotonic();
    let events = 0;
    let initial: Map<string, StoredObject<T>> | undefined = this.#listed ? undefined : new Map();
    using scope = abortScope({
      parents: [signal],
      deadline: {
        clock,
        ms: timeoutSeconds * 1000 + WATCH_GRACE,
        reason: () => new ConnectionError('ETIMEDOUT', `the watch outlived its ${timeoutSeconds} s`),
      },
    });
    let silence = initial ? this.#whenSilent(() => scope.abort(new StreamUnsupported())) : undefined;
    try {
      const from = initial ? { sendInitialEvents: true } : { resourceVersion: store.version ?? '' };
      const watch = client.watch(kind, { ...selection, ...from, timeoutSeconds, signal: scope.signal });
      for await (const event of watch) {
        const turn = slice?.turn();
        if (turn) await turn;
        events++;
        if (!initial) {
          this.#take(event);
          continue;
        }
        silence?.cancel();
        if (event.type === 'BOOKMARK' && event.initialEventsEnd) {
          silence = undefined;
          this.#synced(initial.values(), event.resourceVersion);
          initial = undefined;
          continue;
        }
        silence = this.#whenSilent(() => scope.abort(new StreamUnsupported()));
        if (event.type === 'DELETED') initial.delete(keyOf(event.object));
        else if (event.type !== 'BOOKMARK') {
          const prepared = this.#prepared(event.object);
          if (prepared) initial.set(keyOf(event.object), prepared);
        }
      }
    } finally {
      silence?.cancel();
    }
    if (initial) throw new ConnectionError('ECONNRESET', 'the streamed list ended before its end was marked');
    if (events > 0) return;
    if (clock.monotonic() - begun < 1000) {
      throw new ConnectionError('ECONNRESET', 'the watch ended within a second, without an event');
    }
    // Not even a bookmark: a server that was set back to an old backup waits in silence for the version that we have.
    this.#listed = false;
  }

  #take(event: WatchEvent<T>): void {
    const { store } = this.#options;
    if (event.type === 'BOOKMARK') store.advance(event.resourceVersion);
    else if (event.type === 'DELETED') store.drop(event.object);
    else {
      try {
        store.observe(event.object);
      } catch (error) {
        this.#skipped(event.object, error);
      }
    }
  }

  /** What is stored of a listed object. Where that fails, what is known of it already: it harms no other object. */
  #prepared(object: StoredObject<T>): StoredObject<T> | undefined {
    const { store } = this.#options;
    try {
      return store.prepare(object);
    } catch (error) {
      this.#skipped(object, error);
      const known = store.get(keyOf(object));
      return known?.metadata.uid === object.metadata.uid ? known : undefined;
    }
  }

  #skipped(object: StoredObject<T>, error: unknown): void {
    this.#options.log.error('an object could not be stored and is skipped', { object: keyOf(object), error });
  }

  #whenSilent(callback: () => void) {
    return this.#options.clock.after(STREAM_SILENCE, callback);
  }

  /** The whole list, page by page: for servers that do not stream it. */
  async #list(signal: AbortSignal): Promise<void> {
    const { client, kind, selection } = this.#options;
    const objects: StoredObject<T>[] = [];
    let next: string | undefined;
    let limit = this.#page;
    for (;;) {
      const page = await client
        .list(kind, {
          ...selection,
          ...(limit === undefined ? {} : { limit }),
          ...(limit === 1 ? {} : { mostBytes: limit === undefined ? 4 * PAGE_BYTES : PAGE_BYTES }),
          ...(next === undefined ? {} : { continue: next }),
          signal,
        })
        .catch((error: unknown) => {
          if (error instanceof TooLongError) return undefined;
          // The snapshot was gone before the last page was read: next time in one piece.
          if (next !== undefined && isExpired(error)) this.#page = undefined;
          throw error;
        });
      if (!page) {
        limit = limit === undefined ? PAGE : Math.ceil(limit / 8);
        continue;
      }
      for (const object of page.items) {
        const prepared = this.#prepared(object);
        if (prepared) objects.push(prepared);
      }
      if (limit !== undefined) limit = Math.min(PAGE, limit * 2);
      next = page.metadata.continue === '' ? undefined : page.metadata.continue;
      if (next === undefined) return this.#synced(objects, page.metadata.resourceVersion);
    }
  }

  #synced(objects: Iterable<StoredObject<T>>, version: string): void {
    this.#listed = true;
    this.#missing = 0;
    this.#error = undefined;
    this.#options.store.replace(objects, version);
    this.#enter('synced');
  }

  #enter(state: ReflectorState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#options.onState?.(state);
  }

  /** Learns from an error; gives the milliseconds to wait before the next attempt. */
  #learn(error: unknown): number {
    const { clock, random, log, store } = this.#options;
    if (error instanceof StreamUnsupported) {
      this.#streams = false;
      log.info('the server does not mark the end of a streamed list; listing page by page');
      return 0;
    }
    if (clock.monotonic() - this.#failed > BACKOFF.forget) this.#failures = 0;
    const first = this.#failures === 0;
    this.#failed = clock.monotonic();
    this.#error = error;
    if (isApiError(error, 404)) {
      // One 404 may be an API server that is still starting; only a second one empties the store.
      if (++this.#missing > 1 || this.#state === 'starting') {
        this.#listed = false;
        store.clear();
        this.#enter('not-served');
      }
      log.debug('the server does not serve this kind', { error });
    } else if (isExpired(error)) {
      this.#listed = false;
      log.debug('listing anew', { error });
      // Usual after a quiet time; only when it happens again and again it must not become a storm.
      if (first) {
        this.#failures = 1;
        return 0;
      }
    } else if (isRefused(error)) {
      if (!this.#listed) this.#streams = false;
      this.#listed = false;
      log.info('the server refuses this watch; listing page by page', { error });
    } else {
      log.warn('watch failed', { error });
    }
    const delay = Math.min(BACKOFF.most, BACKOFF.first * 2 ** this.#failures++) * (1 + random.next());
    const asked = isApiError(error) ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
    return Math.max(delay, asked);
  }
}

/** The server knows nothing of `sendInitialEvents`: it streamed without ever marking the end. */
class StreamUnsupported extends Error {}

/** 410 in both shapes, and a version that this server has not reached (a restored backup): only a new list helps. */
function isExpired(error: unknown): boolean {
  if (!isApiError(error)) return false;
  return (
    error.code === 410 ||
    error.reason === 'Expired' ||
    error.reason === 'Gone' ||
    (error.status.details?.causes ?? []).some((cause) => cause.reason === 'ResourceVersionTooLarge')
  );
}

/** The request itself is wrong for this server, whoever asks and whenever. */
function isRefused(error: unknown): error is ApiError {
  return isApiError(error) && error.code >= 400 && error.code < 500 && ![401, 403, 408, 429].includes(error.code);
}
