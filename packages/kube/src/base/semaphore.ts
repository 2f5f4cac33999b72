/** A FIFO semaphore. */
export interface Semaphore {
  /**
   * Waits for a permit. The result releases it; further calls of it do nothing.
   * @throws the signal's reason when aborted meanwhile
   */
  acquire(signal?: AbortSignal): Promise<() => void>;
}

/** Makes a semaphore of `limit` permits. */
export function createSemaphore(limit: number): Semaphore {
  const waiting = new Set<() => void>();
  let taken = 0;

  function permit(): () => void {
    taken += 1;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      taken -= 1;
      const [next] = waiting;
      next?.();
    };
  }

  return {
    acquire: (signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        if (taken < limit) return resolve(permit());
        const onAbort = () => {
          waiting.delete(onPermit);
          reject(signal?.reason);
        };
        const onPermit = () => {
          waiting.delete(onPermit);
          signal?.removeEventListener('abort', onAbort);
          resolve(permit());
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        waiting.add(onPermit);
      }),
  };
}
