import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** Patterns of what may be said, each with its reason. */
export type Allowed = Readonly<Record<string, string>>;

/** What is known of options, of upgrade checks and of logs: `allowed.yaml`. */
export const allowed = parse(readFileSync(join(import.meta.dirname, 'allowed.yaml'), 'utf8')) as {
  readonly options: Allowed;
  readonly checks: Allowed;
  readonly logs: Allowed;
};

/** The lines that no pattern matches. */
export const unlisted = (lines: readonly string[], list: Allowed): string[] =>
  lines.filter((line) => !Object.keys(list).some((pattern) => new RegExp(pattern).test(line)));

/** The lines of a text that say something. */
export const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');
