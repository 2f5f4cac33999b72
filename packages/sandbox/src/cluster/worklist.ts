import type { Clock, Timer } from '@openstack-operator/kube';

const FIRST_RETRY_MS = 5;
const LONGEST_RETRY_MS = 60_000;
/** After so many milliseconds of a clock that goes by itself, others have their turn: a virtual one stands still meanwhile. */
const TURN_MS = 10;

/**
 * Keys that want looking at, each once however often it is added. The handler runs soon after, outside of whatever added
 * the key, and synchronously: no two handlers of one cluster ever run side by side. (kube's work queue is made for
 * reconciles that wait for answers; ours never do.) A handler that throws is called again with back-off.
 */
export class Worklist {
  readonly #clock: Clock;
  readonly #handle: (key: string) => void;
  readonly #onError: (key: string, error: unknown) => void;
  #waiting = new Set<string>();
  readonly #delayed = new Map<string, { timer: Timer; at: number }>();
  readonly #failures = new Map<string, number>();
  #drain: Timer | undefined;
  #stopped = false;

  constructor(options: {
    clock: Clock;
    handle: (key: string) => void;
    onError: (key: string, error: unknown) => void;
  }) {
    this.#clock = options.clock;
    this.#handle = options.handle;
    this.#onError = options.onError;
  }

  /** As soon as possible. */
  add(key: string): void {
    if (this.#stopped) return;
    this.#waiting.add(key);
    this.#drain ??= this.#clock.after(0, () => this.#run());
  }

  /** In `ms` milliseconds; an earlier appointment of the same key stays. */
  addAfter(key: string, ms: number): void {
    if (this.#stopped) return;
    const at = this.#clock.monotonic() + ms;
    const before = this.#delayed.get(key);
    if (before && before.at <= at) return;
    before?.timer.cancel();
    const timer = this.#clock.after(ms, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { timer, at });
  }

  /** Forgets a key that is gone: no appointment, no failure is kept. */
  forget(key: string): void {
    this.#delayed.get(key)?.timer.cancel();
    this.#delayed.delete(key);
    this.#failures.delete(key);
  }

  stop(): void {
    this.#stopped = true;
    this.#drain?.cancel();
    for (const { timer } of this.#delayed.values()) timer.cancel();
    this.#delayed.clear();
    this.#waiting.clear();
  }

  /** Keys that wait now. */
  get ready(): number {
    return this.#waiting.size;
  }

  /** How many keys it knows of in any way. */
  get size(): number {
    return this.#waiting.size + this.#delayed.size + this.#failures.size;
  }

  #run(): void {
    this.#drain = undefined;
    const keys = [...this.#waiting];
    this.#waiting.clear();
    const end = this.#clock.monotonic() + TURN_MS;
    for (const [index, key] of keys.entries()) {
      if (this.#stopped) return;
      if (this.#clock.monotonic() > end) {
        this.#waiting = new Set([...keys.slice(index), ...this.#waiting]);
        this.#drain ??= this.#clock.after(0, () => this.#run());
        return;
      }
      try {
        this.#handle(key);
        this.#failures.delete(key);
      } catch (error) {
        this.#onError(key, error);
        const failures = (this.#failures.get(key) ?? 0) + 1;
        this.#failures.set(key, failures);
        this.addAfter(key, Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS));
      }
    }
  }
}
