import { channel } from 'node:diagnostics_channel';
import { authOptionsOf, factsOf, type OptionFacts, type ServiceFacts } from '@openstack-operator/facts';
import { type Process, SystemError } from '@openstack-operator/sandbox';
import { parseIni } from './ini-file.ts';
import { booleanOf, itemsOf, problemOf } from './option-values.ts';
import { osError, PythonError } from './python-error.ts';

/** Where a program looks for its configuration. */
export interface ConfigSources {
  /** Such as `nova`: names the directory and the file. */
  readonly project: string;
  /** The service whose options these are, as the facts name it; the project when absent. */
  readonly options?: string;
  /** Such as `nova-manage`; `uwsgi` under uwsgi: their files are read beside the project's. */
  readonly programs: readonly string[];
  /** Files asked for (`--config-file`, or those a WSGI module names): all must be there. Absent: the default ones. */
  readonly files?: readonly string[];
  /** Directories asked for (`--config-dir`). Absent: `<project>.conf.d` and `<program>.conf.d`. */
  readonly directories?: readonly string[];
}

/** The release whose programs these are. */
const release = '2025.1';

interface Assigned {
  readonly values: string[];
  /** The file; undefined for a variable. */
  location: string | undefined;
}

/** Which options processes look up, and in which files: tests of wiring need not break what nobody reads. */
export const optionReads = channel('openstack-operator:option-reads');

/** A message of `optionReads`: a process has loaded files, or looks up an option. */
export interface OptionRead {
  readonly pod: string;
  readonly files?: readonly string[];
  readonly group?: string;
  readonly name?: string;
}

/** A program's options: from its files, overridden by `OS_<GROUP>__<OPTION>` variables; what they are, the facts say. */
export class Config {
  readonly #values: ReadonlyMap<string, Assigned>;
  readonly #facts: ServiceFacts | undefined;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #pod: string;
  readonly #read = new Set<string>();

  /** Such as `nova`. */
  readonly project: string;

  /** The service whose options and rules of policy these are, as the facts name it. */
  readonly options: string;

  /** `facts`: of the service whose options these are; without them every text is a value, and there are no defaults. */
  constructor(
    project: string,
    values: ReadonlyMap<string, Assigned>,
    facts: ServiceFacts | undefined,
    { env, pod }: Pick<Process, 'env' | 'pod'>,
  ) {
    this.project = project;
    this.options = facts?.name ?? project;
    this.#values = values;
    this.#facts = facts;
    this.#environment = env;
    this.#pod = pod.name;
  }

  /**
   * An option's text, `$name` and `$group.name` replaced: what is set, else `fallback`, else the option's default; undefined
   * without one.
   * @throws PythonError ConfigFileValueError for what the option's type refuses, RequiredOptError
   */
  optional(group: string, name: string, fallback?: string): string | undefined {
    const option = this.#optionOf(group, name);
    const assigned = this.#assigned(group, name, option);
    if (assigned === undefined) {
      // What a plug-in of keystoneauth requires, it asks for itself.
      if (
        option?.required === true &&
        typeof option.default !== 'string' &&
        this.#optionOf(group, 'auth_type') === undefined
      )
        throw failure('RequiredOptError', `value required for option ${name} in group [${group}]`);
      const value = fallback ?? (typeof option?.default === 'string' && !option.sample ? option.default : undefined);
      return value === undefined ? undefined : this.#interpolate(value, group);
    }
    const value = this.#interpolate(assigned.values.at(-1) ?? '', group);
    const problem = option && problemOf(option, value);
    return problem === undefined ? value : invalid(group, name, assigned, problem);
  }

  /** As `optional`; empty without a default. */
  text(group: string, name: string, fallback?: string): string {
    return this.optional(group, name, fallback) ?? '';
  }

  /** As `optional`; NaN without a default. */
  integer(group: string, name: string, fallback?: number): number {
    return Number(this.optional(group, name, fallback?.toString()) ?? NaN);
  }

  /** As `optional`; false without a default. */
  boolean(group: string, name: string): boolean {
    return booleanOf(this.text(group, name)) ?? false;
  }

