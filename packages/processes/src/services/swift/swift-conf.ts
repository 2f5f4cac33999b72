import { hash } from 'node:crypto';
import { type Process, SystemError } from '@openstack-operator/sandbox';
import { parseIni } from '../../oslo/ini-file.ts';
import { PythonError } from '../../oslo/python-error.ts';

/** Sections of a file, options by name; `[DEFAULT]` stands under each. */
export type Conf = ReadonlyMap<string, Readonly<Record<string, string>>>;

/** A program ends with these words. */
export class SwiftError extends Error {
  override readonly name = 'SwiftError';
}

/**
 * Reads a file as Python's configparser does: `%%` is a `%`, and another `%` is an error.
 * @throws SwiftError
 */
export function readConf(process: Process, path: string): Conf {
  const sections = new Map<string, Record<string, string>>();
  try {
    const text = process.files.read(path);
    for (const [, section = ''] of text.matchAll(/^\[(.+)\]$/gmu)) sections.set(section, {});
    for (const { section, key, value } of parseIni(path, text)) {
      const options = sections.get(section);
      if (options !== undefined) options[key] = interpolated(value);
    }
  } catch (error) {
    if (error instanceof SystemError) throw new SwiftError(`Unable to read config from ${path}`);
    throw error instanceof PythonError ? new SwiftError(error.message) : error;
  }
  const defaults = sections.get('DEFAULT') ?? {};
  return new Map([...sections].map(([name, options]) => [name, { ...defaults, ...options }]));
}

function interpolated(value: string): string {
  const wrong = /%(?:%|(.*))/gu;
  return value.replaceAll(wrong, (found, rest: string | undefined) => {
    if (rest === undefined) return '%';
    throw new SwiftError(`'%' must be followed by '%' or '(', found: '${found}'`);
  });
}

/** A section that a program cannot do without. @throws SwiftError */
export function sectionOf(conf: Conf, section: string, path: string): Readonly<Record<string, string>> {
  const options = conf.get(section);
  if (options === undefined) throw new SwiftError(`Unable to find ${section} config section in ${path}`);
  return options;
}

/** `md5` of a name between the ends that only this cluster has: where its data lie. */
export type NameHash = (...names: readonly string[]) => string;

/** A storage policy: how the objects of a container are kept. */
export interface StoragePolicy {
  readonly index: number;
  readonly name: string;
  readonly type: 'replication' | 'erasure_coding';
  readonly isDefault: boolean;
  readonly isDeprecated: boolean;
}

/** What swift.conf says: the hash, and the storage policies. @throws SwiftError */
export function readSwiftConf(process: Process): {
  readonly hashOf: NameHash;
  readonly policies: readonly StoragePolicy[];
} {
  const path = '/etc/swift/swift.conf';
  const conf = process.files.exists(path) ? readConf(process, path) : new Map<string, Record<string, string>>();
  const { swift_hash_path_prefix: prefix = '', swift_hash_path_suffix: suffix = '' } = conf.get('swift-hash') ?? {};
  if (prefix === '' && suffix === '') {
    throw new SwiftError(
      `[swift-hash]: both swift_hash_path_suffix and swift_hash_path_prefix are missing from ${path}`,
    );
  }
  return { hashOf: (...names) => hash('md5', `${prefix}/${names.join('/')}${suffix}`), policies: policiesOf(conf) };
}

function policiesOf(conf: Conf): readonly StoragePolicy[] {
  const stated = [...conf].flatMap(([section, options]): StoragePolicy[] => {
    const [, index] = /^storage-policy:(\d+)$/u.exec(section) ?? [];
    if (index === undefined) return [];
    const { name = '', policy_type: type = 'replication', default: isDefault, deprecated } = options;
    if (type !== 'replication' && type !== 'erasure_coding')
      throw new SwiftError(`No class registered for policy type "${type}"`);
    if (type === 'erasure_coding' && options['ec_type'] === undefined) throw new SwiftError(`Missing ec_type`);
    return [{ index: Number(index), name, type, isDefault: isTrue(isDefault), isDeprecated: isTrue(deprecated) }];
  });
  const first = { index: 0, name: 'Policy-0', type: 'replication', isDefault: true, isDeprecated: false } as const;
  if (stated.length === 0) return [first];
  if (!stated.some(({ index }) => index === 0))
    throw new SwiftError('You must specify a storage policy section for policy index 0');
  const isSingle = stated.length === 1;
  if (!isSingle && stated.filter(({ isDefault }) => isDefault).length !== 1)
    throw new SwiftError('You must designate exactly one storage policy as default');
  return stated.map((one) => ({ ...one, isDefault: one.isDefault || isSingle }));
}

/** A switch, as Swift reads it. */
export const isTrue = (value = ''): boolean => ['true', '1', 'yes', 'on', 't', 'y'].includes(value.toLowerCase());

/** Filters and programs of Swift that files of Paste may name. */
const entryPoints =
  'account account_quotas bulk catch_errors container container_quotas copy dlo gatekeeper healthcheck keystoneauth listing_formats memcache object proxy proxy_logging ratelimit recon s3api s3token slo symlink tempurl versioned_writes'.split(
    ' ',
  );

/**
 * What a request passes, as the file says: each filter, and the program at the end, with its options.
 * @throws SwiftError for a section or a filter that there is not
 */
export function pipelineOf(process: Process, path: string): ReadonlyMap<string, Readonly<Record<string, string>>> {
  try {
    const conf = readConf(process, path);
    const names = (sectionOf(conf, 'pipeline:main', path)['pipeline'] ?? '').split(/\s+/u);
    return new Map(
      names.map((name, index) => {
        const prefix = index === names.length - 1 ? 'app' : 'filter';
        const options = conf.get(`${prefix}:${name}`);
        if (options === undefined)
          throw new SwiftError(`No section '${name}' (prefixed by '${prefix}') found in config ${path}`);
        const entry = options['use']?.replace(/^egg:swift#/u, '');
        const isForeign =
          options['paste.filter_factory'] === 'keystonemiddleware.auth_token:filter_factory' ||
          options['use'] === 'egg:storlets#storlet_handler';
        if (!isForeign && !entryPoints.includes(entry ?? ''))
          throw new SwiftError(`Entry point '${entry}' not found in egg 'swift'`);
        return [name, options] as const;
      }),
    );
  } catch (error) {
    if (!(error instanceof SwiftError)) throw error;
    throw new SwiftError(`Error trying to load config from ${path}: ${error.message}`);
  }
}
