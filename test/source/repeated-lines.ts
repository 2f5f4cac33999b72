/** Where lines stand that stand elsewhere as well. */
export interface Repetition {
  /** `path:line` of both places. */
  readonly places: readonly [string, string];
  /** How many lines that are not empty. */
  readonly length: number;
}

interface Line {
  readonly text: string;
  readonly number: number;
}

/** The lines of a module that say something: no imports, exports of other modules, comments, empty lines, or names in a list of them. */
function linesOf(text: string): Line[] {
  const blanked = (found: string) => found.replaceAll(/[^\n]/gu, '');
  return text
    .replaceAll(/^\s*\/\*\*?[\s\S]*?\*\/$/gmu, blanked)
    .replaceAll(/^\s*\/\/.*$/gmu, '')
    .replaceAll(/^(?:import|export)\b[^;=(]*?\bfrom '[^']*'(?: with [^;]*)?;$/gmu, blanked)
    .replaceAll(/^import '[^']*';$/gmu, '')
    .replaceAll(/^ *\w+,$/gmu, '')
    .split('\n')
    .flatMap((line, index) => (line.trim() === '' ? [] : [{ text: line.trim(), number: index + 1 }]));
}

/** Runs of at least so many lines that stand twice in the texts of files, by their paths. */
export function repetitions(files: ReadonlyMap<string, string>, least: number): Repetition[] {
  const all = [...files].map(([path, text]) => ({ path, lines: linesOf(text) }));
  const first = new Map<string, { file: (typeof all)[number]; at: number }>();
  const found: Repetition[] = [];
  for (const file of all) {
    for (let at = 0; at + least <= file.lines.length; at++) {
      const run = file.lines.slice(at, at + least);
      const key = run.map(({ text }) => text).join('\n');
      const other = first.get(key);
      if (other === undefined) {
        first.set(key, { file, at });
        continue;
      }
      let length = least;
      const same = (step: number) => {
        const text = file.lines[at + step]?.text;
        return text !== undefined && text === other.file.lines[other.at + step]?.text;
      };
      while (same(length)) length++;
      const place = ({ path, lines }: typeof file, index: number) => `${path}:${lines[index]?.number}`;
      found.push({ places: [place(other.file, other.at), place(file, at)], length });
      at += length - 1;
    }
  }
  return found;
}
