import { uuid } from '@openstack-operator/kube';
import { json } from '../../http.ts';
import { type Row, rowsOf, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { demanded, type Owned } from '../../model/owned.ts';
import type { ServiceProgram } from '../../model/program.ts';
import { hostOf } from '../../model/service-rows.ts';
import { Database } from '../../oslo/database.ts';
import { Messaging, type RpcHandler } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { runService } from './cinder-service.ts';
import { cinderDatabase, demandQuota, saveVolume } from './cinder-store.ts';
import { createVolume } from './cinder-volumes.ts';

/** Of what backup, and of what volume, a message is. */
interface Copied {
  readonly backup: string;
  readonly volume: string;
}

const invalid = (words: string): Fault => new Fault(400, `Invalid backup: ${words}`);

/** Copies of volumes, whole or of what has changed since the newest one, which are restored (cinder.backup.api). */
export const backups = (context: ServiceContext, messaging: Messaging): Owned => ({
  table: 'backups',
  item: 'backup',
  filters: { volume_id: 'volume_id' },
  missing: (id) => `Backup ${id} could not be found.`,
  shown: ({ parent_id: parent, project_id: _project, ...row }) => ({
    ...row,
    is_incremental: typeof parent === 'string',
  }),
  async make(call) {
    const { store, identity, body } = call;
    const {
      volume_id: id = '',
      name = null,
      force,
      incremental,
    } = (body['backup'] ?? {}) as Row & { volume_id?: string };
    const own = uuid(context.process.random);
    await store((schema) => {
      const volume = demanded(schema, call, 'volumes', id, `Volume ${id} could not be found.`);
      const status = String(volume['status']);
      if (!['available', 'in-use'].includes(status))
        throw new Fault(
          400,
          `Invalid volume: Volume to be backed up must be available or in-use, but the current status is "${status}".`,
        );
      if (status === 'in-use' && force !== true)
        throw new Fault(400, 'Invalid volume: Backing up an in-use volume must use the force flag.');
      demandQuota(context, schema, identity.projectId, { backup_gigabytes: Number(volume['size']), backups: 1 });
      const parent = rowsOf(schema, 'backups', { volume_id: id, status: 'available' }).at(-1)?.['id'];
      if (incremental === true && parent === undefined)
        throw invalid('No backups available to do an incremental backup.');
      saveVolume(schema, id, { status: 'backing-up', previous_status: status });
      tableOf(schema, 'backups').set(own, {
        id: own,
        name,
        volume_id: id,
        project_id: identity.projectId,
        size: volume['size'],
        parent_id: incremental === true ? parent : null,
        status: 'creating',
        fail_reason: null,
      });
    });
    messaging.cast('cinder-scheduler', 'create_backup', { backup: own, volume: id });
    return json(202, { backup: { id: own, name, links: [] } });
  },
  async remove({ store }, { id, host, status }) {
    if (!['available', 'error'].includes(String(status))) throw invalid('Backup status must be available or error');
    await store((schema) => {
      if (rowsOf(schema, 'backups', { parent_id: id }).length > 0)
        throw invalid('Incremental backups exist for this backup.');
      if (typeof host !== 'string') tableOf(schema, 'backups').delete(String(id));
      else Object.assign(tableOf(schema, 'backups').get(String(id)) ?? {}, { status: 'deleting' });
    });
    if (typeof host === 'string') messaging.cast(`cinder-backup.${host}`, 'delete_backup', { backup: id });
    return { status: 202 };
  },
  parts: {
    async restore(call, { id, host, status, size, name }) {
      if (status !== 'available') throw invalid('Backup status must be available');
      const { restore = {} } = call.body as { restore?: { volume_id?: string; name?: string } };
      const fresh = { name: restore.name ?? `restore_backup_${String(id)}`, size };
      const volume = restore.volume_id ?? (await madeFor(context, messaging, call, fresh));
      await call.store((schema) => {
        const row = demanded(schema, call, 'volumes', volume, `Volume ${volume} could not be found.`);
        if (row['status'] !== 'available')
          throw new Fault(400, 'Invalid volume: Volume to be restored to must be available');
        if (Number(size) > Number(row['size']))
          throw new Fault(
            400,
            `Invalid volume: volume size ${String(row['size'])} is too small to restore backup of size ${String(size)}.`,
          );
        saveVolume(schema, volume, { status: 'restoring-backup' });
        Object.assign(tableOf(schema, 'backups').get(String(id)) ?? {}, { status: 'restoring', restored: volume });
      });
      messaging.cast(`cinder-backup.${String(host)}`, 'restore_backup', { backup: id, volume });
      return json(202, { restore: { backup_id: id, volume_id: volume, volume_name: restore.name ?? name } });
    },
  },
});

/** A volume that a backup is restored to, when it is there: the API waits for it. @throws Fault */
async function madeFor(context: ServiceContext, messaging: Messaging, call: Call, asked: Row): Promise<string> {
  const { id } = await createVolume(context, messaging, call, asked);
  const status = () => call.store((schema) => tableOf(schema, 'volumes').get(String(id))?.['status']);
  while ((await status()) === 'creating') await pause(context.process, 1000);
  return String(id);
}

/** What the scheduler does with a backup: hands it to a service that works, or gives it up (cinder.scheduler.manager). */
export async function scheduleBackup(
  context: ServiceContext,
  { messaging, database }: { readonly messaging: Messaging; readonly database: Database },
  copied: Copied,
): Promise<void> {
  const message = 'Service not found for creating backup.';
  const host = await database.transaction('UPDATE', (schema) => {
    const works = [...tableOf(schema, 'services').values()].find(
      (row) =>
        row['binary'] === 'cinder-backup' && (row['capabilities'] as Row | undefined)?.['backend_state'] === true,
    );
    const backup = tableOf(schema, 'backups').get(copied.backup) ?? {};
    if (works !== undefined) Object.assign(backup, { host: works['host'] });
    else {
      Object.assign(backup, { status: 'error', fail_reason: message });
      const status = tableOf(schema, 'volumes').get(copied.volume)?.['previous_status'];
      saveVolume(schema, copied.volume, { status });
    }
    return works?.['host'];
  });
  if (typeof host === 'string') messaging.cast(`cinder-backup.${host}`, 'create_backup', copied);
  else context.log.error('cinder.scheduler.manager', message);
}

/**
 * `cinder-backup`. Schedulers hand it nothing in its first minute: it tells them what it can do when it starts, but sets
 * its driver up in a loop that it does not wait for (`setup_backup_backend`), and so tells them that it does not work;
 * the next time is after `backup_driver_stats_polling_interval` (cinder.backup.manager.BackupManager.init_host).
 */
export const cinderBackup: ServiceProgram = {
  takes: startTimes.cinderService,
  run: async (context) => {
    const { config, log, process } = context;
    log.info('cinder.cmd.backup', 'Backup running in single process mode.');
    const driver = config.text('DEFAULT', 'backup_driver');
    if (!driver.startsWith('cinder.backup.drivers.'))
      throw new PythonError('ImportError', `Class ${driver} cannot be found`);
    const database = new Database(context, cinderDatabase);
    const interval = config.integer('DEFAULT', 'backup_driver_stats_polling_interval') * 1000;
    const begun = process.clock.now();
    await runService(context, {
      host: hostOf(context),
      binary: 'cinder-backup',
      database,
      messaging: new Messaging(context),
      handler: copier(context, database),
      coordinates: true,
      initHost: async () => {
        await resetUndone(context, database, hostOf(context));
        return () => ({ driver_name: driver, backend_state: process.clock.now() - begun >= interval });
      },
    });
    return 0;
  },
};

/** What becomes of a backup, and of its volume, by what is done (cinder.backup.manager). */
const ends: Readonly<Record<string, (schema: Schema, copied: Copied) => void>> = {
  create_backup: (schema, { backup, volume }) => {
    saveBackup(schema, backup, { status: 'available' });
    saveVolume(schema, volume, { status: tableOf(schema, 'volumes').get(volume)?.['previous_status'] });
  },
  restore_backup: (schema, { backup, volume }) => {
    saveBackup(schema, backup, { status: 'available' });
    saveVolume(schema, volume, { status: 'available' });
  },
  delete_backup: (schema, { backup }) => void tableOf(schema, 'backups').delete(backup),
};

function saveBackup(schema: Schema, id: string, change: Row): void {
  Object.assign(tableOf(schema, 'backups').get(id) ?? {}, change);
}

function copier({ process, log }: ServiceContext, database: Database): RpcHandler {
  return async (method, parameters) => {
    const end = ends[method];
    if (end === undefined) throw new PythonError('NotImplementedError', `no model knows ${method}`);
    const copied = parameters as Copied;
    await pause(process, startTimes.cinderVolume);
    await database.transaction('UPDATE', (schema) => end(schema, copied));
    log.info('cinder.backup.manager', `${method} of ${copied.backup} finished.`);
  };
}

/** What a process that was ended left undone: nothing goes on but what was being deleted. */
async function resetUndone({ log }: ServiceContext, database: Database, host: string): Promise<void> {
  log.info('cinder.backup.manager', 'Cleaning up incomplete backup operations.');
  await database.transaction('UPDATE', (schema) => {
    for (const { id, status, volume_id: volume, restored } of rowsOf(schema, 'backups', { host })) {
      if (status === 'creating') {
        saveBackup(schema, String(id), { status: 'error', fail_reason: 'incomplete backup reset on manager restart' });
        saveVolume(schema, String(volume), {
          status: tableOf(schema, 'volumes').get(String(volume))?.['previous_status'],
        });
      } else if (status === 'restoring') {
        saveBackup(schema, String(id), { status: 'available' });
        saveVolume(schema, String(restored), { status: 'error_restoring' });
      } else if (status === 'deleting') tableOf(schema, 'backups').delete(String(id));
    }
  });
}
