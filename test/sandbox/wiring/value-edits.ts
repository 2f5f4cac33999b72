/** One way to make a text wrong. */
export interface Edit {
  /** What is wrong then, such as `port`: stable, so that a report of one day can be compared with that of another. */
  readonly what: string;
  /** The text, wrong; undefined: the whole of it is left out. */
  readonly apply: (text: string) => string | undefined;
}

/** What within a value names something else: each is changed for itself. */
const parts: readonly { what: string; pattern: RegExp; change: (found: string) => string }[] = [
  {
    what: 'host',
    pattern:
      /(?<![\w.-])(?:[a-z0-9-]+\.[a-z0-9.-]+\.svc(?:\.cluster\.local)?|localhost|127\.0\.0\.1|0\.0\.0\.0)(?![\w.-])/g,
    change: (host) => otherHosts[host] ?? host.replace('.', 'x.'),
  },
  { what: 'port', pattern: /(?<=[\w\]}]:)\d{2,5}(?![\w.:])/g, change: (port) => String(Number(port) + 1) },
  { what: 'user', pattern: /(?<=:\/\/)[^:@/\s"]+(?=:[^@/\s]*@)/g, change: appended },
  { what: 'password', pattern: /(?<=:\/\/[^:@/\s"]+:)[^@/\s]+(?=@)/g, change: appended },
  { what: 'path', pattern: /(?<=:\/\/[^/\s"']+\/)[^?\s"',]+/g, change: appended },
];

const otherHosts: Readonly<Record<string, string>> = {
  '127.0.0.1': '127.0.0.9',
  '0.0.0.0': '127.0.0.1',
  localhost: 'localhostx',
};

/** Every host, port, user, password and path in a value; where there is none, the value as a whole, or each of its elements. */
export function valueEdits(value: string): Edit[] {
  const found = partEdits(value);
  if (found.length > 0) return found;
  const elements = value.split(',');
  if (elements.length > 1 && !/[\s"'()]/.test(value)) {
    return elements.map((element, index) => ({
      what: `without ${element}`,
      apply: (text) => without(text.split(','), index).join(','),
    }));
  }
  return [{ what: 'other value', apply: otherValue }];
}

/** Hosts, ports, users, passwords and paths of URLs that stand anywhere in a text. */
export function partEdits(value: string): Edit[] {
  return parts.flatMap(({ what, pattern, change }) =>
    [...value.matchAll(pattern)].map((match, index) => ({
      what: /^(user|password)$/.test(what) || match[0].length > 60 ? `other ${what}` : `other ${what} than ${match[0]}`,
      apply: (text) => nth(text, pattern, index, change),
    })),
  );
}

/** A value of the same shape that is not that value. */
export function otherValue(value: string): string {
  const flipped = { true: 'false', false: 'true', True: 'False', False: 'True', yes: 'no', no: 'yes' }[value];
  if (flipped !== undefined) return flipped;
  if (/^\d+$/.test(value)) return String(Number(value) + 1);
  return appended(value);
}

/** With one more letter, inside quotes where it has any. */
export function appended(value: string): string {
  return /["']$/.test(value) ? `${value.slice(0, -1)}x${value.slice(-1)}` : `${value}x`;
}

/** All elements but one. */
export function without<T>(elements: readonly T[], index: number): T[] {
  return elements.filter((_, i) => i !== index);
}

function nth(text: string, pattern: RegExp, index: number, change: (found: string) => string): string {
  let count = 0;
  return text.replaceAll(pattern, (found) => (count++ === index ? change(found) : found));
}
