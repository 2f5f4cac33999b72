import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** Starts a program of ours as a process of its own; resolves when it says its first word. */
export async function startChild(
  file: string,
  args: readonly string[],
): Promise<{ process: ChildProcess; said: unknown }> {
  const process = fork(file, args, { stdio: 'inherit' });
  const died = once(process, 'exit').then(([code]) => {
    throw new Error(`${file} ended before it worked: exit ${code}`);
  });
  const [said] = (await Promise.race([once(process, 'message'), died])) as [unknown];
  died.catch(() => {});
  return { process, said };
}
