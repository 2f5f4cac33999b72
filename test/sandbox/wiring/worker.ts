import { parentPort } from 'node:worker_threads';
import { realClock } from '@openstack-operator/kube';
import { clouds } from './clouds.ts';
import { type FoundMutant, mutantsOf } from './mutants.ts';
import { type GoodRollout, goodRollout, type Outcome, trial } from './trial.ts';

/** One question to a worker: what becomes of that cloud with that mistake? */
export interface Question {
  readonly cloud: string;
  readonly id: string;
}

/** Its answer. */
export interface Answer extends Outcome {
  /** Real time that it took. */
  readonly milliseconds: number;
}

interface Known {
  readonly good: GoodRollout;
  readonly mutants: ReadonlyMap<string, FoundMutant>;
}

const known = new Map<string, Known>();

parentPort?.on('message', (question: Question) => void answer(question));

async function answer({ cloud, id }: Question): Promise<void> {
  const spec = clouds[cloud] ?? {};
  let one = known.get(cloud);
  if (one === undefined) {
    const good = await goodRollout(spec);
    one = { good, mutants: new Map(mutantsOf(good.written).map((mutant) => [mutant.id, mutant])) };
    known.set(cloud, one);
  }
  const mutant = one.mutants.get(id);
  const begun = realClock.now();
  const outcome: Outcome =
    mutant === undefined
      ? { verdict: 'broken', words: `cloud ${cloud} has no such mutant in this run: rollouts differ`, seconds: 0 }
      : await trial(mutant, spec, one.good);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port, not a window
  parentPort?.postMessage({ ...outcome, milliseconds: realClock.now() - begun } satisfies Answer);
}
