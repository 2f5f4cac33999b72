/** What `echo` prints. dash's echo interprets backslashes, bash's does with -e. */
export function echo(operands: readonly string[], alwaysEscapes: boolean): string {
  let newline = true;
  let escapes = alwaysEscapes;
  let first = 0;
  for (; first < operands.length && /^-[neE]+$/.test(operands[first] as string); first += 1) {
    const option = operands[first] as string;
    if (alwaysEscapes && option !== '-n') break;
    if (option.includes('n')) newline = false;
    if (option.includes('e')) escapes = true;
  }
  const text = operands.slice(first).join(' ');
  return `${escapes ? unescape(text) : text}${newline ? '\n' : ''}`;
}

/** What `printf format arguments...` prints: %s %d %i %x %X %o %c %b %q %%, width and precision; the format repeats. */
export function printf(operands: readonly string[]): string {
  const [format = '', ...values] = operands[0] === '--' ? operands.slice(1) : operands;
  let text = '';
  let used = 0;
  do {
    const before = used;
    text += unescape(format).replaceAll(
      /%([-0]?)(\d*)(?:\.(\d+))?([sdicxXobq%])/g,
      (_all, flag: string, width: string, precision: string | undefined, kind: string) => {
        if (kind === '%') return '%';
        const value = values[used] ?? '';
        used += 1;
        const formatted = formatValue(kind, value, precision);
        if (flag === '-') return formatted.padEnd(Number(width || 0));
        return formatted.padStart(Number(width || 0), flag === '0' ? '0' : ' ');
      },
    );
    if (used === before) break;
  } while (used < values.length);
  return text;
}

function formatValue(kind: string, value: string, precision: string | undefined): string {
  const base = { d: 10, i: 10, x: 16, X: 16, o: 8 }[kind];
  if (base !== undefined) {
    const text = Number.parseInt(value || '0', 10).toString(base);
    return kind === 'X' ? text.toUpperCase() : text;
  }
  if (kind === 'c') return value.slice(0, 1);
  if (kind === 'b') return unescape(value);
  if (kind === 'q') return `'${value.replaceAll("'", String.raw`'\''`)}'`;
  return precision === undefined ? value : value.slice(0, Number(precision));
}

function unescape(text: string): string {
  const simple: Record<string, string> = {
    n: '\n',
    t: '\t',
    r: '\r',
    '\\': '\\',
    a: '\u0007',
    b: '\b',
    f: '\f',
    v: '\v',
    '"': '"',
  };
  return text.replaceAll(/\\(?:0?([0-7]{1,3})|(.))/g, (all, octal: string | undefined, char: string | undefined) =>
    octal === undefined ? (simple[char ?? ''] ?? all) : String.fromCodePoint(Number.parseInt(octal, 8)),
  );
}
