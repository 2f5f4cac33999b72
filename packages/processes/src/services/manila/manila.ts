import { tableOf } from '../../infrastructure/mysql-protocol.ts';
import { revisions, sync, upgradeCheck } from '../../model/manage.ts';
import { model } from '../../model/model.ts';
import { isUp } from '../../model/service-rows.ts';
import { Database } from '../../oslo/database.ts';
import { startTimes } from '../../start-times.ts';
import { serveManila } from './manila-api.ts';
import { manilaScheduler } from './manila-scheduler.ts';
import { manilaData, manilaShare } from './manila-servers.ts';
import { manilaDatabase } from './manila-store.ts';

const { start: takes, dbSync } = startTimes.manilaManage;

/** Manila 20, with shares, their types, and drivers that find what they are told to look for. */
export const manila = model({
  project: 'manila',
  images: { 'manila-api': { root: true }, 'manila-scheduler': {}, 'manila-share': {}, 'manila-data': {} },
  files: {
    '/etc/manila/api-paste.ini': '[composite:osapi_share]\nuse = call:manila.api:root_app_factory\n',
    '/etc/manila/rootwrap.conf': '[DEFAULT]\nfilters_path=/etc/manila/rootwrap.d\n',
  },
  programs: {
    'manila-manage': {
      takes,
      categories: 'config db host logs service share share_server shell version',
      commands: {
        'db sync': sync(manilaDatabase, dbSync),
        'db version': revisions(manilaDatabase),
        'service cleanup': {
          run: async (context) => {
            const gone = await new Database(context, manilaDatabase).transaction('DELETE', (schema) => {
              const services = tableOf(schema, 'services');
              const down = [...services].filter(([, row]) => !isUp(context, row));
              for (const [id] of down) services.delete(id);
              return down.map(([, row]) => `Cleaned up service ${String(row['host'])}\n`);
            });
            context.process.stdout(gone.join(''));
          },
        },
      },
    },
    'manila-status': {
      takes,
      commands: {
        'upgrade check': upgradeCheck({ 'Policy File JSON to YAML Migration': () => Promise.resolve(undefined) }),
      },
    },
    'manila-scheduler': manilaScheduler,
    'manila-share': manilaShare,
    'manila-data': manilaData,
  },
  applications: {
    'manila.wsgi.wsgi:initialize_application()': { takes: startTimes.manilaApi, serves: serveManila },
  },
});
