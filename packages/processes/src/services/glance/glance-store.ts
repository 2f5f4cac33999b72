import { type Process, SystemError } from '@openstack-operator/sandbox';
import { plain } from '../../http.ts';
import { CephError, connectToCeph } from '../../infrastructure/ceph.ts';
import type { Row } from '../../infrastructure/mysql-protocol.ts';
import type { Config } from '../../oslo/config.ts';
import type { Log } from '../../oslo/log.ts';
import { PythonError, SystemExit } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { makeDirectories } from '../../program-support.ts';
import { openCinder } from './glance-cinder.ts';
import { openSwift } from './glance-swift.ts';
import { disabled, type ImageStore, StoreFault } from './image-store.ts';

/** The stores of a Glance: where new images go. */
export interface GlanceStores {
  readonly ids: readonly string[];
  readonly fallback: string;
  /** Where an image goes; undefined when adding to the store is disabled. @throws PythonError where there is no such store */
  place(id: string): ImageStore | undefined;
  /** What reads a location of an image. @throws PythonError where nothing does */
  of(location: Row): ImageStore;
}

const drivers = ['file', 'http', 'rbd', 'cinder', 'swift', 's3', 'vmware'];

/** A store that is not loaded at all, as if nobody had named it (glance_store.multi_backend, `_load_multi_stores`). */
const notLoaded = Symbol('not loaded');

/**
 * Opens what `enabled_backends` names. A store that is not configured well only loses its add method: uploads fail, the
 * API runs (glance_store.driver, `configure`).
 * @throws SystemExit when the default store is missing or none, PythonError
 */
export async function openStores(context: ServiceContext): Promise<GlanceStores> {
  const { process, config, log } = context;
  const open = async (driver: string, id: string): Promise<ImageStore | undefined | typeof notLoaded> => {
    if (driver === 'file') return openDirectory(process, config, log, id);
    if (driver === 'rbd') return openCluster(process, config, log, id);
    if (driver === 's3') return openS3(config, log, id);
    if (driver === 'cinder') return openCinder(context, id);
    return driver === 'swift' ? openSwift(context, id, notLoaded) : undefined;
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
    return { ids: ['file'], fallback: 'file', place: () => directory, of: (at) => holding(at, process, [directory]) };
  }
  if (named.some(({ id }) => id.startsWith('os_glance_'))) {
    throw new SystemExit(
      1,
      "ERROR: 'os_glance_' prefix should not be used in enabled_backends config option. It is reserved for internal use only.",
    );
  }
  const places = new Map<string, ImageStore | undefined>();
  const reserved = ['os_glance_staging_store', 'os_glance_tasks_store'].map((id) => ({ id, driver: 'file' }));
  for (const { id, driver } of [...named, ...reserved]) {
    if (!drivers.includes(driver)) {
      log.warning(
        'glance_store.multi_backend',
        `Failed to load driver ['${driver}', RuntimeError("No 'glance_store.drivers' driver found, looking for '${driver}'")]. The driver will be disabled`,
      );
      continue;
    }
    const opened = await open(driver, id);
    if (opened !== notLoaded) places.set(id, opened);
  }
  const fallback = config.text('glance_store', 'default_backend');
  if (!fallback) throw new SystemExit(1, "ERROR: 'default_backend' config option is not set.");
  if (!places.has(fallback)) throw new SystemExit(1, `ERROR: Store for identifier ${fallback} not found`);
  return {
    ids: named.map(({ id }) => id),
    fallback,
    place: (id) => {
      if (!places.has(id)) throw new PythonError(unknownStore, `Store for identifier ${id} not found`);
      return places.get(id);
    },
    of: (location) => places.get(inCinder(location)) ?? holding(location, process, [...places.values()]),
  };
}

/** The store that the location of a volume names. */
const inCinder = ({ location }: Row): string => /^cinder:\/\/([^/]+)\//u.exec(String(location))?.[1] ?? '';

/** How a store is called that there is none of. */
export const unknownStore = 'glance_store.exceptions.UnknownScheme';

/**
 * What reads an image: a directory by its path, whatever stores there are now, Swift by the reference in its URL, and S3 by
 * the keys in it.
 */
