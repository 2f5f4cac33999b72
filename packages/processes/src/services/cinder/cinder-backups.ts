import { uuid } from '@openstack-operator/kube';
import type { HttpReply } from '@openstack-operator/sandbox';
import { json } from '../../http.ts';
import { type Row, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import type { ServiceProgram } from '../../model/program.ts';
import { hostOf } from '../../model/service-rows.ts';
import { Database } from '../../oslo/database.ts';
import { Messaging, type RpcHandler } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { runService } from './cinder-service.ts';
import { cinderDatabase, saveVolume } from './cinder-store.ts';

/** Of what backup, and of what volume, a message is. */
interface Copied {
  readonly backup: string;
  readonly volume: string;
}

/** Copies of volumes of the caller's project; an administrator may list those of all. @throws Fault */
export async function backupsRoute(context: ServiceContext, messaging: Messaging, call: Call): Promise<HttpReply> {
  const { request, id, part, store, identity, query, body } = call;
  if (part !== undefined) throw new Fault(404, 'The resource could not be found.');
  if (request.method === 'POST') {
    const { volume_id: volume, name = null } = (body['backup'] ?? {}) as Row & { volume_id?: string };
    const backup = { id: uuid(context.process.random), name, volume_id: volume, project_id: identity.projectId };
    await store((schema) => {
      const copied = tableOf(schema, 'volumes').get(String(volume));
      if (copied === undefined) throw new Fault(404, `Volume ${String(volume)} could not be found.`);
      const status = String(copied['status']);
      if (!['available', 'in-use'].includes(status))
        throw new Fault(
          400,
          `Invalid volume: Volume to be backed up must be available or in-use, but the current status is "${status}".`,
        );
      saveVolume(schema, String(volume), { status: 'backing-up', previous_status: status });
      tableOf(schema, 'backups').set(backup.id, { ...backup, status: 'creating', fail_reason: null });
    });
    messaging.cast('cinder-scheduler', 'create_backup', { backup: backup.id, volume: String(volume) });
    return json(202, { backup: { id: backup.id, name, links: [] } });
  }
  const isAll = identity.roles.includes('admin') && query.get('all_tenants') === '1';
  const backups = await store((schema) =>
    rowsOf(schema, 'backups', isAll ? undefined : { project_id: identity.projectId }),
  );
  if (id === undefined || id === 'detail') return json(200, { backups });
  const backup = backups.find((row) => row['id'] === id);
  if (backup === undefined) throw new Fault(404, `Backup ${id} could not be found.`);
  if (request.method === 'GET') return json(200, { backup });
  if (request.method !== 'DELETE') throw new Fault(405, 'The method is not allowed for the requested URL.');
  const host = backup['host'];
  if (typeof host !== 'string') await store((schema) => tableOf(schema, 'backups').delete(id));
  else messaging.cast(`cinder-backup.${host}`, 'delete_backup', { backup: id });
  return { status: 202 };
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
      initHost: () =>
        Promise.resolve(() => ({ driver_name: driver, backend_state: process.clock.now() - begun >= interval })),
    });
    return 0;
  },
};

function copier({ process, log }: ServiceContext, database: Database): RpcHandler {
  return async (method, parameters) => {
    const { backup, volume } = parameters as Copied;
    if (method !== 'create_backup' && method !== 'delete_backup')
      throw new PythonError('NotImplementedError', `no model knows ${method}`);
    await pause(process, startTimes.cinderVolume);
    await database.transaction('UPDATE', (schema) => {
      const backups = tableOf(schema, 'backups');
      if (method === 'delete_backup') {
        backups.delete(backup);
        return;
      }
      Object.assign(backups.get(backup) ?? {}, { status: 'available' });
      saveVolume(schema, volume, { status: tableOf(schema, 'volumes').get(volume)?.['previous_status'] });
    });
    log.info('cinder.backup.manager', `${method} of ${backup} finished.`);
  };
}
