/** One character of a pattern; quoted ones stand for themselves. */
export interface PatternCharacter {
  readonly char: string;
  readonly quoted: boolean;
}

/** Whether anything in it is `*`, `?` or `[`. */
export function isPattern(characters: readonly PatternCharacter[]): boolean {
  return characters.some(({ char, quoted }) => !quoted && (char === '*' || char === '?' || char === '['));
}

/** The regular expression (not anchored, no flags) of a shell pattern. In paths `*` and `?` stop at a slash. */
export function patternSource(characters: readonly PatternCharacter[], { path = false } = {}): string {
  const any = path ? '[^/]' : '[\\s\\S]';
  let source = '';
  for (let i = 0; i < characters.length; i += 1) {
    const { char, quoted } = characters[i] as PatternCharacter;
    if (quoted) source += escape(char);
    else if (char === '*') source += `${any}*`;
    else if (char === '?') source += any;
    else if (char === '[') {
      const end = characters.findIndex((other, index) => index > i + 1 && other.char === ']');
      if (end < 0) source += '\\[';
      else {
        const inside = characters.slice(i + 1, end).map((other) => other.char);
        const negated = inside[0] === '!' || inside[0] === '^';
        source += `[${negated ? '^' : ''}${inside
          .slice(negated ? 1 : 0)
          .join('')
          .replaceAll('\\', '\\\\')}]`;
        i = end;
      }
    } else source += escape(char);
  }
  return source;
}

const special: ReadonlySet<string> = new Set('.*+?^${}()|[]\\/');

function escape(char: string): string {
  return special.has(char) ? `\\${char}` : char;
}
