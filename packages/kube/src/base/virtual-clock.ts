import type { Clock, Timer } from './clock.ts';

/** A clock whose time moves only when told: hours of waiting pass in milliseconds, in the same order every time. */
export interface VirtualClock extends Clock {
  /**
   * Lets everything that is ready run, then jumps to the next timer, and so on until `until()` is true (asked whenever
   * all is quiet).
   * @param options.limit virtual milliseconds that may pass (default: one day)
   * @throws Error when no timer is left to wait for, when the limit is reached, when timers fire without end while time
   * stands still
   */
  run(until: () => boolean, options?: { limit?: number }): Promise<void>;
  /** Lets exactly `ms` virtual milliseconds pass, and everything that is due in them run. */
  advance(ms: number): Promise<void>;
  /** Callbacks that are still to come. */
  readonly pending: number;
}

interface Entry {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/** No honest program sets that many timers for one instant: it is a loop that never lets time move. */
const MOST_AT_ONE_INSTANT = 100_000;

/**
 * Makes a `VirtualClock` that starts at `start` (milliseconds since the epoch; default 2026-01-01T00:00:00Z). Timers
 * fire one by one, by time and then by age; between two of them promises, `process.nextTick` and immediates come to
 * rest. What waits for something outside (a socket, the thread pool) is not seen: time does not wait for it.
 */
export function virtualClock({ start = 1_767_225_600_000 }: { start?: number } = {}): VirtualClock {
  let now = start;
  let order = 0;
  let running = false;
  /** Latest first, so that the next one is popped. */
  const entries: Entry[] = [];

  /** Where an entry of that time and age is, or would go. */
  const position = (at: number, order: number): number => {
    let low = 0;
    let high = entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const entry = entries[middle] as Entry;
      if (entry.at > at || (entry.at === at && entry.order > order)) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  const after = (ms: number, callback: () => void): Timer => {
    const entry: Entry = { at: now + Math.max(0, Number.isFinite(ms) ? ms : 0), order: order++, callback };
    entries.splice(position(entry.at, entry.order), 0, entry);
    return {
      cancel: () => {
        const index = position(entry.at, entry.order);
        if (entries[index] === entry) entries.splice(index, 1);
      },
    };
  };

  /** Fires timers until `done()`; `last` is the time beyond which it does not go. */
  const play = async (done: () => boolean, last: number, exhausted: (next: Entry | undefined) => void) => {
    if (running) throw new Error('virtual clock: run() or advance() is called while another one is under way');
    running = true;
    let atThisInstant = 0;
    try {
      for (;;) {
        await quiet();
        if (done()) return;
        const next = entries.at(-1);
        if (next === undefined || next.at > last) return exhausted(next);
        atThisInstant = next.at > now ? 0 : atThisInstant + 1;
        if (atThisInstant > MOST_AT_ONE_INSTANT) {
          throw new Error(`virtual clock: ${atThisInstant} timers fired while time stood still at ${iso(now)}`);
        }
        entries.pop();
        now = next.at;
        next.callback();
      }
    } finally {
      running = false;
    }
  };

  return {
    now: () => now,
    monotonic: () => now - start,
    after,
    immediate: (callback) => void after(0, callback),
    run(until, { limit = 86_400_000 } = {}) {
      const begun = now;
      return play(until, begun + limit, (next) => {
        if (next === undefined) {
          throw new Error(
            `virtual clock: nothing is left to wait for at ${iso(now)} (after ${(now - begun) / 1000} s): ` +
              'no timer is pending and the condition is still false',
          );
        }
        throw new Error(
          `virtual clock: the condition is still false after ${limit / 1000} s; ` +
            `${entries.length} timers are pending, the next one at ${iso(next.at)}`,
        );
      });
    },
    advance(ms) {
      const end = now + ms;
      return play(
        () => false,
        end,
        () => {
          now = end;
        },
      );
    },
    get pending() {
      return entries.length;
    },
  };
}

/** Immediates come after all promises and ticks, and after the immediates that were there before. */
function quiet(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
