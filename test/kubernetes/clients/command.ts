import { spawn } from 'node:child_process';

/** What a program printed, and how it ended. */
export interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  /** Exit code; 137 when it was ended for taking too long. */
  readonly code: number;
}

/** How to run a program. */
export interface RunOptions {
  readonly environment: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Called with all of standard output so far; true ends the program. */
  readonly until?: (stdout: string) => boolean;
  /** Seconds after which it is killed: a client that hangs is a failure. Default 60. */
  readonly limit?: number;
}

/** Runs a program to its end. @throws Error when it cannot be started */
export function run(program: string, argv: readonly string[], options: RunOptions): Promise<Ran> {
  const { environment, stdin = '', until, limit = 60 } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(program, argv, { env: environment, timeout: limit * 1000, killSignal: 'SIGKILL' });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      stdout += piece;
      if (until?.(stdout)) child.kill('SIGINT');
    });
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      stderr += piece;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ stdout, stderr, code: code ?? 137 }));
    child.stdin.on('error', () => {}); // it may end without reading
    child.stdin.end(stdin);
  });
}

/**
 * The words of a command line as a shell would see them: split at white space, except within single quotes. What is
 * interpolated stays one word, or part of one; a list is as many words as it has.
 */
export function words(parts: TemplateStringsArray, values: readonly unknown[]): string[] {
  const text = parts.reduce((line, part, index) => `${line}\u0000${index - 1}\u0000${part}`);
  return [...text.matchAll(/(?:'[^']*'|[^\s'])+/g)].flatMap(([word]) => {
    const whole = values[Number(/^\0(\d+)\0$/.exec(word)?.[1])];
    if (Array.isArray(whole)) return whole.map(String);
    return word.replaceAll("'", '').replaceAll(/\0(\d+)\0/g, (_, index: string) => String(values[Number(index)]));
  });
}
