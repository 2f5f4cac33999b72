import type { Clock } from '@openstack-operator/kube';

/** The clock of one process: it can be set, and the process can be stopped and go on later (SIGSTOP, a paused VM). */
export interface ProcessClock extends Clock {
  /**
   * Sets what `now` says forward or back, also while the process stands still; timers and `monotonic` go on as they were.
   */
  step(ms: number): void;
  /** Holds every timer, and all that waits for `awake`. */
  freeze(): void;
  /** Lets everything that came meanwhile happen, one after the other: first the timers or first the answers. */
  thaw(answersFirst: boolean): void;
  /** Resolves when the process runs. */
  awake(): Promise<void>;
}

export function processClock(clock: Clock): ProcessClock {
  let offset = 0;
  let frozen = false;
  const timers: (() => void)[] = [];
  const answers: (() => void)[] = [];
  const process: ProcessClock = {
    now: () => clock.now() + offset,
    monotonic: () => clock.monotonic(),
    after(ms, callback, options) {
      let cancelled = false;
      const fire = () => {
        if (!cancelled) callback();
      };
      const timer = clock.after(ms, () => (frozen ? timers.push(fire) : fire()), options);
      return {
        cancel: () => {
          cancelled = true;
          timer.cancel();
        },
      };
    },
    immediate: (callback) => void process.after(0, callback),
    step: (ms) => {
      offset += ms;
    },
    freeze: () => {
      frozen = true;
    },
    thaw(answersFirst) {
      frozen = false;
      const held = [timers.splice(0), answers.splice(0)];
      // A timer of its own for each: what one leads to happens before the next.
      for (const happen of (answersFirst ? held.reverse() : held).flat()) clock.after(0, happen);
    },
    awake: () => (frozen ? new Promise((resolve) => answers.push(resolve)) : Promise.resolve()),
  };
  return process;
}
