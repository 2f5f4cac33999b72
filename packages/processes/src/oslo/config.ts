import { channel } from 'node:diagnostics_channel';
import { type Process, SystemError } from '@openstack-operator/sandbox';
import { parseIni } from './ini-file.ts';
import { PythonError } from './python-error.ts';

/** Where a program looks for its configuration. */
export interface ConfigSources {
  /** Such as `nova`: names the directory and the file. */
  readonly project: string;
  /** Such as `nova-manage`; `uwsgi` under uwsgi: their files are read beside the project's. */
  readonly programs: readonly string[];
  /** Files asked for (`--config-file`, or those a WSGI module names): all must be there. Absent: the default ones. */
  readonly files?: readonly string[];
  /** Directories asked for (`--config-dir`). Absent: `<project>.conf.d` and `<program>.conf.d`. */
  readonly directories?: readonly string[];
}

interface Assigned {
  readonly values: string[];
  /** The file; `environment` for a variable. */
  location: string;
}

/** Which options processes look up, and in which files: tests of wiring need not break what nobody reads. */
export const optionReads = channel('openstack-operator:option-reads');

/** A message of `optionReads`: a process has loaded files, or looks up an option; without a name, a whole group. */
export interface OptionRead {
  readonly pod: string;
  readonly files?: readonly string[];
  readonly group?: string;
  readonly name?: string;
}

/** A program's options: from its files, overridden by `OS_<GROUP>__<OPTION>` variables. */
export class Config {
  readonly #values: ReadonlyMap<string, Assigned>;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #pod: string;
  readonly #read = new Set<string>();

  constructor(values: ReadonlyMap<string, Assigned>, { env, pod }: Pick<Process, 'env' | 'pod'>) {
    this.#values = values;
    this.#environment = env;
    this.#pod = pod.name;
  }

  /** An option's text, `$name` and `$group.name` replaced; undefined when nobody sets it. */
  text(group: string, name: string): string | undefined;
  text(group: string, name: string, fallback: string): string;
  text(group: string, name: string, fallback?: string): string | undefined {
    const value = this.#raw(group, name)?.values.at(-1);
    return value === undefined ? fallback : this.#interpolate(value, group);
  }

  /** An option that must be there. @throws PythonError with `message` */
  required(group: string, name: string, error: () => PythonError): string {
    const value = this.text(group, name);
    if (value === undefined || value === '') throw error();
    return value;
  }

  /** @throws PythonError ConfigFileValueError */
  integer(group: string, name: string, fallback: number): number {
    const value = this.text(group, name);
    if (value === undefined) return fallback;
    if (!/^[-+]?\d+$/.test(value.trim())) {
      this.#invalid(group, name, `invalid literal for int() with base 10: '${value}'`);
    }
    return Number(value);
  }

  /** @throws PythonError ConfigFileValueError */
  boolean(group: string, name: string, fallback: boolean): boolean {
    const value = this.text(group, name);
    if (value === undefined) return fallback;
    const word = value.trim().toLowerCase();
    if (['true', '1', 'on', 'yes'].includes(word)) return true;
    if (['false', '0', 'off', 'no'].includes(word)) return false;
    return this.#invalid(group, name, `Unexpected boolean value '${value}'`);
  }

  /** A list with commas. */
  list(group: string, name: string, fallback: readonly string[] = []): readonly string[] {
    const value = this.text(group, name);
    if (value === undefined) return fallback;
    return value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
  }

