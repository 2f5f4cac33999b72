import { parentPort } from 'node:worker_threads';
import { realClock } from '@openstack-operator/kube';
import { clouds } from './clouds.ts';
import { type MutantOfService, mutantsOf } from './mutants.ts';
import { goodRollout, type Outcome, trial } from './trial.ts';

/** One question to a worker: what becomes of that cloud with that mistake? */
export interface Question {
  readonly cloud: string;
  readonly id: string;
}

/** Its answer, in real milliseconds. */
export interface Answer extends Outcome {
  readonly milliseconds: number;
}

const known = new Map<string, Map<string, MutantOfService>>();

parentPort?.on('message', (question: Question) => void answer(question));

async function answer({ cloud, id }: Question): Promise<void> {
  const spec = clouds[cloud] ?? {};
  let mutants = known.get(cloud);
  if (mutants === undefined) {
    mutants = new Map(mutantsOf((await goodRollout(spec)).written).map((mutant) => [mutant.id, mutant]));
    known.set(cloud, mutants);
  }
  const mutant = mutants.get(id);
  const begun = realClock.now();
  const outcome: Outcome =
    mutant === undefined
      ? { verdict: 'broken', words: `cloud ${cloud} has no such mutant in this run: rollouts differ`, seconds: 0 }
      : await trial(mutant, spec);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port, not a window
  parentPort?.postMessage({ ...outcome, milliseconds: realClock.now() - begun } satisfies Answer);
}
