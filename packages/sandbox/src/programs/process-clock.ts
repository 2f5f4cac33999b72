import type { Clock, Timer } from '@openstack-operator/kube';

/** A clock whose timers all die with a container: what a killed program waits for never comes. */
export class ProcessClock implements Clock {
  readonly #clock: Clock;
  readonly #timers = new Set<Timer>();
  #stopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  after(ms: number, callback: () => void, options?: { ref?: boolean }): Timer {
    if (this.#stopped) return { cancel: () => {} };
    const timer = this.#clock.after(
      ms,
      () => {
        this.#timers.delete(timer);
        callback();
      },
      options,
    );
    this.#timers.add(timer);
    return {
      cancel: () => {
        this.#timers.delete(timer);
        timer.cancel();
      },
    };
  }

  immediate(callback: () => void): void {
    this.after(0, callback);
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }
}
