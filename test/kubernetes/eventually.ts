import { realClock } from '@openstack-operator/kube';

/** Resolves after that many milliseconds. */
export const wait = (ms: number): Promise<void> => new Promise((resolve) => realClock.after(ms, () => resolve()));

/**
 * Reads until the value is as it should be.
 * @throws Error with the last value when it was not in time
 */
export async function eventually<T>(read: () => Promise<T>, holds: (value: T) => boolean, seconds = 60): Promise<T> {
  const end = realClock.now() + seconds * 1000;
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    if (realClock.now() > end)
      throw new Error(`it did not happen in ${seconds} s; last: ${JSON.stringify(value)?.slice(0, 6000)}`);
    await wait(200);
  }
}
