import { abortScope } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { type Random, uuid } from '../base/random.ts';
import type { TimeSlice } from '../base/time-slice.ts';
import type { Cache, CacheReader } from '../cache/cache.ts';
import type { IndexFunction } from '../cache/store.ts';
import type { Client } from '../client/api.ts';
import { guardedClient, type Leadership, LeadershipLostError } from '../leader-election/guarded-client.ts';
import type { ControllerMetrics, Metrics } from '../metrics/metrics.ts';
import { isApiError, TerminalError } from '../objects/errors.ts';
import { type Kind, type KubeObject, keyOf, type StoredObject } from '../objects/objects.ts';
import type { EventRecorder, EventText } from './events.ts';
import { LastAppliedCache } from './last-applied.ts';
import { WorkQueue } from './queue.ts';
import { createVerbs, type Verbs } from './verbs.ts';
import { type Owned, type Watched, watchAll } from './watches.ts';

/** What a reconcile is given: the object as cached, and what it may use to bring the cluster in line with it. */
export interface ReconcileContext<T extends KubeObject = KubeObject> extends Verbs<T> {
  /** The object as cached: frozen, and ahead of the server by nothing but our own writes. */
  readonly object: StoredObject<T>;
  /** `namespace/name`, or `name`. */
  readonly key: string;
  readonly cache: CacheReader;
  /** For what the verbs do not offer. Its writes are guarded and enter the cache as theirs do. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Aborted when the reconcile must end: leadership lost, process stopping, timeout. */
  readonly signal: AbortSignal;
  /** Awaited before long computation: gives way to timers and sockets when the event loop was held for too long. */
  readonly turn: () => Promise<void> | undefined;
  /** How many writes of this reconcile the server has accepted. */
  readonly writes: () => number;
  /** Records an event on the object (or on `about`). Only on transitions; it never throws. */
  readonly event: (text: EventText, about?: StoredObject) => void;
}

/** The result of a reconcile. */
export interface ReconcileResult {
  /** Milliseconds after which the object is reconciled again, unless something enqueues it before. Absent: not until then. */
  readonly requeueAfter?: number;
}

/** Options of `controller`. */
export interface ControllerOptions<T extends KubeObject = KubeObject> {
  /** In metrics and logs (default: the kind in lower case). */
  readonly name?: string;
  /** Indexes of its kind, for `map` of what it watches, and for other controllers of the same cache. */
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /** Kinds whose objects it makes: they carry a controller reference, and enqueue their owner. */
  readonly owns?: readonly (Kind | Owned)[];
  /** Kinds that it depends on; see `on`. */
  readonly watches?: readonly Watched<T>[];
  /** Objects that are reconciled at once (default 4). */
  readonly concurrency?: number;
  /** Milliseconds that a reconcile may take before its signal is aborted (default 5 minutes). */
  readonly timeout?: number;
  /** Field manager of what it writes (default: that of `run`). */
  readonly fieldManager?: string;
  /**
   * Brings the cluster in line with the object, as far as that goes now. It starts from nothing but the cache. It runs
   * again after every change of the object and of what the controller owns or watches (a second after a change of
   * nothing but the object's status), and after a back-off when it throws, unless it throws a `TerminalError`.
   */
  readonly reconcile: (context: ReconcileContext<T>) => Promise<ReconcileResult | undefined | void>;
  /** Called when an object was deleted: for what is kept outside of the cluster (gauges). */
  readonly onDelete?: (key: string) => void;
}

/** A controller, ready for `run`. */
export interface Controller extends Omit<ControllerOptions, 'name'> {
  readonly kind: Kind;
  readonly name: string;
}

/**
 * Makes a controller of a kind.
 *
 * @example
 * const web = controller(Website, {
 *   owns: [Deployment],
 *   watches: [on(Certificate, 'certificateRef')],
 *   reconcile: async ({ object, apply, status }) => {
 *     const deployment = await apply(deploymentOf(object));
 *     await status({ ready: deployment.status?.readyReplicas === object.spec.replicas });
 *   },
 * });
 */
export function controller<T extends KubeObject>(kind: Kind<T>, options: ControllerOptions<T>): Controller {
  return { ...options, name: options.name ?? kind.kind.toLowerCase(), kind } as unknown as Controller;
}

/** What a running controller shares with the others. */
export interface ControllerRunnerOptions {
  readonly client: Client;
  readonly cache: Cache;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly events: EventRecorder;
  readonly fieldManager: string;
  /** Without it everybody may write. */
  readonly leadership?: Leadership;
  readonly metrics?: Metrics;
  /** Shared by all that works in this process. */
  readonly slice: TimeSlice;
}

/** Runs one controller: the cache fills its queue, reconciles empty it. */
export class ControllerRunner {
  readonly controller: Controller;
  readonly queue: WorkQueue;
  readonly #options: ControllerRunnerOptions;
  readonly #metrics: ControllerMetrics | undefined;
  readonly #known: (object: StoredObject) => boolean;
  readonly #lastApplied: LastAppliedCache;
  readonly #log: Log;
  readonly #stop = new AbortController();

