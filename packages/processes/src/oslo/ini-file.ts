import { PythonError } from './python-error.ts';

/** Assignments of a configuration file, in order. */
export interface IniAssignment {
  readonly section: string;
  readonly key: string;
  readonly value: string;
}

/**
 * Parses a file as `oslo_config.iniparser` does: `key = value` or `key: value`, continuation lines begin with a blank,
 * comments only at the beginning of a line, one pair of quotes around a value is taken off.
 * @throws PythonError oslo_config.cfg.ConfigFileParseError
 */
export function parseIni(file: string, text: string): IniAssignment[] {
  const found: IniAssignment[] = [];
  let section: string | undefined;
  let key: string | undefined;
  let lines: string[] = [];
  let number = 0;
  const fail = (message: string, line?: string): never => {
    throw new PythonError(
      'oslo_config.cfg.ConfigFileParseError',
      `Failed to parse ${file}: at ${file}:${number}, ${message}: ${line === undefined ? 'None' : JSON.stringify(line).replaceAll('"', "'")}`,
    );
  };
  const flush = (): void => {
    if (key === undefined) return;
    if (section === undefined) return fail('Section must be started before assignment');
    found.push({ section, key, value: lines.join('\n') });
    key = undefined;
    lines = [];
  };
  for (const raw of text.split('\n')) {
    number += 1;
    const line = raw.trimEnd();
    if (line === '') flush();
    else if (/^[ \t]/.test(line)) {
      if (key === undefined) fail('Unexpected continuation line', line);
      lines.push(line.trimStart());
    } else {
      flush();
      if (line.startsWith('[')) {
        if (!line.endsWith(']')) fail('Invalid section (must end with ])', line);
        if (line.length <= 2) fail('Empty section name', line);
        section = line.slice(1, -1);
      } else if (!line.startsWith('#') && !line.startsWith(';')) {
        const border = line.search(/[:=]/);
        if (border < 0) fail("No ':' or '=' found in assignment", line);
        key = line.slice(0, border).trim();
        if (key === '') fail('Key cannot be empty', line);
        const value = line.slice(border + 1).trim();
        const isQuoted = value !== '' && value[0] === value.at(-1) && /^["']/.test(value);
        lines = [isQuoted ? value.slice(1, -1) : value];
      }
    }
  }
  flush();
  return found;
}
