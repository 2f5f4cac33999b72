import { createInterface } from 'node:readline';
import { type Cluster, tests } from './suite.ts';

/** What a contestant says of one run of the suite. */
export interface Played {
  readonly tests: number;
  readonly milliseconds: number;
}

/** Says that the contestant is ready, and runs the suite for each line of standard input, a number of its own. */
export async function play(cluster: Cluster): Promise<never> {
  const say = (word: unknown) => process.stdout.write(`${JSON.stringify(word)}\n`);
  say('ready');
  for await (const run of createInterface({ input: process.stdin })) {
    const begun = performance.now();
    for (const [index, [title, test]] of Object.entries(tests).entries()) {
      try {
        await test(cluster, `run-${run}-test-${index + 1}`);
      } catch (error) {
        throw new Error(`"${title}" failed`, { cause: error });
      }
    }
    say({ tests: Object.keys(tests).length, milliseconds: performance.now() - begun } satisfies Played);
  }
  process.exit();
}
