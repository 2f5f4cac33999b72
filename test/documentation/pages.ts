import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The root of the repository. */
export const root = join(import.meta.dirname, '../..');

/** A page of Markdown: its path below the root, and its text. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

/** Files of the repository, those included that are not committed yet. */
export const files: readonly string[] = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate'],
  { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 },
)
  .split('\n')
  .filter((path) => path !== '');

/** Every page. */
export const pages: readonly Page[] = files
  .filter((path) => path.endsWith('.md'))
  .flatMap((path) => {
    const text = textOf(path);
    return text === undefined ? [] : [{ path, text }];
  });

/** The text of a file; undefined for one that is deleted and still in the index. */
export function textOf(path: string): string | undefined {
  try {
    return readFileSync(join(root, path), 'utf8');
  } catch {
    return undefined;
  }
}

/** Blocks of code of a language, without their fences. */
export function blocksOf(text: string, language: string): string[] {
  return [...text.matchAll(/^ *```(\w*)\n([\s\S]*?)^ *```$/gmu)]
    .filter(([, found]) => found === language)
    .map(([, , code = '']) => code);
}

/** Text without its blocks of code. */
export function proseOf(text: string): string {
  return text.replaceAll(/^ *```[\s\S]*?^ *```$/gmu, '');
}

/** The anchors that GitHub gives to the headings of a page. */
export function anchorsOf(text: string): string[] {
  return [...proseOf(text).matchAll(/^#+ (.+)$/gmu)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
