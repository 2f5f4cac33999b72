import type { HttpMessage } from '@openstack-operator/sandbox';
import { json, plain } from '../../http.ts';
import { rowsOf } from '../../infrastructure/mysql-protocol.ts';
import { apiHandler, type Call, versions } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { upgrade, upgradeCheck } from '../../model/manage.ts';
import { model } from '../../model/model.ts';
import type { ServiceProgram } from '../../model/program.ts';
import { Database } from '../../oslo/database.ts';
import { Messaging } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause, terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { joined, listener, vitrageDatabase, vitrageGraph } from './vitrage-graph.ts';

const { start: takes, dbSync } = startTimes.vitrageCommands;
const files = ['vitrage'];
const paste = '/etc/vitrage/api-paste.ini';

/** Vitrage 14: hosts, servers, networks and volumes in one graph, and templates; what templates do no model knows. */
export const vitrage = model({
  project: 'vitrage',
  images: Object.fromEntries(['api', 'graph', 'notifier', 'persistor', 'ml'].map((name) => [`vitrage-${name}`, {}])),
  files: { [paste]: '[composite:vitrage+keystone]\n/v1 = vitrage_event_pipline\n' },
  programs: {
    'vitrage-dbsync': {
      takes,
      files,
      run: async (context) => {
        await upgrade(context, new Database(context, vitrageDatabase), vitrageDatabase, { takes: dbSync });
        return 0;
      },
    },
    'vitrage-status': { takes, files, commands: { 'upgrade check': upgradeCheck({}) } },
    'vitrage-graph': vitrageGraph,
    'vitrage-notifier': listener((config) => config.text('entity_graph', 'notifier_topic')),
    'vitrage-persistor': listener((config) => config.text('persistency', 'persistor_topic')),
    'vitrage-ml': listener((config) => config.text('machine_learning', 'machine_learning_topic')),
    'vitrage-api': api(),
  },
});

/** `vitrage-api`: becomes a uwsgi, which listens at once and answers when it has loaded (vitrage.api.app). */
function api(): ServiceProgram {
  return {
    takes,
    files,
    run: async (context) => {
      const { process, config } = context;
      const loaded = pause(process, startTimes.vitrageApi).then(() => serveApi(context));
      process.network.listen(
        config.integer('api', 'port'),
        'http',
        () => ({ receive: async (message: unknown) => (await loaded)(message as HttpMessage) }),
        { host: config.text('api', 'host') },
      );
      await loaded;
      await terminated(process);
      return 0;
    },
  };
}

async function serveApi(context: ServiceContext) {
  const { process, config } = context;
  const stated = config.text('api', 'paste_config');
  const path = stated.startsWith('/') ? stated : `/etc/vitrage/${stated}`;
  if (!process.files.exists(path))
    throw new PythonError('oslo_config.cfg.ConfigFilesNotFoundError', `Failed to find some config files: ${stated}`);
  const messaging = new Messaging(context);
  await new Database(context, vitrageDatabase).transaction('SELECT', () => undefined);
  const coordinates = await joined(context);
  const topic = config.text('DEFAULT', 'rpc_topic');
  /** Nothing is answered while the graph is not there (vitrage.api.controllers.rest). */
  const asked = async (method: string, parameters: unknown): Promise<unknown> => {
    try {
      await messaging.call(topic, 'is_alive', {}, 5000);
    } catch (error) {
      if (error instanceof PythonError && error.type.endsWith('MessagingTimeout'))
        throw new Fault(503, 'vitrage-graph not available');
      throw error;
    }
    return messaging.call(topic, method, parameters);
  };
  return apiHandler(context, {
    prefix: 'v1',
    open: { '/': versions(200, 'v1.0'), '/healthcheck': plain(200, 'OK') },
    unauthenticated: (config) => config.text('api', 'auth_mode') !== 'keystone',
    words: { body: ({ status, title, message }) => ({ error: { code: status, title, message } }) },
    database: vitrageDatabase,
    routes: {
      status: async () => {
        await asked('is_alive', {});
        return json(200, { reason: 'OK' });
      },
      topology: async ({ body, identity }) => {
        if (body['all_tenants'] === true && !identity.roles.includes('admin'))
          throw new Fault(403, 'get topology:all_tenants is disallowed by policy');
        return json(200, await asked('get_topology', {}));
      },
      service: async () => {
        if (!coordinates) throw new Fault(500, 'Service API not supported');
        await asked('is_alive', {});
        return json(200, [{ name: 'EvaluatorWorker_worker_0' }, { name: 'ApiWorker_worker_0' }]);
      },
      template: async (call) => template(call, asked),
    },
  });
}

/** Lists are read in the database; what changes goes by the graph. */
async function template(
  { request, body, store }: Call,
  asked: (method: string, parameters: unknown) => Promise<unknown>,
) {
  if (request.method === 'GET') {
    await asked('is_alive', {});
    return store((schema) => json(200, rowsOf(schema, 'templates')));
  }
  const methods: Readonly<Record<string, string>> = { PUT: 'add_template', POST: 'validate_template' };
  const method = methods[request.method ?? ''];
  if (method === undefined) throw new Fault(405, 'no model knows how templates are removed');
  return json(200, await asked(method, body));
}
