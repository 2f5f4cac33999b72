import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** A program that is measured: a process of its own that answers each line of JSON with one. */
export interface Contestant {
  readonly pid: number;
  /** The next line that it says. @throws Error with the program's name when it has ended */
  said(): Promise<unknown>;
  /** Tells it something, and waits for the answer. */
  ask(question: unknown): Promise<unknown>;
  /** Ends it; resolves when it is gone. */
  stop(): Promise<void>;
}

/** Starts a contestant; what it writes to standard error is shown. */
export function startContestant(name: string, [program = '', ...args]: readonly string[]): Contestant {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name}: ${program} cannot be started`);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  // A program that is missing, or has ended and reads no more, is told of here and by `said`.
  child.on('error', () => {});
  child.stdin.on('error', () => {});
  const said = async () => {
    const { done, value } = await lines.next();
    if (done) throw new Error(`${name} has ended by itself (${child.exitCode ?? child.signalCode}); see above why`);
    return JSON.parse(value) as unknown;
  };
  return {
    pid,
    said,
    ask: (question) => {
      child.stdin.write(`${JSON.stringify(question)}\n`);
      return said();
    },
    stop: () => {
      child.kill();
      return gone;
    },
  };
}
