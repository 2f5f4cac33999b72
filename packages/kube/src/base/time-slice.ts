import type { Clock } from './clock.ts';

/** How long work may go on in one piece before timers and sockets get their turn, in ms. */
const SLICE = 10;

/**
 * What all work of a process shares: one slice of time, after which timers and sockets (the lease's renewal, probes) get
 * their turn. Then waiting work goes on one piece a turn of the event loop, first come, first served. So however many
 * queues there are, the event loop stands still for no longer than a slice and two pieces of work: one that began at its
 * end, and one that was granted within it.
 */
export class TimeSlice {
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  /** When timers and sockets had their turn last, as far as is known. */
  #since: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Nothing when work may go on at once; else a promise of the moment when it may. */
  turn(): Promise<void> | undefined {
    const now = this.#clock.monotonic();
    this.#since ??= now;
    if (this.#waiting.length === 0 && now - this.#since <= SLICE) return undefined;
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) this.#clock.immediate(() => this.#next());
    });
  }

  #next(): void {
    this.#since = this.#clock.monotonic();
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) this.#clock.immediate(() => this.#next());
  }
}
