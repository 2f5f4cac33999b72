type Files = ReadonlyMap<string, string>;

const shown = 8;

/** What differs between two sets of files, for a reader: one line for each file, and its first lines that differ. */
export function differenceOf(committed: Files, made: Files): string[] {
  const paths = [...new Set([...committed.keys(), ...made.keys()])].sort();
  return paths.flatMap((path) => {
    const [before, after] = [committed.get(path), made.get(path)];
    if (before === after) return [];
    if (before === undefined) return [`${path}: would be new`];
    if (after === undefined) return [`${path}: would be gone`];
    const [old, now] = [before, after].map((text) => text.split('\n')) as [string[], string[]];
    const [gone, come] = [without(old, now), without(now, old)];
    const lines = [...gone.map((line) => `  - ${line}`), ...come.map((line) => `  + ${line}`)];
    const rest = lines.length > shown ? [`  and ${lines.length - shown} more`] : [];
    return [
      `${path}: ${gone.length} lines less, ${come.length} more`,
      ...lines.slice(0, shown).map((line) => (line.length > 200 ? `${line.slice(0, 200)}...` : line)),
      ...rest,
    ];
  });
}

function without(lines: readonly string[], others: readonly string[]): string[] {
  const known = new Set(others);
  return lines.filter((line) => !known.has(line));
}
