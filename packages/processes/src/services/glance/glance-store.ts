import { type Process, SystemError } from '@openstack-operator/sandbox';
import type { Config } from '../../oslo/config.ts';
import type { Log } from '../../oslo/log.ts';
import { PythonError, SystemExit } from '../../oslo/python-error.ts';
import { makeDirectories } from '../../program-support.ts';

/** The stores of a Glance: where new images go. */
export interface GlanceStores {
  readonly ids: readonly string[];
  readonly fallback: string;
  /** Directory of a file store that can be written; undefined when adding to it is disabled. */
  directory(id: string): string | undefined;
}

const drivers = ['file', 'http', 'rbd', 'cinder', 'swift', 's3', 'vmware'];

/**
 * Opens what `enabled_backends` names. A file store that cannot be written only loses its add method: uploads fail, the
 * API runs (glance_store.driver, `configure`).
 * @throws SystemExit when the default store is missing or none
 */
export function openStores(process: Process, config: Config, log: Log): GlanceStores {
  const named = config.list('DEFAULT', 'enabled_backends').map((entry) => {
    const [id = '', driver] = entry.split(':');
    if (driver === undefined) {
      throw new PythonError('ValueError', `Invalid key-value pair in enabled_backends: '${entry}'`);
    }
    return { id, driver };
  });
  if (named.length === 0) {
    // The single store of before: [glance_store] stores and default_store, both with defaults.
    const directory = openDirectory(process, config, log, 'glance_store', '/var/lib/glance/images');
    return { ids: ['file'], fallback: 'file', directory: () => directory };
  }
  if (named.some(({ id }) => id.startsWith('os_glance_'))) {
    throw new SystemExit(
      1,
      "ERROR: 'os_glance_' prefix should not be used in enabled_backends config option. It is reserved for internal use only.",
    );
  }
  const directories = new Map<string, string | undefined>();
  const reserved = ['os_glance_staging_store', 'os_glance_tasks_store'].map((id) => ({ id, driver: 'file' }));
  for (const { id, driver } of [...named, ...reserved]) {
    if (!drivers.includes(driver)) {
      log.warning(
        'glance_store.multi_backend',
        `Failed to load driver ['${driver}', RuntimeError("No 'glance_store.drivers' driver found, looking for '${driver}'")]. The driver will be disabled`,
      );
    } else directories.set(id, driver === 'file' ? openDirectory(process, config, log, id) : undefined);
  }
  const fallback = config.text('glance_store', 'default_backend');
  if (!fallback) throw new SystemExit(1, "ERROR: 'default_backend' config option is not set.");
  if (!directories.has(fallback)) throw new SystemExit(1, `ERROR: Store for identifier ${fallback} not found`);
  return { ids: named.map(({ id }) => id), fallback, directory: (id) => directories.get(id) };
}

function openDirectory(process: Process, config: Config, log: Log, group: string, standard = ''): string | undefined {
  const logger = 'glance_store._drivers.filesystem';
  const path = config.text(group, 'filesystem_store_datadir', standard).replace(/(?<=.)\/+$/, '');
  const problem = ((): string | undefined => {
    if (path === '') return "Specify at least 'filesystem_store_datadir' or 'filesystem_store_datadirs' option";
    try {
      if (!process.files.exists(path)) {
        log.info(logger, `Directory to write image files does not exist (${path}). Creating.`);
        makeDirectories(process, path);
      }
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      return `Unable to create datadir: ${path}`;
    }
    return isWritable(process, path) ? undefined : `Permission to write in ${path} denied`;
  })();
  if (problem === undefined) return path;
  log.error(logger, problem);
  log.warning(
    'glance_store.driver',
    `Failed to configure store correctly: Store filesystem could not be configured correctly. Reason: ${problem} Disabling add method.`,
  );
  return undefined;
}

/** `os.access(path, os.W_OK)`. */
function isWritable(process: Process, path: string): boolean {
  const probe = `${path}/.access-${process.pid}`;
  try {
    process.files.write(probe, '');
    process.files.remove(probe);
    return true;
  } catch (error) {
    if (error instanceof SystemError) return false;
    throw error;
  }
}
