import { SystemError } from '@openstack-operator/sandbox';
import { attempt } from '../../attempt.ts';
import { PythonError, SystemExit } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';

const logger = 'keystone.common.fernet_utils';

/**
 * Keys of tokens, the primary one first: of files `0` (staged), `1`, `2`, ... the highest is the primary one; empty files
 * and names that are no number are skipped. None when the directory cannot be used.
 * @throws PythonError ValueError when one is no fernet key
 */
export function loadKeys({ process: { files }, config, log }: ServiceContext): string[] {
  const path = config.text('fernet_tokens', 'key_repository').replace(/(?<=.)\/+$/, '');
  config.integer('fernet_tokens', 'max_active_keys');
  const names = attempt(
    SystemError,
    () => files.list(path),
    () => undefined,
  );
  if (names === undefined) {
    log.error(
      logger,
      `Either [fernet_tokens] key_repository does not exist or Keystone does not have sufficient permission to access it: ${path}`,
    );
    return [];
  }
  if ((files.stat(path).mode & 0o005) !== 0) log.warning(logger, `key_repository is world readable: ${path}`);
  const numbers = names.filter((name) => /^\d+$/.test(name) && !files.isDirectory(`${path}/${name}`));
  return numbers
    .sort((a, b) => Number(b) - Number(a))
    .flatMap((name) => {
      const key = files.read(`${path}/${name}`);
      if (key === '') {
        log.warning(logger, `Ignoring empty key found in key repository: ${path}/${name}`);
        return [];
      }
      if (!/^[\w-]{43}=?\s*$/.test(key) || Buffer.from(key, 'base64url').length !== 32)
        throw new PythonError('ValueError', 'Fernet key must be 32 url-safe base64-encoded bytes.');
      return [key];
    });
}

/**
 * The providers of tokens and receipts are loaded with all other backends: by the API and by bootstrap.
 * @throws SystemExit when one has no keys
 */
export function demandKeys({ process, config }: ServiceContext): void {
  for (const group of ['fernet_tokens', 'fernet_receipts']) {
    const path = config.text(group, 'key_repository');
    if (!process.files.exists(path)) throw new SystemExit(1, `${path} does not exist`);
    if (process.files.list(path).length === 0) {
      throw new SystemExit(1, `${path} does not contain keys, use keystone-manage fernet_setup to create Fernet keys.`);
    }
  }
}
