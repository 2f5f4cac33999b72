import { abortScope } from './abort.ts';
import type { Client } from './api.ts';
import type { Cache, CacheReader } from './cache.ts';
import type { Clock } from './clock.ts';
import { isApiError, TerminalError } from './errors.ts';
import type { EventRecorder, EventText } from './events.ts';
import { guardedClient, type Leadership, LeadershipLostError } from './guarded-client.ts';
import type { Log } from './log.ts';
import type { ControllerMetrics, Metrics } from './metrics.ts';
import { type Kind, type KubeObject, keyOf, type StoredObject } from './objects.ts';
import { WorkQueue } from './queue.ts';
import { type Random, uuid } from './random.ts';
import { Statements } from './statements.ts';
import type { IndexFunction } from './store.ts';
import type { TimeSlice } from './time-slice.ts';
import { createVerbs, type Verbs } from './verbs.ts';
import { follow, type Owned, type Watched } from './watches.ts';

/** What a pass may use. */
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
  /** Aborted when the pass must end: leadership lost, process stopping, time over. */
  readonly signal: AbortSignal;
  /** Awaited before a long piece of work: lets timers and sockets have their turn when much was done without one. */
  readonly turn: () => Promise<void> | undefined;
  /** How many writes of this pass the server has accepted. */
  readonly writes: () => number;
  /** Records an event on the object (or on `about`). Only on transitions; it never throws. */
  readonly event: (text: EventText, about?: StoredObject) => void;
}

/** Wishes for another pass, made by `after`. */
export interface After {
  readonly after: number;
}

/** The pass is to be made again in so many milliseconds, if nothing wakes the object before. */
export function after(ms: number): After {
  return { after: ms };
}

/** What a controller is made of. */
export interface ControllerOptions<T extends KubeObject = KubeObject> {
  /** In metrics and logs (default: the kind in lower case). */
  readonly name?: string;
  /** Indexes of its kind, for `map` of what it watches, and for other controllers of the same cache. */
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /** Kinds whose objects it makes: they carry a controller reference, and wake their owner. */
  readonly owns?: readonly (Kind | Owned)[];
  /** Kinds that it depends on; see `on`. */
  readonly watches?: readonly Watched<T>[];
  /** Passes that run at once, each on another object (default 4). */
  readonly concurrency?: number;
  /** Milliseconds that a pass may take before its signal is aborted (default 5 minutes). */
  readonly timeout?: number;
  /** Field manager of what it writes (default: that of `run`). */
  readonly fieldManager?: string;
  /**
   * One pass: brings what is into line with what is stated, as far as that goes now. It starts from nothing but the
   * cache, is run again after every change of its object, of what it owns or watches (a second after one of nothing
   * but its object's status), and after a back-off when it throws, unless it throws a `TerminalError`.
   */
  readonly reconcile: (context: ReconcileContext<T>) => Promise<After | undefined | void>;
  /** The object is gone: for what is kept outside of the cluster (gauges). */
  readonly gone?: (key: string) => void;
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

/** Runs one controller: its queue, filled by the cache, and the passes that empty it. */
export class ControllerRunner {
  readonly controller: Controller;
  readonly queue: WorkQueue;
  readonly #options: ControllerRunnerOptions;
  readonly #metrics: ControllerMetrics | undefined;
  readonly #known: (object: StoredObject) => boolean;
  readonly #statements: Statements;
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
    this.#statements = new Statements(cache, new Set([kind, ...[...owns, ...watches].map((needed) => needed.kind)]));
    this.#known = follow({
      name,
      kind,
      ...(controller.indexes ? { indexes: controller.indexes } : {}),
      owns,
      watches,
      cache,
      log: this.#log,
      wake: (key, delay) => this.queue.addAfter(key, delay),
    });
  }

  /** Begins to work. */
  start(): void {
    this.queue.start(this.controller.concurrency ?? 4, (key) => this.#pass(key));
  }

  /** Takes no more keys; resolves when the running passes have ended. */
  stop(): Promise<void> {
    return this.queue.stop();
  }

  /** Aborts the running passes. */
  abort(reason: unknown): void {
    this.#stop.abort(reason);
  }

  /** Wakes every object. */
  resync(): void {
    const { cache } = this.#options;
    for (const object of cache.list(this.controller.kind)) this.queue.add(keyOf(object));
  }

  async #pass(key: string): Promise<void> {
    const { cache, clock, random, leadership } = this.#options;
    const { kind, reconcile } = this.controller;
    const object = cache.get(kind, key);
    if (!object) return this.#forget(key);
    // What is not known yet would look like something that is missing; its arrival wakes the object.
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
      deadline: { clock, ms: timeout, reason: () => new Error(`the pass took more than ${timeout / 1000} s`) },
    });
    try {
      const wish = await reconcile(this.#context(object, key, log, scope.signal));
      this.queue.forget(key);
      if (wish) this.queue.addAfter(key, wish.after);
      ended(wish ? 'requeue_after' : 'success');
    } catch (error) {
      if (error instanceof LeadershipLostError || this.#stop.signal.aborted || leadership?.signal.aborted) {
        ended('error');
        log.info('the pass was broken off', { error });
      } else if (error instanceof TerminalError) {
        this.queue.forget(key);
        ended('error', 'terminal');
        log.error('the pass failed and is not repeated until something changes', { error });
      } else {
        const retryIn = Math.round(this.queue.addRateLimited(key));
        ended('error', isPanic(error) ? 'panic' : 'error');
        // Somebody else wrote first: usual, and over with the next pass.
        if (isApiError(error, 409))
          log.info('the pass met a conflict and is repeated', { error: error.message, retryIn });
        else log.error('the pass failed and is repeated', { error, retryIn });
      }
    }
  }

  #forget(key: string): void {
    this.queue.forget(key);
    try {
      this.controller.gone?.(key);
    } catch (error) {
      this.#log.error('what was kept of an object that is gone could not be forgotten', { key, error });
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
      ...createVerbs({ object, kind, client, cache, statements: this.#statements, fieldManager, signal }),
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
