import { spawn } from 'node:child_process';
import type { Program } from './programs.ts';

/** A program that runs until it is stopped. */
export interface RunningProgram {
  /** An error of the test, with its last words. */
  explain(error: unknown): Error;
  /** SIGTERM, and waits for its end. @throws Error with its last words when it ended badly, or before it was stopped */
  stop(): Promise<void>;
}

/** Starts an operator against the server of a kubeconfig. */
export function startProgram(
  kubeconfig: string,
  { executable }: Program,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): RunningProgram {
  const lines: string[] = [];
  const child = spawn(executable, ['--kubeconfig', kubeconfig, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream
      .setEncoding('utf8')
      .on('data', (text: string) => lines.push(...text.split('\n').filter((line) => line !== '')));
  }
  let stopped = false;
  const ended = new Promise<void>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (stopped && code === 0) resolve();
      else reject(new Error(`${executable} ended with ${code ?? signal}:\n${lines.slice(-20).join('\n')}`));
    });
  });
  // Told to whoever stops it.
  ended.catch(() => undefined);
  return {
    explain: (error) =>
      new Error(`${(error as Error).message}\n${executable}:\n${lines.slice(-20).join('\n')}`, { cause: error }),
    async stop() {
      stopped = true;
      child.kill('SIGTERM');
      await ended;
    },
  };
}
