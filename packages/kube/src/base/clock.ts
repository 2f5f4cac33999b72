/** A source of time. Whatever waits or reads the time takes one as an option, so that a test can control time. */
export interface Clock {
  /** Milliseconds since the epoch, as whoever keeps the machine's clock thinks: it may be set, forward and back. */
  now(): number;
  /** Milliseconds since some moment. Nobody sets it: the difference of two is how long something took. */
  monotonic(): number;
  /** Calls back once after `ms` milliseconds, unless cancelled. `ref: false` lets the process exit meanwhile. */
  after(ms: number, callback: () => void, options?: { ref?: boolean }): Timer;
  /** Calls back as soon as timers and sockets that are due have had their turn: for work that gives way to them. */
  immediate(callback: () => void): void;
}

/** A pending callback. */
export interface Timer {
  cancel(): void;
}

/** The machine's own clock. */
export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback, { ref = true } = {}) {
    // setTimeout turns more than 2^31-1 ms into 1 ms.
    const handle = setTimeout(callback, Math.min(Math.max(0, ms), 2 ** 31 - 1));
    if (!ref) handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
  immediate: (callback) => void setImmediate(callback),
};

/**
 * Waits `ms` milliseconds of the clock's time.
 * @throws the signal's reason when aborted meanwhile
 */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.after(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** RFC 3339 with whole seconds, as `metav1.Time` is written: `2026-01-02T03:04:05Z`. */
export function timestamp(clock: Pick<Clock, 'now'>): string {
  return `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
}

/** RFC 3339 with exactly six fractional digits, as `metav1.MicroTime` demands (kubernetes-client/javascript#828). */
export function microTimestamp(clock: Pick<Clock, 'now'>): string {
  return new Date(clock.now()).toISOString().replace('Z', '000Z');
}

/** Milliseconds since the epoch of an RFC 3339 text; NaN when it is none. */
export function parseTimestamp(text: string): number {
  return Date.parse(text);
}
