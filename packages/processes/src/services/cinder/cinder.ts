import { cephClients } from '../../infrastructure/ceph.ts';
import { lvmCommands } from '../../infrastructure/lvm.ts';
import { tableOf } from '../../infrastructure/mysql-protocol.ts';
import { tgtCommands } from '../../infrastructure/tgt.ts';
import { revisions, says, upgrade, upgradeCheck } from '../../model/manage.ts';
import { model } from '../../model/model.ts';
import type { CommandContext } from '../../model/program.ts';
import { isUp } from '../../model/service-rows.ts';
import { Database } from '../../oslo/database.ts';
import { SystemExit } from '../../oslo/python-error.ts';
import { startTimes } from '../../start-times.ts';
import { serveCinder } from './cinder-api.ts';
import { cinderBackup } from './cinder-backups.ts';
import { cinderScheduler, cinderVolume } from './cinder-servers.ts';
import { cinderDatabase, seedTypes } from './cinder-store.ts';

const { start: takes, dbSync } = startTimes.cinderManage;

/** Cinder 26, with volumes, their types, and drivers that find what they are told to look for. */
export const cinder = model({
  project: 'cinder',
  images: {
    'cinder-api': { root: true },
    'cinder-scheduler': {},
    'cinder-volume': {
      system: { '/usr/bin': cephClients, '/usr/sbin': { ...lvmCommands, ...tgtCommands } },
      files: { '/etc/tgt/targets.conf': 'include /etc/tgt/conf.d/*.conf\n' },
    },
    'cinder-backup': { system: { '/usr/bin': cephClients } },
  },
  files: {
    '/etc/cinder/api-paste.ini': '[composite:osapi_volume]\nuse = call:cinder.api:root_app_factory\n',
    '/etc/cinder/rootwrap.conf': '[DEFAULT]\nfilters_path=/etc/cinder/rootwrap.d\n',
  },
  programs: {
    'cinder-manage': {
      takes,
      categories: 'backup cg cluster config db host quota service util version volume',
      commands: {
        'db sync': {
          flags: 'bump-versions',
          run: async (context) => {
            const database = new Database(context, cinderDatabase);
            await upgrade(context, database, cinderDatabase, { takes: dbSync });
            await database.transaction('INSERT', (schema) => seedTypes(context, schema));
            return 0;
          },
        },
        'db version': revisions(cinderDatabase),
        'db online_data_migrations': says('Running batches of 50 until complete.', { values: 'max_count' }),
        'db purge': { run: purge },
        'service list': {
          run: async (context) => {
            const rows = await new Database(context, cinderDatabase).transaction('SELECT', (schema) => [
              ...tableOf(schema, 'services').values(),
            ]);
            const lines = rows.map((row) =>
              [row['binary'], row['host'], 'nova', 'enabled', isUp(context, row) ? ':-)' : 'XXX'].join(' '),
            );
            context.process.stdout(`${['Binary Host Zone Status State', ...lines].join('\n')}\n`);
            return 0;
          },
        },
        'service remove': {
          run: async (context, [binary = '', host = '']) => {
            const isGone = await new Database(context, cinderDatabase).transaction('DELETE', (schema) =>
              tableOf(schema, 'services').delete(`${host}/${binary}`),
            );
            const words = isGone
              ? `Service ${binary} on host ${host} removed.`
              : `Host not found. Failed to remove ${binary} on ${host}.`;
            context.process.stdout(`${words}\n`);
            return isGone ? 0 : 2;
          },
        },
      },
    },
    'cinder-status': {
      takes,
      commands: { 'upgrade check': upgradeCheck({ 'Removed Drivers': () => Promise.resolve(undefined) }) },
    },
    'cinder-scheduler': cinderScheduler,
    'cinder-volume': cinderVolume,
    'cinder-backup': cinderBackup,
  },
  applications: { 'cinder.wsgi.api:application': { takes: startTimes.cinderApi, serves: serveCinder } },
});

/** Rows that no API call shows any more; none are kept here. Wrong ages are refused (cinder.cmd.manage). */
async function purge(context: CommandContext, [age]: readonly string[]): Promise<void> {
  if (age === undefined) throw new SystemExit(2, 'the following arguments are required: age_in_days');
  if (!/^-?\d+$/.test(age)) throw new SystemExit(2, `argument age_in_days: invalid int value: '${age}'`);
  if (Number(age) < 0) throw new SystemExit(1, 'Must supply a positive value for age');
  if (Number(age) * 86_400_000 >= context.process.clock.now())
    throw new SystemExit(1, 'Maximum age is count of days since epoch.');
  await new Database(context, cinderDatabase).transaction('DELETE', (schema) => schema.tables.size);
}
