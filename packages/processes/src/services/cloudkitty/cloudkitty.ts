import { json, plain } from '../../http.ts';
import { type Row, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { apiHandler, type Call, versions } from '../../model/api.ts';
import type { Collection } from '../../model/collection.ts';
import { Fault } from '../../model/fault.ts';
import { upgrade, upgradeCheck } from '../../model/manage.ts';
import { model } from '../../model/model.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { database } from '../../model/wsgi.ts';
import { Database } from '../../oslo/database.ts';
import { Messaging } from '../../oslo/messaging.ts';
import type { ProjectDatabase } from '../../oslo/project-database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { startTimes } from '../../start-times.ts';
import { cloudkittyProcessor, ratings, storage, storageOf, topic } from './cloudkitty-processor.ts';

const { start: takes, dbSync, storageInit } = startTimes.cloudkittyCommands;

/** Modules and their rules; the storage has migrations of its own. */
const modules: ProjectDatabase = {
  heads: ['385e33fef139', '4e0232ce', '75c205f6f1a2'],
  tables: 'modules_state pyscripts_scripts hashmap_services hashmap_fields hashmap_mappings hashmap_thresholds',
};

/** CloudKitty 22 with rates by hashmap's flat mappings of services, and the first version of its storage. */
export const cloudkitty = model({
  project: 'cloudkitty',
  images: { 'cloudkitty-api': { root: true }, 'cloudkitty-processor': {} },
  programs: {
    'cloudkitty-dbsync': {
      takes,
      files: ['cloudkitty'],
      commands: {
        upgrade: {
          values: 'revision module',
          run: (context) => upgrade(context, new Database(context, modules), modules, { takes: dbSync }),
        },
      },
    },
    'cloudkitty-storage-init': {
      takes,
      files: ['cloudkitty'],
      run: async (context) => {
        await upgrade(context, storageOf(context), storage, { takes: storageInit });
        return 0;
      },
    },
    'cloudkitty-status': {
      takes,
      files: ['cloudkitty'],
      commands: { 'upgrade check': upgradeCheck({ 'Storage version': () => Promise.resolve(undefined) }) },
    },
    'cloudkitty-processor': cloudkittyProcessor,
  },
  applications: {
    'cloudkitty.api.app:build_wsgi_app()': {
      takes: startTimes.cloudkittyApi,
      // Each rating module looks for its rules as it is loaded.
      connects: [loaded, database(modules, 'modules_state hashmap_services')],
      serves: serveApi,
    },
  },
});

/** The file of its pipeline (cloudkitty.api.app.load_app). @throws PythonError */
function loaded({ process, config, log }: ServiceContext): void {
  const stated = config.text('DEFAULT', 'api_paste_config');
  const file = stated.startsWith('/') ? stated : `/etc/cloudkitty/${stated}`;
  if (!process.files.exists(file))
    throw new PythonError('oslo_config.cfg.ConfigFilesNotFoundError', `Failed to find some config files: ${stated}`);
  const name = `cloudkitty+${config.text('DEFAULT', 'auth_strategy')}`;
  if (!process.files.read(file).includes(`pipeline:${name}`))
    throw new PythonError('LookupError', `No section '${name}' found in config ${file}`);
  if (config.integer('storage', 'version') < 2)
    log.warning('cloudkitty.api.app', 'v1 storage is used, disabling v2 API');
}

const mappings = 'rating/module_config/hashmap';

const collections: readonly Collection[] = [
  { path: `${mappings}/services`, id: 'service_id', table: 'hashmap_services', required: ['name'], unique: [['name']] },
  { path: `${mappings}/mappings`, id: 'mapping_id', table: 'hashmap_mappings', required: ['cost', 'type'] },
];

function serveApi(context: ServiceContext): WsgiHandler {
  const messaging = new Messaging(context);
  return apiHandler(context, {
    prefix: 'v1',
    open: {
      '/': versions(200, 'v1'),
      '/v1': plain(200, 'v1'),
      '/v2': plain(404, ''),
      '/healthcheck': plain(200, 'OK'),
    },
    unauthenticated: (config) => config.text('DEFAULT', 'auth_strategy') !== 'keystone',
    words: { body: ({ message }) => ({ faultcode: 'Client', faultstring: message, debuginfo: null }) },
    database: modules,
    collections,
    routes: {
      rating: async (call) => {
        if (call.id === 'modules') return module(call);
        if (call.id !== 'quote') return administered(call);
        const { resources = [] } = call.body as { resources?: Row[] };
        return json(200, await messaging.call(topic, 'quote', { resources }));
      },
      report: async ({ id, identity }) => {
        if (id !== 'summary') throw new Fault(404, 'Not Found');
        const rated = await storageOf(context).transaction('SELECT', (schema) =>
          rowsOf(schema, 'rated_data_frames', { tenant_id: identity.projectId }),
        );
        const rate = rated.reduce((sum, row) => sum + Number(row['rate']), 0);
        return json(200, { summary: [{ tenant_id: identity.projectId, res_type: 'ALL', rate: String(rate) }] });
      },
    },
  });
}

/** Rules belong to administrators (cloudkitty.common.policies.v1.rating). @throws Fault */
function administered({ identity }: Call): undefined {
  if (!identity.roles.includes('admin'))
    throw new Fault(403, "Policy doesn't allow rating:module_config to be performed.");
}

/** Modules, and whether they are enabled. */
function module(call: Call) {
  administered(call);
  const { request, part, body, store } = call;
  return store((schema) => {
    const states = tableOf(schema, 'modules_state');
    const shown = (module_id: string) => ({ module_id, enabled: false, priority: 1, ...states.get(module_id) });
    if (part === undefined) return json(200, { modules: ratings.map(shown) });
    if (!ratings.includes(part)) throw new Fault(404, 'Module not found.');
    if (request.method !== 'PUT') return json(200, shown(part));
    states.set(part, { ...shown(part), enabled: body['enabled'] });
    return { status: 302, headers: { location: request.path } };
  });
}
