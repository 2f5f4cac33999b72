import { json } from '../../http.ts';
import { rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { apiHandler, versions } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { migrated, revisions, sync, upgradeCheck } from '../../model/manage.ts';
import { model } from '../../model/model.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { Messaging } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { startTimes } from '../../start-times.ts';
import { conductorTopic, cyborgAgent, cyborgConductor, cyborgDatabase } from './cyborg-servers.ts';

const { start: takes, dbSync } = startTimes.cyborgManage;

/** Cyborg 14: device profiles, and devices that agents report. */
export const cyborg = model({
  project: 'cyborg',
  images: { 'cyborg-api': { root: true }, 'cyborg-conductor': {}, 'cyborg-agent': {} },
  files: { '/etc/cyborg/api-paste.ini': '[pipeline:main]\npipeline = cors request_id osprofiler authtoken api_v2\n' },
  programs: {
    'cyborg-dbsync': {
      takes,
      commands: { upgrade: sync(cyborgDatabase, dbSync), version: revisions(cyborgDatabase) },
    },
    'cyborg-status': { takes, commands: { 'upgrade check': upgradeCheck({ Migrations: migrated(cyborgDatabase) }) } },
    'cyborg-conductor': cyborgConductor,
    'cyborg-agent': cyborgAgent,
  },
  applications: {
    'cyborg.api.wsgi_app:init_application()': { takes: startTimes.cyborgApi, serves: serveApi },
  },
});

/** It reads the database itself, and lets the conductor write. @throws PythonError */
function serveApi(context: ServiceContext): WsgiHandler {
  const paste = context.config.text('api', 'api_paste_config');
  if (!context.process.files.exists(paste))
    throw new PythonError('oslo_config.cfg.ConfigFilesNotFoundError', `Failed to find some config files: ${paste}`);
  const messaging = new Messaging(context);
  return apiHandler(context, {
    prefix: 'v2',
    open: { '/': versions(200, 'v2.0') },
    policy: { roles: ['admin', 'administrator'], rule: 'cyborg:device_profile:create' },

    database: cyborgDatabase,
    routes: {
      devices: ({ store }) => store((schema) => json(200, { devices: rowsOf(schema, 'devices') })),
      device_profiles: async ({ request, id, body, store }) => {
        if (request.method === 'POST') {
          const [profile, ...more] = Object.values(body) as { name?: string }[];
          if (profile === undefined || more.length > 0)
            throw new Fault(400, 'Only one device profile allowed per POST request for now.');
          if (profile.name === undefined) throw new Fault(400, 'Device profile name needed.');
          return json(201, await messaging.call(conductorTopic, 'device_profile_create', profile));
        }
        return store((schema) => {
          if (id === undefined) return json(200, { device_profiles: rowsOf(schema, 'device_profiles') });
          const found = tableOf(schema, 'device_profiles').get(id);
          if (found === undefined) throw new Fault(404, `Device profile with uuid=${id} not found.`);
          return json(200, { device_profile: found });
        });
      },
    },
  });
}
