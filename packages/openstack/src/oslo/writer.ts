/** A value of an oslo.config option; an array is a MultiOpt: one line for each entry. */
export type OptionValue = string | number | boolean | readonly string[];

/** Section -> option -> value. `DEFAULT` is written first, the others by name. */
export type OsloFile = Readonly<Record<string, Readonly<Record<string, OptionValue>>>>;

/**
 * An oslo.config file: sections and options sorted, one line a value. `$` is doubled, because oslo.config
 * substitutes `$name` (oslo_config/cfg.py, `ConfigOpts.__getitem__` templates).
 * No library: npm's `ini` quotes values, writes `multi[]=` and escapes `#`, all of which oslo.config takes literally.
 * @throws when a name or a value cannot be written so that oslo.config reads the same back
 */
export function writeOsloFile(file: OsloFile): string {
  const sections = Object.keys(file).sort((a, b) => (a === 'DEFAULT' ? -1 : b === 'DEFAULT' ? 1 : a < b ? -1 : 1));
  return sections
    .filter((section) => Object.keys(file[section] ?? {}).length > 0)
    .map((section) => {
      if (!/^(?!.*\{\{)[^\]\p{Cc}]+$/u.test(section))
        throw new Error(
          `[${section}]: a section name may hold neither "]" nor "{{" nor control characters, nor be empty`,
        );
      const options = Object.entries(file[section] ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
      return `[${section}]\n${options.map(([name, value]) => writeOption(section, name, value)).join('')}`;
    })
    .join('\n');
}

function writeOption(section: string, name: string, value: OptionValue): string {
  if (!/^[A-Za-z0-9_.:-]+$/.test(name)) throw new Error(`[${section}] ${name}: not the name of an option`);
  const values = Array.isArray(value) ? (value as readonly string[]) : [value as string | number | boolean];
  return values.map((one) => `${name} = ${writeValue(section, name, String(one))}\n`).join('');
}

function writeValue(section: string, name: string, text: string): string {
  if (/[^\P{Cc}\t]/u.test(text))
    throw new Error(`[${section}] ${name}: a value may hold neither a line break nor another control character`);
  // The parser strips blanks around a value and one pair of quotes; quoting keeps them.
  const quoted = text !== text.trim() || /^(["']).*\1$/s.test(text) ? `"${text}"` : text;
  return quoted.replaceAll('$', '$$$$');
}
