import { type StraightLine, straightLine } from '../../../bench/straight-line.ts';

/** What a reconcile may leave behind, in bytes: an entry of a Map alone is more, with its key and what it leads to. */
export const bounds = { heap: 20, rss: 100 };
/** Reconciles from which on slopes are judged: what the compiler makes of code in use grows before that. */
export const enough = 50_000;

/** What was seen after so many reconciles, when nothing was left to do and the garbage was collected. */
export interface Sample {
  readonly passes: number;
  readonly objects: number;
  /** Bytes. */
  readonly heap: number;
  readonly rss: number;
}

/** A line through what was seen of heap and of resident memory, in bytes a reconcile. */
export type Lines = Readonly<Record<'heap' | 'rss', StraightLine>>;

/** @throws Error with fewer than three samples */
export function linesOf(samples: readonly Sample[]): Lines {
  const line = (of: 'heap' | 'rss') => straightLine(samples.map((one) => [one.passes, one[of]]));
  return { heap: line('heap'), rss: line('rss') };
}

/**
 * What is wrong: slopes that are above their bound by more than chance, with 95 % confidence, in each third of the time
 * (of fewer than nine samples, in all of it). A leak goes on; an allocator takes a piece of 20 MiB once. Not seen is a
 * leak in pieces so rare that a third of the time has none.
 */
export function growth(samples: readonly Sample[]): string[] {
  if ((samples.at(-1)?.passes ?? 0) < enough) return [];
  const whole = linesOf(samples);
  const size = Math.floor(samples.length / 3);
  const thirds = size < 3 ? [] : [0, 1, 2].map((index) => linesOf(samples.slice(index * size, (index + 1) * size)));
  return (['heap', 'rss'] as const).flatMap((name) => {
    const { slope, error } = whole[name];
    if ([whole, ...thirds].some((lines) => lines[name].slope - 2 * lines[name].error <= bounds[name])) return [];
    return [
      `${name} grows by ${slope.toFixed(1)} ± ${(2 * error).toFixed(1)} bytes a reconcile; ${bounds[name]} are allowed`,
    ];
  });
}
