import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { Result } from './run.ts';

/** Results that outlive the run: a line of JSON each, appended as they are found. */
export interface Log {
  /** What earlier runs have found, by mutant: the last word on each. */
  readonly known: ReadonlyMap<string, Result>;
  append(result: Result): void;
}

/** Opens the log of earlier runs, or begins one; a last line that was cut off by the end of a run does not count. */
export function openLog(path: string): Log {
  const known = new Map<string, Result>();
  for (const line of existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []) {
    const result = JSON.parse(line) as Result;
    known.set(result.id, result);
  }
  return { known, append: (result) => appendFileSync(path, `${JSON.stringify(result)}\n`) };
}
