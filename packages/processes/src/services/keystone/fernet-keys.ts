import { type Process, SystemError } from '@openstack-operator/sandbox';
import type { Config } from '../../oslo/config.ts';
import type { Log } from '../../oslo/log.ts';
import { PythonError, SystemExit } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { makeDirectories } from '../../program-support.ts';

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
export function readKeys({ process, log, path }: KeyRepository): { number: number; key: string }[] {
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

/** `fernet_setup`, `credential_setup`: makes the directory with keys 0 and 1 unless there is a key 0. */
export function initializeKeys(repository: KeyRepository): void {
  const { process, log, path } = repository;
  if (!process.files.exists(path)) makeDirectories(process, path, 0o700);
  if (!validate(repository)) return;
  if (process.files.exists(`${path}/0`)) {
    log.info(logger, 'Key repository is already initialized; aborting.');
    return;
  }
  createStagedKey(repository);
  rotateKeys(repository);
}

/** `fernet_rotate`: the staged key becomes the primary one, a new one is staged, the oldest go. */
export function rotateKeys(repository: KeyRepository): void {
  const { process, log, path, maxActiveKeys } = repository;
  if (!validate(repository)) return;
  const numbers = readKeys(repository).map(({ number }) => number);
  const [primary] = numbers;
  log.info(
    logger,
    `Starting key rotation with ${numbers.length} key files: [${numbers.map((number) => `'${path}/${number}'`).join(', ')}]`,
  );
  if (primary === undefined) throw new PythonError('ValueError', 'max() iterable argument is empty');
  const staged = process.files.read(`${path}/0`);
  writing(`${path}/${primary + 1}`, () => process.files.write(`${path}/${primary + 1}`, staged, { mode: 0o600 }));
  process.files.remove(`${path}/0`);
  log.info(logger, `Promoted key 0 to be the primary: ${primary + 1}`);
  createStagedKey(repository);
  const old = [primary + 1, ...numbers.filter((number) => number > 0)];
  for (const number of old.slice(Math.max(0, maxActiveKeys - 1))) {
    log.info(logger, `Excess key to purge: ${path}/${number}`);
    process.files.remove(`${path}/${number}`);
  }
}

function createStagedKey({ process, log, path }: KeyRepository): void {
  const key = Buffer.from(process.random.bytes(32)).toString('base64').replaceAll('+', '-').replaceAll('/', '_');
  writing(`${path}/0.tmp`, () => process.files.write(`${path}/0`, key, { mode: 0o600 }));
  log.info(logger, `Created a new temporary key: ${path}/0.tmp`);
  log.info(logger, `Become a valid new key: ${path}/0`);
}

function writing(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    const number =
      { EROFS: '[Errno 30] Read-only file system', EACCES: '[Errno 13] Permission denied' }[
        error.code as 'EROFS' | 'EACCES'
      ] ?? error.message;
    throw new PythonError(error.code === 'EACCES' ? 'PermissionError' : 'OSError', `${number}: '${path}'`);
  }
}