  constructor(controller: Controller, options: ControllerRunnerOptions) {
    const { cache, clock, random, metrics, slice } = options;
    const { name, kind, concurrency = 4 } = controller;
    this.controller = controller;
    this.#options = options;
    this.#log = options.log.with({ controller: name });
    this.#metrics = metrics?.controller(name, concurrency);
    this.queue = new WorkQueue({ clock, random, slice, ...(metrics ? { metrics: metrics.queue(name) } : {}) });
    const owns = (controller.owns ?? []).map((owned): Owned => ('plural' in owned ? { kind: owned } : owned));
    const watches = controller.watches ?? [];
    this.#lastApplied = new LastAppliedCache(
      cache,
      new Set([kind, ...[...owns, ...watches].map((needed) => needed.kind)]),
    );
    this.#known = watchAll({
      name,
      kind,
      ...(controller.indexes ? { indexes: controller.indexes } : {}),
      owns,
      watches,
      cache,
      log: this.#log,
      enqueue: (key, delay) => this.queue.addAfter(key, delay),
    });
  }

  /** Begins to work. */
  start(): void {
    this.queue.start(this.controller.concurrency ?? 4, (key) => this.#reconcile(key));
  }

  /** Takes no more keys; resolves when the running reconciles have ended. */
  stop(): Promise<void> {
    return this.queue.stop();
  }

  /** Aborts the running reconciles. */
  abort(reason: unknown): void {
    this.#stop.abort(reason);
  }

  /** Enqueues every object. */
  resync(): void {
    const { cache } = this.#options;
    for (const object of cache.list(this.controller.kind)) this.queue.add(keyOf(object));
  }

  async #reconcile(key: string): Promise<void> {
    const { cache, clock, random, leadership } = this.#options;
    const { kind, reconcile } = this.controller;
    const object = cache.get(kind, key);
    if (!object) return this.#forget(key);
    // What is not known yet would look like something that is missing; its arrival enqueues the object.
    if (!this.#known(object)) return;
    const begun = clock.monotonic();
    const log = this.#log.with({ key, reconcileID: uuid(random) });
    const ended = (
      ...[result, error]: [Parameters<ControllerMetrics['ended']>[0], ('error' | 'terminal' | 'panic')?]
    ) => this.#metrics?.ended(result, (clock.monotonic() - begun) / 1000, error);
    this.#metrics?.begun();
    const { timeout = 300_000 } = this.controller;
    using scope = abortScope({
      parents: [this.#stop.signal, leadership?.signal],
      deadline: { clock, ms: timeout, reason: () => new Error(`the reconcile took more than ${timeout / 1000} s`) },
    });
    try {
      const { requeueAfter } = (await reconcile(this.#context(object, key, log, scope.signal))) ?? {};
      this.queue.forget(key);
      if (requeueAfter !== undefined) this.queue.addAfter(key, requeueAfter);
      ended(requeueAfter === undefined ? 'success' : 'requeue_after');
    } catch (error) {
      if (error instanceof LeadershipLostError || this.#stop.signal.aborted || leadership?.signal.aborted) {
        ended('error');
        log.info('the reconcile was aborted', { error });
      } else if (error instanceof TerminalError) {
        this.queue.forget(key);
        ended('error', 'terminal');
        log.error('the reconcile failed and is not repeated until something changes', { error });
      } else {
        const retryIn = Math.round(this.queue.addRateLimited(key));
        ended('error', isPanic(error) ? 'panic' : 'error');
        // Somebody else wrote first: usual, and over with the next reconcile.
        if (isApiError(error, 409))
          log.info('the reconcile met a conflict and is repeated', { error: error.message, retryIn });
        else log.error('the reconcile failed and is repeated', { error, retryIn });
      }
    }
  }

  #forget(key: string): void {
    this.queue.forget(key);
    try {
      this.controller.onDelete?.(key);
    } catch (error) {
      this.#log.error('the delete handler failed', { key, error });
    }
  }

  #context(object: StoredObject, key: string, log: Log, signal: AbortSignal): ReconcileContext {
    const { cache, clock, random, events, leadership } = this.#options;
    const { kind } = this.controller;
    let writes = 0;
    const client = guardedClient({
      client: this.#options.client,
      cache,
      clock,
      signal,
      ...(leadership ? { leadership } : {}),
      onWrite: () => writes++,
    });
    const fieldManager = this.controller.fieldManager ?? this.#options.fieldManager;
    return {
      ...createVerbs({ object, kind, client, cache, lastApplied: this.#lastApplied, fieldManager, signal }),
      object,
      key,
      cache,
      client,
      clock,
      random,
      log,
      signal,
      turn: () => this.#options.slice.turn(),
      writes: () => writes,
      event: (text, about = object) => events.record(about, text),
    };
  }
}

/** A mistake in the program, as Go's panic is: no state of the cluster explains it. */
function isPanic(error: unknown): boolean {
  return (
    !(error instanceof Error) ||
    error instanceof TypeError ||
    error instanceof ReferenceError ||
    error instanceof RangeError ||
    error instanceof SyntaxError
  );
}
