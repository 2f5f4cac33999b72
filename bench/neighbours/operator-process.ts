import { realClock, sleep } from '@openstack-operator/kube';
import { operatorFlags, startChild } from '../child.ts';
import type { Usage } from '../many-clouds/operator.ts';
import { ask, rest } from '../many-clouds/rollout.ts';

/** An operator that ended by itself, or does not answer; the message says which. */
export class OperatorEnded extends Error {}

/** The operator in a process of its own, with no more memory than in its pod. */
export interface OperatorProcess {
  /** What it has said of itself so far, twice a second while it is looked at; each since the one before. */
  readonly looks: readonly Usage[];
  /** Looks at it for as long as this work takes. @throws OperatorEnded as soon as it has ended */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** Ends it; resolves when it is gone. */
  stop(): Promise<void>;
}

/** Milliseconds between two looks. */
const LOOK = 500;
/** Seconds without an answer after which its pod would be restarted: the livenessProbe of config/manager/manager.yaml. */
const SILENCE = 60;

/** Starts an operator (a bundle of clouds/operator.ts) with so many MiB of heap; resolves when it has nothing to do. */
export async function startOperator(program: string, kubeconfig: string, heap: number): Promise<OperatorProcess> {
  const { process, died } = await startChild(program, [kubeconfig], [...operatorFlags, `--max-old-space-size=${heap}`]);
  const gone = died.catch(() => {});
  const ended = gone.then((): never => {
    throw new OperatorEnded(process.signalCode ?? `exit code ${process.exitCode}`);
  });
  ended.catch(() => {});
  const looks: Usage[] = [];

  async function look(): Promise<void> {
    const silent = Promise.withResolvers<never>();
    const timer = realClock.after(SILENCE * 1000, () => silent.reject(new OperatorEnded(`no answer for ${SILENCE} s`)));
    try {
      // It can no longer be asked some moments before its end is told.
      const answer = ask(process).catch(() => ended);
      looks.push(await Promise.race([answer, ended, silent.promise]));
    } finally {
      timer.cancel();
    }
  }

  async function lookUntil(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      await look();
      await sleep(realClock, LOOK, over).catch(() => {});
    }
    await look();
  }

  await Promise.race([rest(process), ended]);
  return {
    looks,
    async during(work) {
      const over = new AbortController();
      const [result] = await Promise.all([work().finally(() => over.abort()), lookUntil(over.signal)]);
      return result;
    },
    async stop() {
      process.kill('SIGKILL');
      await gone;
    },
  };
}
