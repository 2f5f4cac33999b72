import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { env } from 'node:process';

/** A program of ours in a process of its own. */
export interface Child {
  readonly process: ChildProcess;
  /** Its first word. */
  readonly said: unknown;
  /** Never fulfilled. @throws Error when it ends, whoever ended it */
  readonly died: Promise<never>;
}

/** As the operator's image starts Node (images/operator/layer). */
export const operatorFlags = ['--max-semi-space-size=4'];

/** As its image says it (images/operator/config.json): threads that share one arena leave fewer pages half empty. */
const environment = { MALLOC_ARENA_MAX: '1' };

/** Starts a program of ours; resolves when it says its first word. @throws Error when it ends before that */
export async function startChild(file: string, args: readonly string[], flags: readonly string[] = []): Promise<Child> {
  const process = fork(file, args, { stdio: 'inherit', execArgv: [...flags], env: { ...env, ...environment } });
  const died = once(process, 'exit').then(([code, signal]): never => {
    throw new Error(`${file} ended by itself (${code ?? signal}); see above why`);
  });
  died.catch(() => {});
  const [said] = (await Promise.race([once(process, 'message'), died])) as [unknown];
  return { process, said, died };
}
