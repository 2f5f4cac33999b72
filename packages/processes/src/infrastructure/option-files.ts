import type { Process } from '@openstack-operator/sandbox';
import { CommandError } from '../program-support.ts';

/** An option of a file; a flag has no value. */
interface Option {
  readonly name: string;
  readonly value: string | undefined;
}

/** Options of the groups that a MariaDB program reads, in the order of files and lines. */
export interface OptionFiles {
  readonly options: readonly Option[];
  /** The command line without --defaults-file and its like. */
  readonly rest: readonly string[];
}

const usual: readonly string[] = ['/etc/my.cnf', '/etc/mysql/my.cnf'];

/**
 * Reads my.cnf files as `my_print_defaults` does. `--defaults-file`, `--defaults-extra-file`, `--no-defaults` count
 * only as the very first words.
 * @throws CommandError when a file that was asked for cannot be opened
 */
export function readOptionFiles(process: Process, groups: readonly string[]): OptionFiles {
  const rest = process.argv.slice(1);
  let files: string[] = [...usual, `${process.env['HOME'] ?? '/root'}/.my.cnf`];
  const required = new Set<string>();
  const extra: string[] = [];
  for (let word = rest[0]; word !== undefined && /^--(no-defaults|defaults-)/.test(word); word = rest[0]) {
    rest.shift();
    if (word === '--no-defaults') files = [];
    else {
      const [name, value = rest.shift() ?? ''] = splitOnce(word);
      if (name === '--defaults-file') files = [value];
      else if (name === '--defaults-extra-file') extra.push(value);
      if (name !== '--defaults-group-suffix') required.add(value);
    }
  }
  return { options: [...files, ...extra].flatMap((file) => readFile(process, file, groups, required.has(file))), rest };
}

function readFile(process: Process, file: string, groups: readonly string[], required: boolean): Option[] {
  const options: Option[] = [];
  const path = file.startsWith('/') ? file : `${process.env['PWD'] ?? '/'}/${file}`;
  let text: string;
  try {
    if ((process.files.stat(path).mode & 0o002) !== 0) {
      process.stderr(`Warning: World-writable config file '${path}' is ignored\n`);
      if (!required) return [];
    }
    text = process.files.read(path);
  } catch {
    if (!required) return [];
    throw new CommandError(
      `Could not open required defaults file: ${path}\nFatal error in defaults handling. Program aborted`,
    );
  }
  let group: string | undefined;
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    if (line.startsWith('!includedir')) {
      const directory = line.slice('!includedir'.length).trim();
      for (const name of process.files.exists(directory) ? process.files.list(directory) : []) {
        const included = `${directory.replace(/\/$/, '')}/${name}`;
        if (name.endsWith('.cnf')) options.push(...readFile(process, included, groups, false));
      }
    } else if (line.startsWith('[')) group = line.slice(1, line.indexOf(']'));
    else if (group === undefined) {
      throw new CommandError(
        `error: Found option without preceding group in config file: ${path} at line: ${index + 1}\nFatal error in defaults handling. Program aborted`,
      );
    } else if (groups.includes(group)) {
      const [name, value] = splitOnce(line);
      options.push({ name: name.trim(), value: value === undefined ? undefined : optionValue(value) });
    }
  }
  return options;
}

function splitOnce(text: string): [string, string | undefined] {
  const equals = text.indexOf('=');
  return equals < 0 ? [text, undefined] : [text.slice(0, equals), text.slice(equals + 1)];
}

function optionValue(text: string): string {
  const value = text.trim();
  const quoted = /^(["'])(.*)\1\s*(?:#.*)?$/.exec(value);
  return unescaped(quoted ? (quoted[2] as string) : value.replace(/\s+#.*$/, ''));
}

/** mysys/my_default.c: these sequences stand for a character, another backslash for itself. */
function unescaped(text: string): string {
  const characters: Readonly<Record<string, string>> = { b: '\b', t: '\t', n: '\n', r: '\r', s: ' ' };
  return text.replaceAll(/\\([btnrs"'\\])/g, (_all, letter: string) => characters[letter] ?? letter);
}
