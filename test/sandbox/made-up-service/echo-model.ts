import { versions } from '../../../packages/processes/src/model/api.ts';
import { migrated, revisions, sync, upgradeCheck } from '../../../packages/processes/src/model/manage.ts';
import { model } from '../../../packages/processes/src/model/model.ts';
import { broker, database } from '../../../packages/processes/src/model/wsgi.ts';
import type { ProjectDatabase } from '../../../packages/processes/src/oslo/project-database.ts';

const store: ProjectDatabase = { heads: ['3a5b'], tables: 'sounds halls' };

/** The programs of a service that no version has. Its options are those of Barbican, which is a plain API as well. */
export const echoModel = model({
  project: 'echo',
  options: 'barbican',
  user: 'placement',
  images: { 'echo-api': {} },
  programs: {
    'echo-manage': { takes: 900, commands: { 'db sync': sync(store, 700), 'db version': revisions(store) } },
    'echo-status': { takes: 900, commands: { 'upgrade check': upgradeCheck({ Migrations: migrated(store) }) } },
  },
  applications: {
    'echo.wsgi.api:application': {
      files: ['echo.conf'],
      takes: 1800,
      connects: [database(store, 'sounds halls'), broker],
      serves: {
        prefix: 'v1',
        open: { '/': versions(300, 'v1') },
        policy: { roles: ['admin', 'member'], rule: 'echo:sounds:get' },
        database: store,
        collections: [
          { path: 'halls', item: 'hall', unique: [['name']], required: ['name'], defaults: { size: 1 } },
          { path: 'sounds', item: 'sound', required: ['name'], parts: { volume: 11 } },
        ],
      },
    },
  },
});