function holding(at: Row, process: Process, stores: readonly (ImageStore | undefined)[]): ImageStore {
  const location = typeof at['location'] === 'string' ? at['location'] : '';
  if (location.startsWith('s3')) return bucket(location);
  if (at['data'] !== undefined) return cluster;
  if (location.startsWith('/')) return directoryStore(process, location.slice(0, location.lastIndexOf('/')));
  const swift = stores.find((store) => store?.scheme === 'swift+config');
  if (swift !== undefined) return swift;
  throw new PythonError(
    'glance_store.exceptions.BadStoreUri',
    'Badly formed Swift URI. Credentials not found for account reference',
  );
}

/** A directory, where an image is a file. */
function directoryStore(process: Process, directory: string): ImageStore {
  return {
    add: (id, data) => {
      const location = `${directory}/${id}`;
      try {
        process.files.write(location, data, { mode: 0o640 });
      } catch (error) {
        if (!(error instanceof SystemError)) throw error;
        throw new StoreFault(
          error.code === 'ENOSPC'
            ? plain(413, '413 Request Entity Too Large: Image storage media is full')
            : plain(503, '503 Service Unavailable: Insufficient permissions on image storage media'),
        );
      }
      return Promise.resolve({ location });
    },
    read: ({ location }) => Promise.resolve(process.files.read(String(location))),
    remove: ({ location }) => {
      const path = String(location);
      if (!process.files.exists(path))
        throw new PythonError('glance_store.exceptions.NotFound', `Image file ${path} does not exist`);
      process.files.remove(path);
      return Promise.resolve();
    },
  };
}

/** A cluster outside of the cloud, whose data the model keeps with the image's location. */
const cluster: ImageStore = {
  add: (_id, data) => Promise.resolve({ data }),
  read: ({ data }) => Promise.resolve(String(data)),
  remove: () => Promise.resolve(),
};

/** A bucket of S3, outside of the cloud as well. Its locations hold the keys, so that some keys cannot be read back. */
function bucket(prefix: string): ImageStore {
  const check = (location: string): void => {
    if (location.split('@').length !== 2) throw new PythonError('ValueError', 'too many values to unpack (expected 2)');
  };
  return {
    add: (id, data) => Promise.resolve({ location: `${prefix}/${id}`, data }),
    read: async ({ location, data }) => {
      check(String(location));
      return Promise.resolve(String(data));
    },
    remove: async ({ location }) => Promise.resolve(check(String(location))),
  };
}

/** Of its options all but the region and the certificates have to be there (glance_store._drivers.s3, `_option_get`). */
function openS3(config: Config, log: Log, group: string): ImageStore | undefined {
  const names = ['s3_store_host', 's3_store_access_key', 's3_store_secret_key', 's3_store_bucket'] as const;
  const [host = '', access, secret, name] = names.map((option) => config.text(group, option));
  const lacking = names.find((option) => config.text(group, option) === '');
  if (lacking !== undefined) {
    const problem = `Could not find ${lacking} in configuration options.`;
    log.error('glance_store._drivers.s3', problem);
    return disabled(log, badStore('s3', problem));
  }
  const scheme = host.startsWith('https://') ? 's3+https' : 's3';
  return bucket(`${scheme}://${access}:${secret}@${host.replace(/^https?:\/\//u, '')}/${name}`);
}

function openDirectory(
  process: Process,
  config: Config,
  log: Log,
  group: string,
  standard = '',
): ImageStore | undefined {
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
  if (problem === undefined) return directoryStore(process, path);
  log.error(logger, problem);
  return disabled(log, badStore('filesystem', problem));
}

/** The driver connects when it is set up. */
function openCluster(process: Process, config: Config, log: Log, group: string): ImageStore | undefined {
  const option = (name: string) => config.text(group, name);
  try {
    connectToCeph(process, { conf: option('rbd_store_ceph_conf'), user: option('rbd_store_user') || 'admin' });
    return cluster;
  } catch (error) {
    if (!(error instanceof CephError)) throw error;
    return disabled(log, badStore('rbd', `Error in store configuration: ${error.message}`));
  }
}

const badStore = (store: string, problem: string): string =>
  `Store ${store} could not be configured correctly. Reason: ${problem}`;

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
