import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** What a script of this folder prints: JSON. It has a process of its own, because its list of services is longer. */
export async function outcomeOf(script: string): Promise<Readonly<Record<string, unknown>>> {
  const { stdout } = await promisify(execFile)(process.execPath, [new URL(script, import.meta.url).pathname]);
  return JSON.parse(stdout) as Record<string, unknown>;
}
