import { type Process, SystemError } from '@openstack-operator/sandbox';
import type { Config } from '../../oslo/config.ts';
import type { Log } from '../../oslo/log.ts';
import { PythonError, SystemExit } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';

/** A directory of fernet keys: files `0` (staged), `1`, `2`, ... (the highest is the primary one). */
export interface KeyRepository {
  readonly process: Process;
  readonly log: Log;
  readonly path: string;
  readonly maxActiveKeys: number;
  /** Such as `fernet_tokens`. */
  readonly group: string;
}

const logger = 'keystone.common.fernet_utils';

/** The repository of a group of options, such as `fernet_tokens`. */
export function repositoryOf(
  { process, config, log }: ServiceContext,
  group: 'fernet_tokens' | 'credential',
): KeyRepository {
  return {
    process,
    log,
    group,
    path: config.text(group, 'key_repository').replace(/(?<=.)\/+$/, ''),
    maxActiveKeys: group === 'credential' ? 3 : config.integer(group, 'max_active_keys'),
  };
}

/** Key numbers and keys, the primary one first; empty files and names that are no number are skipped. */
function readKeys({ process, log, path }: KeyRepository): { number: number; key: string }[] {
  const { files } = process;
  return files
    .list(path)
    .filter((name) => /^\d+$/.test(name) && !files.isDirectory(`${path}/${name}`))
    .flatMap((name) => {
      const key = files.read(`${path}/${name}`);
      if (key !== '') return [{ number: Number(name), key }];
      log.warning(logger, `Ignoring empty key found in key repository: ${path}/${name}`);
      return [];
    })
    .sort((a, b) => b.number - a.number);
}

/** Keys for use; none when the directory cannot be used. @throws PythonError ValueError when one is no fernet key */
export function loadKeys(repository: KeyRepository): string[] {
  if (!validate(repository)) return [];
  const keys = readKeys(repository).map(({ key }) => key);
  for (const key of keys) {
    if (!/^[\w-]{43}=?\s*$/.test(key) || Buffer.from(key, 'base64url').length !== 32) {
      throw new PythonError('ValueError', 'Fernet key must be 32 url-safe base64-encoded bytes.');
    }
  }
  return keys;
}

function validate({ process, log, path, group }: KeyRepository): boolean {
  try {
    process.files.list(path);
    const { mode } = process.files.stat(path);
    if ((mode & 0o005) !== 0) log.warning(logger, `key_repository is world readable: ${path}`);
    return true;
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    log.error(
      logger,
      `Either [${group}] key_repository does not exist or Keystone does not have sufficient permission to access it: ${path}`,
    );
    return false;
  }
}

/**
 * The providers of tokens and receipts are loaded with all other backends: by the API and by bootstrap.
 * @throws SystemExit when one has no keys
 */
export function demandKeys(process: Process, config: Config): void {
  for (const group of ['fernet_tokens', 'fernet_receipts']) {
    const path = config.text(group, 'key_repository');
    if (!process.files.exists(path)) throw new SystemExit(1, `${path} does not exist`);
    if (process.files.list(path).length === 0) {
      throw new SystemExit(1, `${path} does not contain keys, use keystone-manage fernet_setup to create Fernet keys.`);
    }
  }
}
