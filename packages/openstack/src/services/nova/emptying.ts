import type { Emptying } from '../../engine/vocabulary/emptying.ts';
import { migratesCold } from './cold-migration.ts';
import type { Nova } from './kind.ts';
import { migratesLive } from './live-migration.ts';

/**
 * How servers leave a node that is in maintenance. With this microversion the API answers only when the scheduler has found a
 * host and both hosts have looked whether it goes, and says why not; from 2.34 on it answers at once, and says nothing of that.
 */
export function emptying(spec: Pick<Nova['spec'], 'liveMigration' | 'coldMigration'>): Emptying {
  return {
    scheduling: {
      path: '/os-services',
      disable: 'disable-log-reason',
      headers: { 'openstack-api-version': 'compute 2.33' },
      // From here on hosts of a cell that does not answer are listed, as UNKNOWN, and not left out.
      listHeaders: { 'openstack-api-version': 'compute 2.69' },
    },
    // nova.virt.libvirt.driver, while libvirt does not answer.
    disabledByItself: 'AUTO: ',
    arriving: {
      list: '/os-migrations?host={host}',
      items: 'migrations',
      guest: 'instance_uuid',
      to: 'dest_compute',
      underWay: ['accepted', 'queued', 'preparing', 'running', 'pre-migrating', 'migrating', 'post-migrating'],
    },
    binary: 'nova-compute',
    of: 'servers',
    list: '/servers/detail?all_tenants=1&host={host}&limit=1000',
    task: 'OS-EXT-STS:task_state',
    movable: ['ACTIVE', 'PAUSED'],
    move: { path: '/servers/{id}/action', body: { 'os-migrateLive': { host: null, block_migration: 'auto' } } },
    ...(migratesLive(spec) ? {} : { stays: 'spec.liveMigration.enabled is not set' }),
    // Servers that run are not stopped for it. A resize is also such a move, whose user says whether it stays.
    ...(migratesCold(spec)
      ? {
          confirmed: {
            movable: ['SHUTOFF'],
            body: { migrate: null },
            from: 'source_compute',
            columns: { migration_type: 'migration' },
            underWay: ['pre-migrating', 'migrating', 'post-migrating', 'confirming'],
            waits: 'finished',
            confirm: { confirmResize: null },
            usersColumns: { migration_type: 'resize' },
            // finish_resize, where the server is at its new host already.
            failed: {
              state: 'error',
              path: '/servers/{id}',
              item: 'server',
              status: 'ERROR',
              host: 'OS-EXT-SRV-ATTR:host',
            },
          },
        }
      : {}),
  };
}