  /** A multi-valued option; one that comes from the environment is taken letter by letter, as oslo.config does. */
  all(group: string, name: string): readonly string[] {
    const assigned = this.#raw(group, name);
    if (assigned === undefined) return [];
    if (assigned.location === 'environment') return Array.from(assigned.values.at(-1) ?? '');
    return assigned.values.map((value) => this.#interpolate(value, group));
  }

  /** One of some words. @throws PythonError ConfigFileValueError */
  choice<T extends string>(group: string, name: string, choices: readonly T[], fallback: T): T {
    const value = this.text(group, name);
    if (value === undefined) return fallback;
    const found = choices.find((choice) => choice === value);
    return found ?? this.#invalid(group, name, `Valid values are [${choices.join(', ')}], but found '${value}'`);
  }

  /** A text of some shape. @throws PythonError ConfigFileValueError */
  matching(group: string, name: string, pattern: RegExp, fallback: string): string {
    const value = this.text(group, name, fallback);
    if (pattern.test(value)) return value;
    return this.#invalid(group, name, `Value '${value}' doesn't match regex '${pattern.source}'`);
  }

  /** Whether anything of a group is set: dynamic groups such as image stores. */
  hasGroup(group: string): boolean {
    this.#tell({ group });
    const prefix = keyOf(group, '');
    const variable = `OS_${group.toUpperCase()}__`;
    return (
      [...this.#values.keys()].some((key) => key.startsWith(prefix)) ||
      Object.keys(this.#environment).some((name) => name.startsWith(variable))
    );
  }

  /**
   * Options that are set and that this model has never asked for: the real program may know them, or ignore them in
   * silence. For tests of wiring.
   */
  unread(): readonly string[] {
    return [...this.#values.keys()].filter((key) => !this.#read.has(key)).sort();
  }

  #tell(read: Omit<OptionRead, 'pod'>): void {
    if (optionReads.hasSubscribers) optionReads.publish({ pod: this.#pod, ...read } satisfies OptionRead);
  }

  #raw(group: string, name: string): Assigned | undefined {
    const key = keyOf(group, name);
    if (!this.#read.has(key)) this.#tell({ group, name });
    this.#read.add(key);
    const variable = this.#environment[`OS_${group.toUpperCase()}__${name.toUpperCase()}`];
    return variable === undefined ? this.#values.get(key) : { values: [variable], location: 'environment' };
  }

  #interpolate(value: string, group: string): string {
    return value
      .replaceAll(String.raw`\$`, '$$$$')
      .replaceAll(
        /\$(?:(\$)|\{([_a-z][._a-z0-9]*)\}|([_a-z][._a-z0-9]*))/gi,
        (_all, dollar: string | undefined, braced: string | undefined, plain: string | undefined) => {
          if (dollar !== undefined) return '$';
          const name = (braced ?? plain) as string;
          const [other, option] = name.includes('.') ? (name.split('.', 2) as [string, string]) : [group, name];
          const found = this.text(other, option) ?? this.text('DEFAULT', option) ?? wellKnown[name];
          if (found === undefined) {
            throw new PythonError('oslo_config.cfg.NoSuchOptError', `no such option ${name} in group [DEFAULT]`);
          }
          return found;
        },
      );
  }

  #invalid(group: string, name: string, reason: string): never {
    const location = this.#raw(group, name)?.location ?? '';
    const where =
      location === 'environment'
        ? `LocationInfo(location=<Locations.environment: (3, True)>, detail='OS_${group.toUpperCase()}__${name.toUpperCase()}')`
        : `LocationInfo(location=<Locations.user: (4, True)>, detail='${location}')`;
    throw new PythonError(
      'oslo_config.cfg.ConfigFileValueError',
      `Value for option ${name} from ${where} is not valid: ${reason}`,
    );
  }
}

/** Options that are always there to be interpolated. */
const wellKnown: Readonly<Record<string, string>> = {
  state_path: '/var/lib',
  pybasedir: '/usr/lib/python3/dist-packages',
  my_ip: '127.0.0.1',
};

function keyOf(group: string, name: string): string {
  return `${group === 'DEFAULT' ? group : group.toLowerCase()}/${name.replaceAll('-', '_')}`;
}

/**
 * Reads a program's configuration.
 * @throws PythonError ConfigFilesNotFoundError, ConfigFilesPermissionDeniedError, ConfigDirNotFoundError, ConfigFileParseError
 */
export function loadConfig(process: Process, sources: ConfigSources): Config {
  const { project, programs } = sources;
  const home = process.env['HOME'] ?? '/root';
  const places = [`${home}/.${project}`, home, `/etc/${project}`, '/etc'];
  const find = (names: readonly string[]): string[] =>
    [...new Set(names)].flatMap((name) => {
      const place = places.find((directory) => process.files.exists(`${directory}/${name}`));
      return place === undefined ? [] : [`${place}/${name}`];
    });
  const files = [...(sources.files ?? find([project, ...programs].map((name) => `${name}.conf`)))];
  for (const directory of sources.directories ?? find([project, ...programs].map((name) => `${name}.conf.d`))) {
    if (!process.files.exists(directory)) {
      throw new PythonError(
        'oslo_config.cfg.ConfigDirNotFoundError',
        `Failed to read config file directory: ${directory}`,
      );
    }
    for (const name of process.files.list(directory)) if (name.endsWith('.conf')) files.push(`${directory}/${name}`);
  }
  const missing: string[] = [];
  const denied: string[] = [];
  const values = new Map<string, Assigned>();
  for (const file of files) {
    let text: string;
    try {
      text = process.files.read(file);
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      // What a subPath makes of a key that is not there.
      if (error.code === 'EISDIR') throw new PythonError('IsADirectoryError', `[Errno 21] Is a directory: '${file}'`);
      (error.code === 'EACCES' ? denied : missing).push(file);
      continue;
    }
    const seen = new Set<string>();
    for (const { section, key, value } of parseIni(file, text)) {
      const name = keyOf(section, key);
      // Of several files the last one counts; within one file a multi-valued option may be given several times.
      if (seen.has(name)) values.get(name)?.values.push(value);
      else values.set(name, { values: [value], location: file });
      seen.add(name);
    }
  }
  if (missing.length > 0) {
    throw new PythonError(
      'oslo_config.cfg.ConfigFilesNotFoundError',
      `Failed to find some config files: ${missing.join(',')}`,
    );
  }
  if (denied.length > 0) {
    throw new PythonError(
      'oslo_config.cfg.ConfigFilesPermissionDeniedError',
      `Failed to open some config files: ${denied.join(',')}`,
    );
  }
  if (optionReads.hasSubscribers) optionReads.publish({ pod: process.pod.name, files } satisfies OptionRead);
  return new Config(values, process);
}
