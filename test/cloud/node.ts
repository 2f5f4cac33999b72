import { program } from './kubernetes.ts';

/** What is put before a command so that it runs in the node's namespaces. @throws Error when nobody told */
export function nodeEnter(): readonly [string, ...string[]] {
  const [name, ...argv] = (process.env['CLOUD_NODE_ENTER'] ?? '').split(' ').filter((word) => word !== '');
  if (name === undefined) {
    throw new Error(
      'CLOUD_NODE_ENTER names no command that enters the node: run the suite in the shell of the cloud (make cloud-shell)',
    );
  }
  return [name, ...argv];
}

/**
 * What a command prints that runs in the node: with its processes, its network and its files. Before it may stand
 * `--node N`, for another one than the first.
 */
export function inNode(...command: readonly string[]): Promise<string> {
  const [name, ...argv] = nodeEnter();
  return program(name, ...argv, ...command);
}
