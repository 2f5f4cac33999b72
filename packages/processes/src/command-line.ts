/** Which options a program knows: names without dashes, blanks between; one letter is a short option. */
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

/** A command line, read. */
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
      reason === 'unknown'
        ? `unrecognized option '${option}'`
        : reason === 'value'
          ? `option '${option}' requires an argument`
          : reason === 'ambiguous'
            ? `option '${option}' is ambiguous`
            : `option '${option}' doesn't allow an argument`,
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
  const add = (name: string, value: string): void => void found.set(name, [...(found.get(name) ?? []), value]);
  const [flags, values, optional] = [names.flags, names.values, names.optional].map(wordsOf);
  const isFlag = (name: string): boolean => flags?.includes(name) ?? false;
  const isValue = (name: string): boolean => values?.includes(name) ?? false;
  const isOptional = (name: string): boolean => optional?.includes(name) ?? false;

  const long = (word: string): void => {
    const equals = word.indexOf('=');
    const written = word.slice(2, equals < 0 ? undefined : equals);
    const name = names.abbreviations ? complete(written, names, `--${written}`) : written;
    const given = equals < 0 ? undefined : word.slice(equals + 1);
    if (isFlag(name)) {
      if (given !== undefined) throw new UsageError(`--${name}`, 'extra value');
      add(name, '');
    } else if (isOptional(name)) add(name, given ?? '');
    else if (isValue(name)) {
      const refused = names.noDashedValues === true && rest[0]?.startsWith('-') === true;
      const value = given ?? (refused ? undefined : rest.shift());
      if (value === undefined) throw new UsageError(`--${name}`, 'value');
      add(name, value);
    } else throw new UsageError(equals < 0 ? word : `--${written}`, 'unknown');
  };

  const short = (word: string): void => {
    for (let i = 1; i < word.length; i += 1) {
      const name = word[i] as string;
      if (isFlag(name)) add(name, '');
      else if (isOptional(name)) {
        add(name, word.slice(i + 1));
        return;
      } else if (isValue(name)) {
        const value = i + 1 < word.length ? word.slice(i + 1) : rest.shift();
        if (value === undefined) throw new UsageError(`-${name}`, 'value');
        add(name, value);
        return;
      } else throw new UsageError(`-${name}`, 'unknown');
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
    has: (name) => found.has(name),
    value: (name) => found.get(name)?.at(-1),
    values: (name) => found.get(name) ?? [],
  };
}

function complete(written: string, names: OptionNames, option: string): string {
  const all = [names.flags, names.values, names.optional].flatMap(wordsOf).filter((name) => name.length > 1);
  if (all.includes(written)) return written;
  const candidates = all.filter((name) => name.startsWith(written));
  if (candidates.length > 1) throw new UsageError(option, 'ambiguous');
  return candidates[0] ?? written;
}

function wordsOf(names = ''): string[] {
  return names.split(' ').filter((name) => name !== '');
}