  /** A list with commas; empty without a default. */
  list(group: string, name: string, fallback?: string): readonly string[] {
    return itemsOf(this.text(group, name, fallback));
  }

  /** A multi-valued option; one that comes from the environment is taken letter by letter, as oslo.config does. */
  all(group: string, name: string): readonly string[] {
    const assigned = this.#assigned(group, name);
    if (assigned === undefined) return [];
    if (assigned.location === undefined) return Array.from(assigned.values.at(-1) ?? '');
    return assigned.values.map((value) => this.#interpolate(value, group));
  }

  /** The option of that name; those of keystoneauth's plug-ins stand in any group. */
  #optionOf(group: string, name: string): OptionFacts | undefined {
    if (this.#facts === undefined) return undefined;
    return (
      this.#facts.option(group, name) ??
      authOptionsOf(this.#facts.release, 'password')?.find((option) => option.name === name)
    );
  }

  /** What is set, by the option's name or by a deprecated one. */
  #assigned(group: string, name: string, option?: OptionFacts): Assigned | undefined {
    const former = option?.deprecated.map(([old, oldName]) =>
      this.#found(option.group === group ? old : group, oldName),
    );
    return this.#found(group, name) ?? former?.find((found) => found !== undefined);
  }

  #found(group: string, name: string): Assigned | undefined {
    const key = keyOf(group, name);
    if (!this.#read.has(key) && optionReads.hasSubscribers)
      optionReads.publish({ pod: this.#pod, group, name } satisfies OptionRead);
    this.#read.add(key);
    const variable = this.#environment[variableOf(group, name)];
    return variable === undefined ? this.#values.get(key) : { values: [variable], location: undefined };
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
          const found = this.optional(other, option) ?? this.optional('DEFAULT', option) ?? wellKnown[name];
          if (found === undefined) throw failure('NoSuchOptError', `no such option ${name} in group [DEFAULT]`);
          return found;
        },
      );
  }
}

/** An exception of oslo.config. */
function failure(kind: string, message: string): PythonError {
  return new PythonError(`oslo_config.cfg.${kind}`, message);
}

function variableOf(group: string, name: string): string {
  return `OS_${group.toUpperCase()}__${name.toUpperCase()}`;
}

function invalid(group: string, name: string, { location }: Assigned, reason: string): never {
  const where =
    location === undefined
      ? `LocationInfo(location=<Locations.environment: (3, True)>, detail='${variableOf(group, name)}')`
      : `LocationInfo(location=<Locations.user: (4, True)>, detail='${location}')`;
  throw failure('ConfigFileValueError', `Value for option ${name} from ${where} is not valid: ${reason}`);
}

/** What programs find out of the machine: where Python's packages lie, which nobody may write to, and its address. */
const wellKnown: Readonly<Record<string, string>> = {
  pybasedir: '/var/lib/kolla/venv/lib/python3.11/site-packages',
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
    if (!process.files.exists(directory))
      throw failure('ConfigDirNotFoundError', `Failed to read config file directory: ${directory}`);
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
      if (error.code === 'EISDIR') throw osError(error, file);
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
  if (missing.length > 0)
    throw failure('ConfigFilesNotFoundError', `Failed to find some config files: ${missing.join(',')}`);
  if (denied.length > 0)
    throw failure('ConfigFilesPermissionDeniedError', `Failed to open some config files: ${denied.join(',')}`);
  if (optionReads.hasSubscribers) optionReads.publish({ pod: process.pod.name, files } satisfies OptionRead);
  return new Config(project, values, factsOf(release, sources.options ?? project), process);
}

/** Options that Paste hands to a middleware, as a group: what oslo.config makes of them, without its files. */
export function pasteConfig(
  process: Process,
  group: string,
  { options, values }: { readonly options: string; readonly values: Readonly<Record<string, string>> },
): Config {
  const assigned = Object.entries(values).map(([name, value]): [string, Assigned] => [
    keyOf(group, name),
    { values: [value], location: 'paste' },
  ]);
  return new Config(options, new Map(assigned), factsOf(release, options), process);
}
