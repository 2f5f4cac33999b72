import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

const begun = performance.now();

/** Seconds since this command began, as `1:05`. */
export function elapsed(): string {
  const seconds = Math.round((performance.now() - begun) / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** One line of progress. */
export function say(text: string): void {
  process.stdout.write(`${elapsed().padStart(6)}  ${text}\n`);
}

/** What went wrong, in words that end with what to do. */
export class StepError extends Error {}

/** Does one step; says when it begins, and how long it took or that it failed. */
export async function step<T>(title: string, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  say(`${title} ...`);
  const said = (end: string) => say(`${title}: ${end} ${((performance.now() - started) / 1000).toFixed(1)} s`);
  try {
    const result = await work();
    said('done in');
    return result;
  } catch (error) {
    said('failed after');
    throw error;
  }
}

/** How a program is run. */
export interface RunOptions {
  /** Everything that it prints goes there. */
  readonly log: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Lets its lines be seen too. */
  readonly shown?: boolean;
  /** Aborted: the program is ended. */
  readonly signal?: AbortSignal;
}

/**
 * Runs a program to its end; gives what it wrote to standard output.
 * @throws StepError with the program's last lines
 */
export async function run(command: string, args: readonly string[], options: RunOptions): Promise<string> {
  const { log, env = {}, input, shown = false, signal } = options;
  mkdirSync(dirname(log), { recursive: true });
  const file = createWriteStream(log, { flags: 'a' });
  file.write(`$ ${command} ${args.join(' ')}\n`);
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(signal && { signal }),
  });
  const printed: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => {
    printed.push(chunk);
    file.write(chunk);
    if (shown) process.stdout.write(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    file.write(chunk);
    if (shown) process.stderr.write(chunk);
  });
  // A program that ends without reading its input is judged by its exit code.
  child.stdin.on('error', () => {});
  child.stdin.end(input ?? '');
  const code = await new Promise<number | string>((resolve, reject) => {
    child.on('error', (error) => reject(new StepError(`${command}: ${error.message}`)));
    child.on('close', (status, signal) => resolve(status ?? signal ?? 'unknown'));
  });
  await new Promise((resolve) => file.end(resolve));
  if (code === 0) return Buffer.concat(printed).toString();
  const last = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-15).join('\n');
  throw new StepError(
    `${last}\n\n${[command, ...args].join(' ')} failed (${code}). All that it said: ${log}\nmake cloud-down cleans up; make cloud goes on.`,
  );
}
