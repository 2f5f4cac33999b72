/** Lets so many work at once; the others wait, first come, first served. */
export interface Turns {
  /**
   * Waits for a turn. The result, called once or more often, gives it to the next one.
   * @throws the signal's reason when aborted meanwhile
   */
  take(signal?: AbortSignal): Promise<() => void>;
}

/** Makes `Turns` for at most `limit` at once. */
export function createTurns(limit: number): Turns {
  const waiting = new Set<() => void>();
  let taken = 0;

  function turn(): () => void {
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
    take: (signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        if (taken < limit) return resolve(turn());
        const onAbort = () => {
          waiting.delete(onTurn);
          reject(signal?.reason);
        };
        const onTurn = () => {
          waiting.delete(onTurn);
          signal?.removeEventListener('abort', onAbort);
          resolve(turn());
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        waiting.add(onTurn);
      }),
  };
}
