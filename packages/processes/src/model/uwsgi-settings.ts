import { uwsgiOptions } from '@openstack-operator/facts/uwsgi-options';
import { type Process, SystemError } from '@openstack-operator/sandbox';
import { CommandError } from '../program-support.ts';

/** uwsgi's options: every value that was given, in order. Flags have the value `true`. */
export interface UwsgiSettings {
  value(name: string): string | undefined;
  values(name: string): readonly string[];
  /** Whether a flag is on: given without a value, or `true`/`1`/`yes`/`on`. */
  flag(name: string): boolean;
  /** Options that uwsgi does not know; it ignores them in ini files (applications may read them). */
  readonly extra: ReadonlyMap<string, string>;
}

/** Flags of the command line: they take no value. */
const flags: ReadonlySet<string> = new Set(
  'master lazy lazy-apps enable-threads thunder-lock die-on-term need-app strict vacuum single-interpreter no-orphans log-master exit-on-reload disable-logging autoload no-default-app manage-script-name http-auto-chunked http-chunked-input http-keepalive wsgi-manage-chunked-input'.split(
    ' ',
  ),
);

const shorts: Readonly<Record<string, string>> = {
  s: 'socket',
  p: 'processes',
  M: 'master',
  w: 'module',
  i: 'single-interpreter',
  b: 'buffer-size',
  H: 'home',
};
const aliases: Readonly<Record<string, string>> = {
  workers: 'processes',
  wsgi: 'module',
  plugin: 'plugins',
};

/**
 * Reads the command line and the ini files it names.
 * @throws CommandError in uwsgi's words
 */
export function readUwsgiSettings(process: Process): UwsgiSettings {
  const found = new Map<string, string[]>();
  const extra = new Map<string, string>();
  const add = (name: string, value: string): void => {
    const key = aliases[name] ?? name;
    found.set(key, [...(found.get(key) ?? []), value]);
  };
  const addIni = (file: string): void => {
    const assignments = readIni(process, file);
    const strict = assignments.some(([name, value]) => name === 'strict' && value !== 'false');
    for (const [name, value] of assignments) {
      if (uwsgiOptions.has(name)) add(name, value);
      else if (strict) throw new CommandError(`[strict-mode] unknown config directive: ${name}`);
      else extra.set(name, value);
    }
  };
  const words = process.argv.slice(1);
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (!word.startsWith('-')) {
      if (/\.(ini|conf)$/.test(word)) addIni(word);
      else throw new CommandError(`unable to load configuration from ${word}`);
      continue;
    }
    const equals = word.indexOf('=');
    const written = word.startsWith('--')
      ? word.slice(2, equals < 0 ? undefined : equals)
      : (shorts[word.slice(1)] ?? word.slice(1));
    if (!uwsgiOptions.has(written)) {
      throw new CommandError(
        `${process.argv[0]}: ${word.startsWith('--') ? `unrecognized option '--${written}'` : `invalid option -- '${written}'`}\ngetopt_long() error`,
      );
    }
    const value = equals >= 0 ? word.slice(equals + 1) : flags.has(written) ? 'true' : words.shift();
    if (value === undefined)
      throw new CommandError(`${process.argv[0]}: option '--${written}' requires an argument\ngetopt_long() error`);
    if (written === 'ini') addIni(value);
    else if (written === 'set') {
      const [name = '', ...rest] = value.split('=');
      extra.set(name, rest.join('='));
    } else add(written, value);
  }
  return {
    value: (name) => found.get(name)?.at(-1),
    values: (name) => found.get(name) ?? [],
    flag: (name) => ['true', '1', 'yes', 'on'].includes((found.get(name)?.at(-1) ?? '').toLowerCase()),
    extra,
  };
}

/** What an ini file says under `[uwsgi]`. */
function readIni(process: Process, file: string): [string, string][] {
  const path = file.startsWith('/') ? file : `${process.env['PWD'] ?? '/'}/${file}`;
  process.stderr(`[uWSGI] getting INI configuration from ${file}\n`);
  let text: string;
  try {
    text = process.files.read(path);
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    // A directory, which a subPath makes of a key that is not there, reads as an empty file.
    if (error.code === 'EISDIR') return [];
    throw new CommandError(`realpath() of ${file} failed: ${error.reason} [core/utils.c line 3640]`);
  }
  const assignments: [string, string][] = [];
  let inside = false;
  let skip = false;
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    if (line === '' || line.startsWith(';') || line.startsWith('#')) continue;
    if (line.startsWith('[')) {
      inside = line === '[uwsgi]';
      continue;
    }
    if (!inside) continue;
    const equals = line.indexOf('=');
    const name = (equals < 0 ? line : line.slice(0, equals)).trim();
    const value = equals < 0 ? '' : line.slice(equals + 1).trim();
    if (name === 'endif') skip = false;
    // pip's uwsgi has Python built in: `if-not-plugin = python` is never true.
    else if (name === 'if-not-plugin') skip = value === 'python';
    else if (name === 'if-exists') skip = !process.files.exists(value);
    else if (name.startsWith('if-')) throw new CommandError(`uwsgi: this simulated uwsgi does not know ${name}`, 2);
    else if (!skip) assignments.push([name, value.replaceAll('%t', String(Math.floor(process.clock.now() / 1000)))]);
  }
  return assignments;
}
