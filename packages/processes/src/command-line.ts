/**
 * Which options a program knows: names without dashes, blanks between; one letter is a short option. Names of one option
 * have `|` between (`o|output`).
 */
export interface OptionNames {
  readonly flags?: string;
  /** Options that take a value. */
  readonly values?: string;
  /** A value only in the same word (`-ppassword`, `--wsrep-new-cluster[=x]`); '' without one. */
  readonly optional?: string;
  /** Stop at the first operand: what follows belongs to another program. */
  readonly stopAtOperand?: boolean;
  /** Long names may be shortened as long as they stay unique (argparse, getopt_long). */
  readonly abbreviations?: boolean;
  /** The next word is no value when it begins with a dash (argparse). */
  readonly noDashedValues?: boolean;
}

/** A command line, read. Any name of an option stands for it. */
export interface CommandLine {
  readonly operands: readonly string[];
  has(name: string): boolean;
  /** The last value given. */
  value(name: string): string | undefined;
  /** All values given, in order. */
  values(name: string): readonly string[];
}

/** An option that the program does not know, or that lacks its value. `option` is as it was written. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly option: string;
  readonly reason: 'unknown' | 'value' | 'extra value' | 'ambiguous';

  constructor(option: string, reason: UsageError['reason']) {
    super(
      {
        unknown: `unrecognized option '${option}'`,
        value: `option '${option}' requires an argument`,
        'extra value': `option '${option}' doesn't allow an argument`,
        ambiguous: `option '${option}' is ambiguous`,
      }[reason],
    );
    this.option = option;
    this.reason = reason;
  }
}

/**
 * Reads operands and options as getopt_long does.
 * @throws UsageError
 */
export function parseCommandLine(words: readonly string[], names: OptionNames): CommandLine {
  const found = new Map<string, string[]>();
  const operands: string[] = [];
  const rest = [...words];
  const add = (name: string, value: string): void => {
    found.set(known.get(name)?.first ?? name, [...given(name), value]);
  };
  const known = new Map<string, { readonly kind: 'flags' | 'values' | 'optional'; readonly first: string }>();
  for (const kind of ['flags', 'values', 'optional'] as const)
    for (const word of names[kind]?.split(' ').filter((text) => text !== '') ?? []) {
      const all = word.split('|');
      for (const name of all) known.set(name, { kind, first: all[0] ?? '' });
    }
  const kindOf = (name: string) => known.get(name)?.kind;
  const given = (name: string): readonly string[] => found.get(known.get(name)?.first ?? name) ?? [];

  const long = (word: string): void => {
    const equals = word.indexOf('=');
    const written = word.slice(2, equals < 0 ? undefined : equals);
    const name = names.abbreviations ? complete(written, [...known.keys()]) : written;
    const attached = equals < 0 ? undefined : word.slice(equals + 1);
    const kind = kindOf(name);
    if (kind === 'flags') {
      if (attached !== undefined) throw new UsageError(`--${name}`, 'extra value');
      add(name, '');
    } else if (kind === 'optional') add(name, attached ?? '');
    else if (kind === 'values') {
      const refused = names.noDashedValues === true && rest[0]?.startsWith('-') === true;
      const value = attached ?? (refused ? undefined : rest.shift());
      if (value === undefined) throw new UsageError(`--${name}`, 'value');
      add(name, value);
    } else throw new UsageError(equals < 0 ? word : `--${written}`, 'unknown');
  };

  const short = (word: string): void => {
    for (let i = 1; i < word.length; i += 1) {
      const name = word[i] as string;
      const kind = kindOf(name);
      if (kind === undefined) throw new UsageError(`-${name}`, 'unknown');
      if (kind === 'flags') {
        add(name, '');
        continue;
      }
      const attached = word.slice(i + 1);
      const value = kind === 'optional' ? attached : attached || rest.shift();
      if (value === undefined) throw new UsageError(`-${name}`, 'value');
      return add(name, value);
    }
  };

  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--') {
      operands.push(...rest);
      break;
    }
    if (word.startsWith('--')) long(word);
    else if (word.startsWith('-') && word !== '-') short(word);
    else {
      operands.push(word);
      if (names.stopAtOperand) {
        operands.push(...rest);
        break;
      }
    }
  }
  return {
    operands,
    has: (name) => given(name).length > 0,
    value: (name) => given(name).at(-1),
    values: given,
  };
}

function complete(written: string, known: readonly string[]): string {
  if (known.includes(written)) return written;
  const [first, second] = known.filter((name) => name.length > 1 && name.startsWith(written));
  if (second !== undefined) throw new UsageError(`--${written}`, 'ambiguous');
  return first ?? written;
}
