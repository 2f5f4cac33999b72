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
  | 'percent';

const pattern = /\{\{([a-z0-9.-]+)\/([A-Za-z0-9._-]+)((?:\|[a-z]+)*)\}\}/g;

/** A reference to a Secret's value, to be embedded in any text: `{{name/key|filter|...}}`. */
export function secretReference(secret: string, key: string, ...filters: readonly Filter[]): string {
  return `{{${secret}/${key}${filters.map((filter) => `|${filter}`).join('')}}}`;
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
  return text.replace(pattern, (_all, secret: string, key: string, filters: string) => {
    const value = read(secret, key);
    if (value === undefined) throw new Error(`Secret ${secret} has no key ${key}`);
    return filters
      .split('|')
      .filter((filter) => filter !== '')
      .reduce((text, filter) => encode(text, filter as Filter), value);
  });
}

function encode(text: string, filter: Filter): string {
  switch (filter) {
    case 'url':
      return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
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
    default:
      throw new Error(`unknown filter ${String(filter)}`);
  }
}

/**
 * Takes the options that hold secrets out of a file: they go into the environment, as `OS_<GROUP>__<OPTION>`
 * (oslo.config's environment driver, which beats files).
 * @throws when such an option cannot be carried by the environment: a MultiOpt (iterated per character there) or a
 * group name that is no legal variable name (production rule 22)
 */
export function splitSecrets(file: OsloFile): { plain: OsloFile; environment: Record<string, string> } {
  const plain: Record<string, Record<string, OptionValue>> = {};
  const environment: Record<string, string> = {};
  for (const [section, options] of Object.entries(file)) {
    for (const [name, value] of Object.entries(options)) {
      const holdsSecret = referencesIn(Array.isArray(value) ? value.join('\n') : String(value)).length > 0;
      if (!holdsSecret) {
        (plain[section] ??= {})[name] = value;
        continue;
      }
      if (Array.isArray(value) || !/^\w+$/.test(section) || !/^\w+$/.test(name)) {
        throw new Error(`[${section}] ${name}: a secret that the environment cannot carry`);
      }
      // Values from the environment are substituted as well (cfg.py, `_do_get`); references hold no `$`.
      environment[`OS_${section.toUpperCase()}__${name.toUpperCase()}`] = String(value).replaceAll('$', '$$$$');
    }
  }
  return { plain, environment };
}
