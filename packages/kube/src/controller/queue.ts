import type { Clock, Timer } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import { TimeSlice } from '../base/time-slice.ts';
import type { QueueMetrics } from '../metrics/metrics.ts';

/** How a `WorkQueue` is made. */
export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics?: QueueMetrics;
  /** Shared by all queues of a process (default: one of its own). */
  readonly slice?: TimeSlice;
  /** Milliseconds of the first and of the longest back-off (default: 5 and 1,000,000). */
  readonly backoff?: { readonly first: number; readonly most: number };
}

/** Works on one key. Never rejects: what went wrong is its own affair. */
export type Work = (key: string) => Promise<void>;

/**
 * A work queue of keys. A key that waits is not queued twice; a key that is being worked on is worked on again after
 * that, never at the same time. Keys are taken from each namespace in turn, in the order in which they came: thousands of
 * one namespace hold up those of another by one key.
 *
 * A delayed key is dropped when the key is worked on before: that work has seen the newest state, and adds the key again
 * where it has to.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #backoff: { readonly first: number; readonly most: number };
  readonly #slice: TimeSlice;
  /** Waiting, with the time at which they came: by namespace, whose turn it is first, and in order. */
  readonly #ready = new Map<string, Map<string, number>>();
  /** Being worked on, with the time at which that began. */
  readonly #active = new Map<string, number>();
  readonly #delayed = new Map<string, { at: number; timer: Timer }>();
  readonly #failures = new Map<string, number>();
  #work: Work | undefined;
  #workers = 0;
  #stopped = false;
  #pumping = false;
  #drained: (() => void)[] = [];

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#backoff = options.backoff ?? { first: 5, most: 1_000_000 };
    this.#slice = options.slice ?? new TimeSlice(options.clock);
    options.metrics?.observe(() => this.#measure());
  }

  /** Keys that wait for a worker. */
  get depth(): number {
    return this.#ready.values().reduce((sum, keys) => sum + keys.size, 0);
  }

  /** Keys that are being worked on. */
  get active(): number {
    return this.#active.size;
  }

  /** Keys that wait for their time. */
  get delayed(): number {
    return this.#delayed.size;
  }

  /** Keys whose last work failed. */
  get failing(): number {
    return this.#failures.size;
  }

  /** Milliseconds for which the longest work has been under way; 0 when there is none. */
  get longest(): number {
    const [first] = this.#active.values();
    return first === undefined ? 0 : this.#options.clock.monotonic() - first;
  }

  /** Whether nothing waits for a worker and nothing is being worked on. */
  get idle(): boolean {
    return this.#ready.size === 0 && this.#active.size === 0;
  }

  add(key: string): void {
    const namespace = namespaceOf(key);
    const waiting = this.#ready.get(namespace) ?? new Map<string, number>();
    if (this.#stopped || waiting.has(key)) return;
    waiting.set(key, this.#options.clock.monotonic());
    this.#ready.set(namespace, waiting);
    this.#options.metrics?.added();
    this.#pump();
  }

  /** Adds the key after so many milliseconds; of several wishes the earliest counts. */
  addAfter(key: string, ms: number): void {
    if (this.#stopped) return;
    if (ms <= 0) return this.add(key);
    const { clock } = this.#options;
    const at = clock.monotonic() + ms;
    const waiting = this.#delayed.get(key);
    if (waiting) {
      if (waiting.at <= at) return;
      waiting.timer.cancel();
    }
    const timer = clock.after(ms, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { at, timer });
  }

  /** Adds the key after its back-off: 5 ms, doubled with each failure up to 1000 s, by a factor in [1, 1.5). */
  addRateLimited(key: string): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    this.#options.metrics?.retried();
    const { first, most } = this.#backoff;
    const delay = Math.min(most, first * 2 ** failures * (1 + this.#options.random.next() / 2));
    this.addAfter(key, delay);
    return delay;
  }

  /** The key did well: its back-off begins anew. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Begins to work, on so many keys at once. */
  start(workers: number, work: Work): void {
    this.#workers = workers;
    this.#work = work;
    this.#pump();
  }

  /** Takes no more keys. Resolves when the running ones have ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const { timer } of this.#delayed.values()) timer.cancel();
    this.#delayed.clear();
    this.#ready.clear();
    this.#failures.clear();
    if (this.#active.size > 0) await new Promise<void>((resolve) => this.#drained.push(resolve));
  }

  /** Hands keys to free workers, never within the caller: whoever adds a key runs nobody's code. */
  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    queueMicrotask(() => this.#hand());
  }

  /** `granted`: it is this queue's turn for one key. */
  #hand(granted = false): void {
    while (!this.#stopped && this.#work && this.#active.size < this.#workers) {
      const key = this.#next();
      if (key === undefined) break;
      // Passes that await nothing but each other would keep timers (the lease's too) waiting.
      const turn = granted ? undefined : this.#slice.turn();
      if (turn) return void turn.then(() => this.#hand(true));
      granted = false;
      void this.#run(key, this.#work);
    }
    this.#pumping = false;
  }

  #next(): string | undefined {
    for (const keys of this.#ready.values()) {
      for (const key of keys.keys()) if (!this.#active.has(key)) return key;
    }
    return undefined;
  }

  /** Takes a key out, and its namespace to the end of the line. Gives the time at which it came. */
  #take(key: string): number | undefined {
    const namespace = namespaceOf(key);
    const waiting = this.#ready.get(namespace);
    const came = waiting?.get(key);
    waiting?.delete(key);
    this.#ready.delete(namespace);
    if (waiting !== undefined && waiting.size > 0) this.#ready.set(namespace, waiting);
    return came;
  }

  async #run(key: string, work: Work): Promise<void> {
    const { clock, metrics } = this.#options;
    const begun = clock.monotonic();
    const came = this.#take(key) ?? begun;
    metrics?.taken((begun - came) / 1000);
    this.#delayed.get(key)?.timer.cancel();
    this.#delayed.delete(key);
    this.#active.set(key, begun);
    try {
      await work(key);
    } finally {
      this.#active.delete(key);
      metrics?.finished((clock.monotonic() - begun) / 1000);
      if (this.#active.size === 0) for (const resolve of this.#drained.splice(0)) resolve();
      this.#pump();
    }
  }

  #measure() {
    const now = this.#options.clock.monotonic();
    const running = [...this.#active.values()].map((begun) => (now - begun) / 1000);
    return {
      depth: this.depth,
      unfinished: running.reduce((sum, seconds) => sum + seconds, 0),
      longest: Math.max(0, ...running),
    };
  }
}

function namespaceOf(key: string): string {
  return key.slice(0, Math.max(0, key.indexOf('/')));
}
