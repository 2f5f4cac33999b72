import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { StraightLine } from '../../../bench/straight-line.ts';
import { Collections } from './collections.ts';
import { growth, linesOf, type Sample } from './growth.ts';
import type { Stage } from './stage.ts';

/** What became of the memory of a stage. */
export interface Account {
  readonly samples: readonly Sample[];
  /** Bytes a reconcile. */
  readonly heap: StraightLine;
  readonly rss: StraightLine;
  /** Entries of all Maps and Sets of the process, before and after. */
  readonly entries: readonly [before: number, after: number];
  /** What is wrong; empty when nothing leaks. */
  readonly leaks: readonly string[];
}

/** How long a stage is watched. */
export interface Watching {
  /** Until at least so many objects have come and gone ... */
  readonly objects: number;
  /** ... and so many reconciles were made. */
  readonly passes: number;
  readonly samples: number;
  readonly told?: (sample: Sample) => void;
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Makes objects come and go, and looks at what stays. */
export async function watchMemory(stage: Stage, { told, ...until }: Watching): Promise<Account> {
  let objects = 0;
  let cycles = 0;
  const cycle = async () => {
    objects += await stage.cycle(objects);
    cycles++;
  };
  // The first ones fill what is filled once: compiled code, caches of schemas and patterns.
  for (let index = 0; index < 2; index++) await cycle();
  await stage.rest();
  const before = await Collections.now();
  const first = { objects, cycles, passes: await stage.passes() };
  const samples: Sample[] = [];
  const sample = async () => {
    await stage.rest();
    collectGarbage();
    const { heapUsed: heap, rss } = process.memoryUsage();
    const one = { passes: (await stage.passes()) - first.passes, objects: objects - first.objects, heap, rss };
    samples.push(one);
    told?.(one);
  };
  const progress = async () =>
    Math.min((objects - first.objects) / until.objects, ((await stage.passes()) - first.passes) / until.passes);
  while ((await progress()) < 1) {
    await cycle();
    if ((await progress()) * until.samples >= samples.length + 1) await sample();
  }
  const grown = await before.grown();
  const after = await Collections.now();
  // What is filled once by something rare is no leak; a leak leaves an entry in each cycle at least.
  const leaks = grown.reduce((sum, { by }) => sum + by, 0) < cycles - first.cycles ? [] : grown.map(({ what }) => what);
  // A fifth of it is left for allocators to find their size.
  const settled = samples.slice(Math.floor(samples.length / 5));
  const lines = linesOf(settled);
  const all = [...leaks, ...growth(settled)];
  return { samples, ...lines, entries: [before.entries, after.entries], leaks: all };
}
