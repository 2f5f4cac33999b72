import { type Row, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { ServiceProgram } from '../../model/program.ts';
import { hostOf, isEnabled, isUp } from '../../model/service-rows.ts';
import { Database } from '../../oslo/database.ts';
import { Messaging, type RpcHandler } from '../../oslo/messaging.ts';
import { PythonError, SystemExit } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { scheduleBackup } from './cinder-backups.ts';
import { volumeDrivers } from './cinder-drivers.ts';
import type { OfImage } from './cinder-images.ts';
import { serveAgain } from './cinder-lvm.ts';
import { runService } from './cinder-service.ts';
import { cinderDatabase, saveVolume } from './cinder-store.ts';
import { cleanUp, type Message, runTask, type Work } from './cinder-tasks.ts';

const takes = startTimes.cinderService;

/** `cinder-scheduler`: hands a new volume to a backend of its type that is up, or gives it up. */
export const cinderScheduler: ServiceProgram = {
  takes,
  run: async (context) => {
    const messaging = new Messaging(context);
    const database = new Database(context, cinderDatabase);
    const links = { messaging, database };
    const handler: RpcHandler = (method, parameters) =>
      method === 'create_backup'
        ? scheduleBackup(context, links, parameters as Parameters<typeof scheduleBackup>[2])
        : schedule(context, links, parameters as NewVolume);
    await runService(context, { host: hostOf(context), binary: 'cinder-scheduler', database, messaging, handler });
    return 0;
  },
};

/** A volume that is to be made: of an image, on the backend of what it is a copy of, or anywhere. */
interface NewVolume {
  readonly volume: string;
  readonly image?: OfImage;
  readonly backend?: string;
}

interface Links {
  readonly messaging: Messaging;
  readonly database: Database;
}

async function schedule(
  context: ServiceContext,
  { messaging, database }: Links,
  { volume: id, backend: wantedHost, ...more }: NewVolume,
): Promise<void> {
  const host = await database.transaction('UPDATE', (schema) => {
    const volume = tableOf(schema, 'volumes').get(id);
    const type = tableOf(schema, 'volume_types').get(String(volume?.['volume_type_id']));
    const { volume_backend_name: wanted } = (type?.['extra_specs'] ?? {}) as Row;
    const backend = [...tableOf(schema, 'services').values()].find((row) => {
      const can = row['capabilities'] as Row | undefined;
      const isThere = wantedHost === undefined || row['host'] === wantedHost;
      const fits = isThere && (wanted === undefined || can?.['volume_backend_name'] === wanted);
      return row['binary'] === 'cinder-volume' && can !== undefined && fits && isEnabled(row) && isUp(context, row);
    });
    if (backend === undefined) saveVolume(schema, id, { status: 'error' });
    else
      saveVolume(schema, id, {
        host: `${String(backend['host'])}#${String((backend['capabilities'] as Row)['pool'])}`,
      });
    return backend?.['host'];
  });
  if (typeof host === 'string')
    return messaging.cast(`cinder-volume.${host}`, 'create_volume', { volume: id, ...more });
  context.log.error(
    'cinder.scheduler.flows.create_volume',
    'Failed to run task cinder.scheduler.flows.create_volume.ScheduleCreateVolumeTask;volume:create: No valid backend was found. No weighed backends available',
  );
}

/**
 * `cinder-volume`: a process for each of `enabled_backends`. One whose driver cannot be set up stays, tries four times, and
 * is down for others (cinder.cmd.volume, cinder.volume.manager).
 */
export const cinderVolume: ServiceProgram = {
  takes,
  run: async (context) => {
    const { config, log } = context;
    const logger = 'cinder.cmd.volume';
    const backends = config.list('DEFAULT', 'enabled_backends');
    if (backends.length === 0) {
      log.error(
        logger,
        'Configuration for cinder-volume does not specify "enabled_backends". Using DEFAULT section to configure drivers is not supported since Ocata.',
      );
      throw new SystemExit(1, '');
    }
    let started = 0;
    const services = backends.map(async (backend) => {
      const host = `${config.optional(backend, 'backend_host') ?? hostOf(context)}@${backend}`;
      try {
        await serveBackend(context, backend, host);
        started += 1;
      } catch (error) {
        if (!(error instanceof PythonError)) throw error;
        log.exception(logger, `Volume service ${host} failed to start.`, error);
      }
    });
    await Promise.all(services);
    if (started > 0) return 0;
    log.error(logger, 'No volume service(s) started successfully, terminating.');
    return 1;
  },
};

async function serveBackend(context: ServiceContext, backend: string, host: string): Promise<void> {
  const { config, process, log } = context;
  const name = config.text(backend, 'volume_driver', 'cinder.volume.drivers.lvm.LVMVolumeDriver');
  const driver = volumeDrivers[name];
  if (driver === undefined) throw new PythonError('ImportError', `Class ${name} cannot be found`);
  const database = new Database(context, cinderDatabase);
  const messaging = new Messaging(context);
  const work: Work = { context, database, backend, host };
  const initHost = async (): Promise<(() => Row) | undefined> => {
    const logger = 'cinder.volume.manager';
    const short = name.slice(name.lastIndexOf('.') + 1);
    for (let attempt = 0; attempt <= config.integer('DEFAULT', 'reinit_driver_count'); attempt += 1) {
      if (attempt > 0) await pause(process, 1000 * 2 ** (attempt - 1));
      log.info(logger, `Starting volume driver ${short}`);
      try {
        const pool = driver(context, backend);
        log.info(logger, 'Driver initialization completed successfully.');
        await serveAgain(work);
        await cleanUp(work);
        const caches = config.boolean(backend, 'image_volume_cache_enabled') ? 'enabled' : 'disabled';
        log.info(logger, `Image-volume cache ${caches} for host ${host}.`);
        const can = { volume_backend_name: config.text(backend, 'volume_backend_name', short), pool };
        return () => can;
      } catch (error) {
        if (!(error instanceof PythonError)) throw error;
        log.exception(logger, 'Failed to initialize driver.', error);
      }
    }
    return undefined;
  };
  const handler: RpcHandler = (method, parameters) => runTask(work, method, parameters as Message);
  const service = { host, binary: 'cinder-volume', database, messaging, handler, initHost };
  await runService(context, { ...service, coordinates: true, isChild: true });
}
