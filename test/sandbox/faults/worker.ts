import { parentPort, workerData } from 'node:worker_threads';
import { explain, play } from './play.ts';
import { scheduleOf } from './schedule.ts';

/** What came of a schedule. */
export interface Played {
  readonly seed: number;
  readonly cloud: string;
  readonly failure?: string;
}

const { first, step, last } = workerData as { first: number; step: number; last: number };
for (let seed = first; seed <= last; seed += step) {
  const schedule = scheduleOf(seed);
  const found = await play(schedule);
  const failure = found.length === 0 ? {} : { failure: await explain(schedule, found) };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port, not a window
  parentPort?.postMessage({ seed, cloud: schedule.cloud, ...failure } satisfies Played);
}
process.exit();
