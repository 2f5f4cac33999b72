const posixClasses: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7F',
  blank: '\\t ',
  cntrl: '\\x00-\\x1F\\x7F',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`\\{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

const cache = new Map<string, RegExp>();

/**
 * A Go regular expression (RE2 syntax) as a JavaScript one: `\A`, `\z`, POSIX classes, leading flags such as `(?i)`,
 * `(?P<name>`, `\Q..\E`. No lookaround or back-references, as in Go.
 * @throws SyntaxError when the expression is not valid in Go
 */
export function goRegExp(pattern: string): RegExp {
  const known = cache.get(pattern);
  if (known) return known;
  const flags = /^\(\?([imsU]+)\)/.exec(pattern);
  if (/\(\?(?:[=!]|<[=!])|\\[1-9]/.test(pattern.replace(/\\\\/g, ''))) {
    throw new SyntaxError(`invalid or unsupported Perl syntax in ${pattern}`);
  }
  const body = flags ? pattern.slice(flags[0].length) : pattern;
  const translated = body
    .replace(/\\Q([\s\S]*?)(?:\\E|$)/g, (_, literal: string) => literal.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'))
    .replace(/\[:(\^?)(\w+):\]/g, (text, _not: string, name: string) => posixClasses[name] ?? text)
    .replace(/\\([\s\S])/g, (text, escaped: string) => {
      if (escaped === 'A') return '^';
      if (escaped === 'z') return '$';
      if (escaped === 'a') return '\\x07';
      // In JavaScript's unicode mode only syntax characters may be escaped.
      return /[\w\s^$\\.*+?()[\]{}|/-]/.test(escaped) ? text : escaped;
    })
    .replace(/\\p([A-Z])(?![a-z{])/g, '\\p{$1}')
    .replace(/\(\?P</g, '(?<');
  const expression = compile(translated, `u${(flags?.[1] ?? '').replace('U', '')}`);
  cache.set(pattern, expression);
  return expression;
}

function compile(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags);
  } catch {
    // Unicode mode refuses harmless escapes and lone braces that Go takes.
    return new RegExp(pattern, flags.replace('u', ''));
  }
}
