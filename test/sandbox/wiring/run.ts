import { Worker } from 'node:worker_threads';
import { realClock } from '@openstack-operator/kube';
import { clouds } from './clouds.ts';
import { mutantsOf } from './mutants.ts';
import { coveredRollout } from './unread.ts';
import type { Answer, Question } from './worker.ts';

/** A mutant and what became of it. */
export interface Result extends Question, Answer {}

/** A mutant, the cloud on which it is tried, and whether it need not be tried at all. */
export interface Planned extends Question {
  /** The last cloud that has its object: there is most there that could notice. */
  readonly whole: string;
  /** On that cloud no process reads what it changes: nothing could notice. */
  readonly unread: boolean;
}

/** Which mutants there are, and on which cloud each is tried: the smallest one that has its object. */
export async function plan(): Promise<Planned[]> {
  const planned = new Map<string, Planned>();
  for (const cloud of Object.keys(clouds)) {
    const covered = await coveredRollout(clouds[cloud] ?? {});
    const { written, outcome } = covered.good;
    if (outcome.verdict !== 'survived') {
      throw new Error(`cloud ${cloud} does not even come up without a mistake: ${outcome.words}`);
    }
    const claimsNodes = [...written.values()].some(({ kind }) => kind === 'DaemonSet');
    for (const { id, onNodesOnly } of mutantsOf(written)) {
      const first = planned.get(id)?.cloud ?? cloud;
      if (planned.has(id) || claimsNodes || !onNodesOnly)
        planned.set(id, { cloud: first, id, whole: cloud, unread: covered.isUnread(id) });
    }
  }
  return [...planned.values()];
}

/** What becomes of a mistake in what nobody reads, without a trial. */
export function unnoticed({ cloud, id }: Question): Result {
  return { cloud, id, verdict: 'survived', words: 'no process reads it', seconds: 0, milliseconds: 0 };
}

/** Real milliseconds after which a trial counts as hung, on a machine that has more to do. */
const patience = 300_000;

/**
 * Tries mutants in worker threads; one that hangs is ended with its worker. What survives on a part of the cloud for no
 * known reason is tried on the last one that has its object. Results come as they are found.
 */
export async function tryAll(
  questions: readonly Planned[],
  options: {
    workers: number;
    mayLive: (id: string) => boolean;
    onResult: (result: Result) => void;
    /** Whether to stop here; what has begun is finished. */
    enough: () => boolean;
  },
): Promise<void> {
  const { workers, mayLive, onResult, enough } = options;
  const queue = [...questions];
  const lane = async () => {
    let worker = start();
    for (let question = queue.shift(); question !== undefined && !enough(); question = queue.shift()) {
      let answer = await ask(worker, question);
      if (answer.died === true) {
        worker = start();
        answer = await ask(worker, question);
      }
      if (answer.verdict === 'survived' && question.cloud !== question.whole && !mayLive(question.id)) {
        queue.unshift({ ...question, cloud: question.whole });
        continue;
      }
      const { died: _died, ...found } = answer;
      onResult({ cloud: question.cloud, id: question.id, ...found });
      if (answer.verdict !== 'broken') continue;
      await worker.terminate();
      worker = start();
    }
    await worker.terminate();
  };
  await Promise.all(Array.from({ length: Math.min(workers, questions.length) }, lane));
}

/**
 * A cloud is 20 MB that are let go of after its trial; without a limit V8 lets a worker's garbage grow to gigabytes
 * before it looks. One that reaches the limit all the same is replaced, and its question asked again.
 */
function start(): Worker {
  return new Worker(new URL('./worker.ts', import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: 1024 } });
}

function ask(worker: Worker, question: Question): Promise<Answer & { died?: boolean }> {
  const { promise, resolve } = Promise.withResolvers<Answer & { died?: boolean }>();
  const broken = (words: string, died = false) =>
    resolve({ verdict: 'broken', words, seconds: 0, milliseconds: patience, died });
  const timer = realClock.after(patience, () => broken(`hung for ${patience / 1000} s`));
  const onError = (error: Error) => broken(`the worker died: ${error.stack ?? error.message}`, true);
  worker.once('message', resolve);
  worker.once('error', onError);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  worker.postMessage(question);
  return promise.finally(() => {
    timer.cancel();
    worker.off('error', onError);
  });
}
