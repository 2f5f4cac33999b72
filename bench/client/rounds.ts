import { createInterface } from 'node:readline';

/** What a contestant is asked to do. */
export interface Round {
  /** For how long it sends requests. */
  readonly seconds: number;
  /** How many ConfigMaps are patched at once: `bench-0`, `bench-1`, ..., each by a worker that waits for every answer. */
  readonly concurrency: number;
}

/** What it has done. */
export interface Done {
  readonly requests: number;
  /** Until the last answer. */
  readonly seconds: number;
}

/** Namespace of the ConfigMaps. */
export const namespace = 'default';

/** The ConfigMap of a worker. */
export function nameOf(worker: number): string {
  return `bench-${worker}`;
}

/** What every worker sends: a merge patch that changes one key, so that each is a write. */
export function patchOf(count: number) {
  return { data: { count: String(count) } };
}

/** Plays the rounds that standard input asks for, one a line, with a client that patches. Ends with the input. */
export async function play(send: (name: string, patch: ReturnType<typeof patchOf>) => Promise<unknown>): Promise<void> {
  let requests = 0;
  // An end by a signal alone would write no profile.
  process.once('SIGTERM', () => process.exit());
  for await (const line of createInterface({ input: process.stdin })) {
    const { seconds, concurrency } = JSON.parse(line) as Round;
    const before = requests;
    const begun = performance.now();
    const work = async (worker: number) => {
      while (performance.now() - begun < seconds * 1000) await send(nameOf(worker), patchOf(++requests));
    };
    await Promise.all(Array.from({ length: concurrency }, (_, worker) => work(worker)));
    const done: Done = { requests: requests - before, seconds: (performance.now() - begun) / 1000 };
    process.stdout.write(`${JSON.stringify(done)}\n`);
  }
}
