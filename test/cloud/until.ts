import { type Clock, realClock, sleep } from '@openstack-operator/kube';

/** What is waited for, for how long, and what to say when it does not come. */
export interface Wait<T> {
  /** Completes "waited 60 s for ...". */
  readonly what: string;
  readonly seconds: number;
  /** The awaited, or undefined as long as it is not there; what it throws ends the wait. */
  readonly probe: () => Promise<T | undefined>;
  /** What helps to understand why it did not come. */
  readonly explain?: () => Promise<string>;
  /** Whose seconds these are (default: the machine's). */
  readonly clock?: Clock;
}

/** Asks again and again until the answer is there. @throws Error that says what was awaited, and why it did not come */
export async function until<T>({ what, seconds, probe, explain, clock = realClock }: Wait<T>): Promise<T> {
  const deadline = clock.now() + seconds * 1000;
  for (;;) {
    const found = await probe();
    if (found !== undefined) return found;
    if (clock.now() >= deadline) {
      const words = await explain?.().catch((error: unknown) => String(error));
      throw new Error(`waited ${seconds} s for ${what}${words === undefined ? '' : `\n${words}`}`);
    }
    await sleep(clock, 300);
  }
}

/** Seconds that something takes. */
export async function timed(action: () => Promise<unknown>): Promise<number> {
  const begun = realClock.now();
  await action();
  return (realClock.now() - begun) / 1000;
}
