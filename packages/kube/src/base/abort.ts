import type { Clock } from './clock.ts';

/** A signal that is disposed of: the end of `using` releases its parents and its timer. */
export interface AbortScope extends Disposable {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}

/** Options of `abortScope`. */
export interface AbortScopeOptions {
  /** Any of these being aborted aborts the scope, with the same reason. */
  readonly parents?: readonly (AbortSignal | undefined)[];
  /** Aborted after so many milliseconds, with what `reason` makes. */
  readonly deadline?: { readonly clock: Clock; readonly ms: number; readonly reason: () => unknown };
}

/**
 * Joins signals and a deadline. Unlike `AbortSignal.any`, nothing of it stays with a long-lived parent, and its time is
 * the clock's.
 */
export function abortScope({ parents = [], deadline }: AbortScopeOptions = {}): AbortScope {
  const controller = new AbortController();
  const ends: (() => void)[] = [];
  const end = () => {
    for (const undo of ends.splice(0)) undo();
  };
  const abort = (reason?: unknown) => {
    end();
    controller.abort(reason);
  };
  for (const parent of parents) {
    if (!parent) continue;
    if (parent.aborted) {
      abort(parent.reason);
      break;
    }
    const listener = () => abort(parent.reason);
    parent.addEventListener('abort', listener, { once: true });
    ends.push(() => parent.removeEventListener('abort', listener));
  }
  if (deadline && !controller.signal.aborted) {
    const timer = deadline.clock.after(deadline.ms, () => abort(deadline.reason()));
    ends.push(() => timer.cancel());
  }
  return { signal: controller.signal, abort, [Symbol.dispose]: end };
}
