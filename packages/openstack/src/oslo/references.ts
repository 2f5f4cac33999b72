import { hash } from 'node:crypto';
import type { OptionValue, OsloFile } from './writer.ts';

/** How a secret value is encoded where it is put. */
export type Filter =
  /** Percent-encoded, as in URLs. */
  | 'url'
  /** `$` doubled, as in oslo.config files. */
  | 'oslo'
  /** What MariaDB keeps of a password (mysql_native_password): the client prints a statement that failed, this tells nobody. */
  | 'sqlhash'
  /** Quoted for JSON and MySQL option files, which read the same escapes: the reference stands between double quotes. */
  | 'quoted'
  /** `%` doubled, as in Python's configparser (alembic). */
  | 'percent'
  /** For a shell: the reference stands between single quotes. */
  | 'shell'
  /** The bare key of a user of Ceph, from a keyring with this user alone, or from the key itself. */
  | 'cephkey';

const pattern = /\{\{([a-z0-9.-]+)\/([A-Za-z0-9._-]+)((?:\|[a-z]+)*)\}\}/g;

/** A reference to a Secret's value, to be embedded in any text: `{{name/key|filter|...}}`. */
export function secretReference(secret: string, key: string, ...filters: readonly Filter[]): string {
  return `{{${secret}/${key}${filters.map((filter) => `|${filter}`).join('')}}}`;
}

const besidePattern = /\{\{=([A-Za-z0-9._-]+)\}\}/g;

/**
 * A name that is no secret and belongs to one, to be embedded in a text: it is put where secrets are, so that whoever reads
 * the secret anew reads the name with it.
 */
export function besideSecrets(name: string): string {
  return `{{=${name}}}`;
}

/** Whether a text has to be where secrets are. */
export function isAmongSecrets(text: string): boolean {
  return text.search(pattern) !== -1 || text.search(besidePattern) !== -1;
}

/** The text with one more filter for each of its references: where they stand is within something that escapes. */
export function withFilter(text: string, filter: Filter): string {
  return text.replace(pattern, (reference) => `${reference.slice(0, -2)}|${filter}}}`);
}

/** The Secrets and keys that a text refers to. */
export function referencesIn(text: string): { secret: string; key: string }[] {
  return [...text.matchAll(pattern)].map(([, secret = '', key = '']) => ({ secret, key }));
}

/**
 * The text with every reference replaced.
 * @throws when `read` gives undefined: the message names Secret and key
 */
export function resolveReferences(text: string, read: (secret: string, key: string) => string | undefined): string {
  return text.replace(besidePattern, '$1').replace(pattern, (_all, secret: string, key: string, filters: string) => {
    const value = read(secret, key);
    if (value === undefined) throw new Error(`Secret ${secret} has no key ${key}`);
    return filters
      .split('|')
      .filter((filter) => filter !== '')
      .reduce((text, filter) => encode(text, filter as Filter), value);
  });
}

/** Percent-encoded, as secrets stand in URLs. @throws URIError for a half of a surrogate pair */
export function urlEncoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

function encode(text: string, filter: Filter): string {
  switch (filter) {
    case 'url':
      return urlEncoded(text);
    case 'oslo':
      return text.replaceAll('$', '$$$$');
    case 'sqlhash':
      return `*${hash('sha1', hash('sha1', text, 'buffer')).toUpperCase()}`;
    case 'quoted':
      return text
        .replaceAll('\\', '\\\\')
        .replaceAll('"', '\\"')
        .replaceAll('\n', '\\n')
        .replaceAll('\r', '\\r')
        .replaceAll('\t', '\\t');
    case 'percent':
      return text.replaceAll('%', '%%');
    case 'shell':
      return text.replaceAll("'", String.raw`'\''`);
    case 'cephkey':
      return cephKey(text);
    default:
      throw new Error(`unknown filter ${String(filter)}`);
  }
}

/** @throws Error for what holds no key, and would take that of every client away */
function cephKey(text: string): string {
  const key = /^\s*key\s*=\s*(\S+)\s*$/m.exec(text)?.[1] ?? text.trim();
  if (!/^[A-Za-z0-9+/=_-]+$/.test(key)) throw new Error('expected a keyring of Ceph (key = ...), or the bare key');
  return key;
}

/** A file, by what may carry its values. */
export interface Split {
  /** What is no secret. */
  readonly plain: OsloFile;
  /** Variables `OS_<GROUP>__<OPTION>` of oslo.config's environment driver, which beats files. */
  readonly environment: Readonly<Record<string, string>>;
  /** Secrets that the environment cannot carry: the file itself has to be a Secret. Undefined when there are none. */
  readonly secret?: OsloFile;
}

/** The variable from which oslo.config reads an option before it reads any file (sources/_environment.py). */
export function variableOf(section: string, name: string): string {
  return `OS_${section.toUpperCase()}__${name.toUpperCase()}`;
}

/** The variables of options that two of the files say differently: one variable would give both the same value. */
export function disputedVariables(files: readonly OsloFile[]): ReadonlySet<string> {
  const values = new Map<string, string>();
  const disputed = new Set<string>();
  for (const [section, options] of files.flatMap((file) => Object.entries(file))) {
    for (const [name, value] of Object.entries(options)) {
      const variable = variableOf(section, name);
      if ((values.get(variable) ?? String(value)) !== String(value)) disputed.add(variable);
      values.set(variable, String(value));
    }
  }
  return disputed;
}

/**
 * Takes the options that hold secrets, or what belongs to one, out of a file. The environment carries neither a MultiOpt, which is iterated per
 * character there, nor what has a group or a name that is no legal name of a variable (production rule 22), such as
 * `[service:mdns]`; and of names in capitals it would set the option whose name is not.
 */
export function splitSecrets(file: OsloFile): Split {
  const plain: Record<string, Record<string, OptionValue>> = {};
  const secret: Record<string, Record<string, OptionValue>> = {};
  const environment: Record<string, string> = {};
  for (const [section, options] of Object.entries(file)) {
    for (const [name, value] of Object.entries(options)) {
      if (!isAmongSecrets(Array.isArray(value) ? value.join('\n') : String(value)))
        (plain[section] ??= {})[name] = value;
      else if (Array.isArray(value) || !/^(?:DEFAULT|[a-z0-9_]+)$/.test(section) || !/^[a-z0-9_]+$/.test(name))
        (secret[section] ??= {})[name] = value;
      // Values from the environment are substituted as well (cfg.py, `_do_get`); references hold no `$`.
      else environment[variableOf(section, name)] = String(value).replaceAll('$', '$$$$');
    }
  }
  return { plain, environment, ...(Object.keys(secret).length === 0 ? {} : { secret }) };
}
