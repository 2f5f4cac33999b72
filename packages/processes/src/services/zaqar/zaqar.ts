import { uuid } from '@openstack-operator/kube';
import type { HttpReply } from '@openstack-operator/sandbox';
import { headerOf, json } from '../../http.ts';
import { rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { askRedis } from '../../infrastructure/valkey.ts';
import { apiHandler, type Call, versions } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { upgrade } from '../../model/manage.ts';
import { model } from '../../model/model.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { Database } from '../../oslo/database.ts';
import type { ProjectDatabase } from '../../oslo/project-database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';

const { start: takes, dbSync } = startTimes.zaqarManage;
const store: ProjectDatabase = { heads: ['007'], tables: 'Queues Pools Flavors Catalogue' };

/** The database, whose URL stands in a section and an option of its own. */
function databaseOf(context: ServiceContext): Database {
  return new Database(context, store, context.config.text('drivers:management_store:sqlalchemy', 'uri'));
}

/** Zaqar 20: queues with their messages, and claims on them. */
export const zaqar = model({
  project: 'zaqar',
  images: { 'zaqar-wsgi': {} },
  programs: {
    'zaqar-sql-db-manage': {
      takes,
      files: ['zaqar'],
      commands: {
        'upgrade head': { run: (context) => upgrade(context, databaseOf(context), store, { takes: dbSync }) },
      },
    },
    'zaqar-gc': {
      takes: startTimes.zaqarServer,
      files: ['zaqar'],
      run: async (context) => {
        await stores(context);
        return 0;
      },
    },
    'zaqar-server': {
      takes: startTimes.zaqarServer,
      files: ['zaqar'],
      run: async (context) => {
        const { config, process } = context;
        await stores(context);
        if (config.text('drivers', 'transport') !== 'websocket')
          throw new PythonError('NotImplementedError', 'no model knows zaqar-server without websockets');
        const section = 'drivers:transport:websocket';
        const host = config.text(section, 'bind');
        process.network.listen(config.integer(section, 'port'), 'raw', () => ({ receive: () => Promise.resolve('') }), {
          host,
        });
        await terminated(process);
        return 0;
      },
    },
  },
  applications: {
    'zaqar.transport.wsgi.app:application': { takes: startTimes.zaqarServer, files: ['zaqar.conf'], serves },
  },
});

/** Both stores are asked before anything is served (zaqar.bootstrap, zaqar.storage.redis.driver). @throws PythonError */
async function stores(context: ServiceContext): Promise<string> {
  const { config } = context;
  const kinds = `${config.text('drivers', 'message_store')} ${config.text('drivers', 'management_store')}`;
  if (kinds !== 'redis sqlalchemy') throw new PythonError('NotImplementedError', `no model knows the stores ${kinds}`);
  if (!config.boolean('DEFAULT', 'unreliable'))
    throw new PythonError('zaqar.storage.errors.ConfigurationError', 'Cannot load selected storage driver');
  const uri = config.text('drivers:message_store:redis', 'uri');
  await asked(context, uri);
  return uri;
}

/** What Redis answers, or the client's exception. @throws PythonError */
async function asked({ process }: ServiceContext, uri: string, request: { key?: string; value?: string } = {}) {
  try {
    return await askRedis(process, uri, request);
  } catch (error) {
    throw new PythonError('redis.exceptions.ConnectionError', error instanceof Error ? error.message : String(error));
  }
}

interface Message {
  readonly id: string;
  readonly body: unknown;
  readonly ttl: number;
  readonly claim?: string;
}

async function serves(context: ServiceContext): Promise<WsgiHandler> {
  const uri = await stores(context);
  if (context.config.text('DEFAULT', 'auth_strategy') !== 'keystone')
    throw new PythonError('NotImplementedError', 'no model knows Zaqar without Keystone');
  const database = databaseOf(context);
  const { random } = context.process;
  const messagesOf = async (key: string) => JSON.parse((await asked(context, uri, { key })) ?? '[]') as Message[];
  const save = (key: string, rows: readonly Message[]) => asked(context, uri, { key, value: JSON.stringify(rows) });
  const queues = async ({ request, identity, id: name, part, body }: Call): Promise<HttpReply | undefined> => {
    if (headerOf(request, 'client-id') === undefined)
      throw new Fault(400, 'The header X-PROJECT-ID or Client-ID is missing.');
    const project = identity.projectId ?? '';
    const key = `${project}.${name}`;
    if (name === undefined)
      return json(200, {
        queues: await database.transaction('SELECT', (schema) => rowsOf(schema, 'Queues', { project })),
      });
    if (part === undefined && request.method === 'PUT') {
      await database.transaction('INSERT', (schema) => tableOf(schema, 'Queues').set(key, { name, project }));
      return { status: 201 };
    }
    const rows = await messagesOf(key);
    if (part === 'messages' && request.method === 'GET') return json(200, { messages: rows });
    if (part === 'messages') {
      const given = body['messages'] as readonly { body: unknown; ttl?: number }[];
      const made = given.map(({ body, ttl = 3600 }) => ({ id: uuid(random), body, ttl }));
      await save(key, [...rows, ...made]);
      return json(201, { resources: made.map(({ id }) => `/v2/queues/${name}/messages/${id}`) });
    }
    if (part !== 'claims') return undefined;
    const claim = uuid(random);
    const free = rows.filter((row) => row.claim === undefined);
    if (free.length === 0) return { status: 204 };
    await save(
      key,
      rows.map((row) => (row.claim === undefined ? { ...row, claim } : row)),
    );
    return json(201, { messages: free });
  };
  return apiHandler(context, {
    prefix: 'v2',
    open: { '/': versions(300, '2') },
    words: { body: ({ title, message }) => ({ title, description: message }) },
    database: store,
    routes: { queues },
  });
}
