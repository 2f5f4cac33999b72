import { type Process, SystemError } from '@openstack-operator/sandbox';
import { CephError, connectToCeph } from '../../infrastructure/ceph.ts';
import type { Config } from '../../oslo/config.ts';
import type { Log } from '../../oslo/log.ts';
import { PythonError, SystemExit } from '../../oslo/python-error.ts';
import { makeDirectories } from '../../program-support.ts';

/** A directory; or a cluster outside of the cloud, whose data the model keeps with the image's row. */
export type StorePlace = { readonly directory: string } | 'cluster';

/** The stores of a Glance: where new images go. */
export interface GlanceStores {
  readonly ids: readonly string[];
  readonly fallback: string;
  /** Where an image goes; undefined when adding to the store is disabled. */
  place(id: string): StorePlace | undefined;
}

const drivers = ['file', 'http', 'rbd', 'cinder', 'swift', 's3', 'vmware'];

/**
 * Opens what `enabled_backends` names. A file store that cannot be written only loses its add method: uploads fail, the
 * API runs (glance_store.driver, `configure`).
 * @throws SystemExit when the default store is missing or none
 */
export function openStores(process: Process, config: Config, log: Log): GlanceStores {
  const open = (driver: string, id: string): StorePlace | undefined => {
    if (driver === 'file') return openDirectory(process, config, log, id);
    return driver === 'rbd' ? openCluster(process, config, log, id) : undefined;
  };
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
    return { ids: ['file'], fallback: 'file', place: () => directory };
  }
  if (named.some(({ id }) => id.startsWith('os_glance_'))) {
    throw new SystemExit(
      1,
      "ERROR: 'os_glance_' prefix should not be used in enabled_backends config option. It is reserved for internal use only.",
    );
  }
  const places = new Map<string, StorePlace | undefined>();
  const reserved = ['os_glance_staging_store', 'os_glance_tasks_store'].map((id) => ({ id, driver: 'file' }));
  for (const { id, driver } of [...named, ...reserved]) {
    if (!drivers.includes(driver)) {
      log.warning(
        'glance_store.multi_backend',
        `Failed to load driver ['${driver}', RuntimeError("No 'glance_store.drivers' driver found, looking for '${driver}'")]. The driver will be disabled`,
      );
    } else places.set(id, open(driver, id));
  }
  const fallback = config.text('glance_store', 'default_backend');
  if (!fallback) throw new SystemExit(1, "ERROR: 'default_backend' config option is not set.");
  if (!places.has(fallback)) throw new SystemExit(1, `ERROR: Store for identifier ${fallback} not found`);
  return { ids: named.map(({ id }) => id), fallback, place: (id) => places.get(id) };
}

function openDirectory(
  process: Process,
  config: Config,
  log: Log,
  group: string,
  standard = '',
): StorePlace | undefined {
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
  if (problem === undefined) return { directory: path };
  log.error(logger, problem);
  return disabled(log, 'filesystem', problem);
}

/** The driver connects when it is set up. */
function openCluster(process: Process, config: Config, log: Log, group: string): StorePlace | undefined {
  const option = (name: string) => config.text(group, name);
  try {
    connectToCeph(process, { conf: option('rbd_store_ceph_conf'), user: option('rbd_store_user') || 'admin' });
    return 'cluster';
  } catch (error) {
    if (!(error instanceof CephError)) throw error;
    return disabled(log, 'rbd', `Error in store configuration: ${error.message}`);
  }
}

function disabled(log: Log, store: string, problem: string): undefined {
  log.warning(
    'glance_store.driver',
    `Failed to configure store correctly: Store ${store} could not be configured correctly. Reason: ${problem} Disabling add method.`,
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
