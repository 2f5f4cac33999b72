import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { program } from './kubernetes.ts';

/** The words of a command that the shell of the cloud tells. @throws Error when nobody told */
function told(variable: string, what: string): readonly [string, ...string[]] {
  const [name, ...argv] = (process.env[variable] ?? '').split(' ').filter((word) => word !== '');
  if (name === undefined) {
    throw new Error(
      `${variable} names no command that ${what}: run the suite in the shell of the cloud (make cloud-shell)`,
    );
  }
  return [name, ...argv];
}

/** What is put before a command so that it runs in the node's namespaces. @throws Error when nobody told */
export const nodeEnter = (): readonly [string, ...string[]] => told('CLOUD_NODE_ENTER', 'enters the node');

/** Has the cloud have so many nodes, at least: those that are not there join it. @throws Error that says why one did not */
export async function haveNodes(count: number): Promise<void> {
  const [name, ...argv] = told('CLOUD_UP', 'brings the cloud up');
  // What a node runs keeps the output open: the command's end is waited for, not that of its output.
  const child = spawn(name, [...argv, '--nodes', String(count)], { stdio: 'inherit', timeout: 600_000 });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (code !== 0) throw new Error(`${name} ${argv.join(' ')} --nodes ${count} ended with ${code ?? signal}`);
}

/**
 * What a command prints that runs in the node: with its processes, its network and its files. Before it may stand
 * `--node N`, for another one than the first.
 */
export function inNode(...command: readonly string[]): Promise<string> {
  const [name, ...argv] = nodeEnter();
  return program(name, ...argv, ...command);
}
