import { uuid } from '@openstack-operator/kube';
import type { HttpMessage, HttpReply } from '@openstack-operator/sandbox';
import { json, locationOf, plain, selfUrl } from '../../http.ts';
import { type Row, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { type Api, apiHandler, type Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { Messaging } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { orderQueue } from './barbican-orders.ts';
import { barbicanDatabase, decrypt, encrypt, invalidToken, masterKeys, openDatabase } from './barbican-store.ts';

const paste = '/etc/barbican/barbican-api-paste.ini';

/** Loads the pipelines of its paste file (barbican.api.app): queue first, then the database. @throws PythonError */
export async function serveBarbican(context: ServiceContext): Promise<WsgiHandler> {
  if (!context.process.files.exists(paste))
    throw new PythonError('FileNotFoundError', `[Errno 2] No such file or directory: '${paste}'`);
  const { config } = context;
  const messaging = new Messaging(context);
  const database = await openDatabase(context);
  const hrefs = (request: HttpMessage): string =>
    (config.text('DEFAULT', 'host_href') || selfUrl(request)).replace(/\/$/, '');
  const handler = apiHandler(context, api(context, hrefs, orderQueue(context, database, messaging)));
  // Links follow the request: a table of fixed answers cannot say it.
  return async (request) => (locationOf(request).path === '/' ? versionsOf(hrefs(request)) : handler(request));
}

type Hrefs = (request: HttpMessage) => string;

/** The versions, for a client that asks for no microversion. */
function versionsOf(base: string): HttpReply {
  const links = [
    { rel: 'self', href: `${base}/v1/` },
    { rel: 'describedby', type: 'text/html', href: 'https://docs.openstack.org/' },
  ];
  const media = [{ base: 'application/json', type: 'application/vnd.openstack.key-manager-v1+json' }];
  return json(300, { versions: { values: [{ id: 'v1', status: 'stable', links, 'media-types': media }] } });
}

function api(context: ServiceContext, hrefs: Hrefs, order: (id: string) => Promise<void>): Api {
  const { config } = context;
  return {
    prefix: 'v1',
    open: { '/healthcheck': plain(200, 'OK') },
    policy: {
      roles: config.text('oslo_policy', 'enforce_new_defaults', 'false') === 'true' ? ['member'] : ['admin', 'creator'],
      rule: 'Secret(s) retrieval',
    },
    words: {
      body: ({ status, title, message }) => ({ code: status, title, description: message }),
      notFound: (item) => (item === 'order' ? 'Order not found.' : 'Secret not found.'),
      forbidden: (rule) => `${rule} attempt not allowed - please review your user/project privileges`,
    },
    database: barbicanDatabase,
    collections: [
      {
        path: 'secrets',
        shown: ({ id, project: _project, ...row }, { request }) => ({
          ...row,
          secret_ref: `${hrefs(request)}/v1/secrets/${String(id)}`,
        }),
        listed: ({ schema }) => ({ total: tableOf(schema, 'secrets').size }),
        deleted: ({ id }, { schema }) => tableOf(schema, 'encrypted_data').delete(String(id)),
      },
      {
        path: 'orders',
        shown: ({ id, project: _project, secret_id: secret, ...row }: Row & { secret_id?: string }, { request }) => ({
          ...row,
          order_ref: `${hrefs(request)}/v1/orders/${String(id)}`,
          ...(secret !== undefined && { secret_ref: `${hrefs(request)}/v1/secrets/${secret}` }),
        }),
        listed: ({ schema }) => ({ total: tableOf(schema, 'orders').size }),
      },
    ],
    routes: {
      secrets: (call) => secrets(context, hrefs, call),
      orders: (call) => orders(context, hrefs, call, order),
    },
  };
}

/** Makes a secret, or gives its payload; all else the collection does. @throws Fault */
async function secrets(context: ServiceContext, hrefs: Hrefs, call: Call): Promise<HttpReply | undefined> {
  const { request, id, part, body, store, identity } = call;
  const { config, process } = context;
  if (request.method === 'GET' && id !== undefined && part === 'payload')
    return guarded(context, 'Secret payload retrieval', async () => {
      const keys = masterKeys(config);
      const payload = await store((schema) => decrypt(schema, keys, id));
      if (payload === undefined) throw invalidToken;
      if (payload === null) throw new Fault(404, 'Not Found. Sorry but your secret has no payload.');
      return plain(200, payload);
    });
  if (request.method !== 'POST' || id !== undefined) return undefined;
  const { payload, payload_content_type: type, name = null, secret_type = 'opaque' } = body;
  if (payload !== undefined && typeof type !== 'string')
    throw new Fault(
      400,
      "Provided object does not match schema 'Secret': If 'payload' is supplied, 'payload_content_type' must also be supplied.. Invalid property: 'payload_content_type'",
    );
  return guarded(context, 'Secret creation', async () => {
    const keys = typeof payload === 'string' ? masterKeys(config) : undefined;
    const secret: Row = { id: uuid(process.random), name, secret_type, status: 'ACTIVE', project: identity.projectId };
    const isKept = await store((schema) => {
      if (keys !== undefined && !encrypt(schema, keys, secret, String(payload))) return false;
      tableOf(schema, 'secrets').set(String(secret['id']), secret);
      return true;
    });
    if (!isKept) throw invalidToken;
    return json(201, { secret_ref: `${hrefs(request)}/v1/secrets/${String(secret['id'])}` });
  });
}

/** Makes an order, which a worker processes. @throws Fault */
async function orders(
  context: ServiceContext,
  hrefs: Hrefs,
  { request, id, body, store, identity }: Call,
  queue: (id: string) => Promise<void>,
): Promise<HttpReply | undefined> {
  if (request.method !== 'POST' || id !== undefined) return undefined;
  const { type, meta } = body;
  if (type !== 'key') throw new Fault(400, `this simulated Barbican does not know orders of type ${String(type)}`);
  return guarded(context, 'Order creation', async () => {
    const order = uuid(context.process.random);
    const row = { id: order, type, meta, status: 'PENDING', project: identity.projectId };
    await store((schema) => tableOf(schema, 'orders').set(order, row));
    await queue(order);
    return json(202, { order_ref: `${hrefs(request)}/v1/orders/${order}` });
  });
}

/** Clients are not told what went wrong (barbican.api.generate_safe_exception_message). */
async function guarded({ log }: ServiceContext, operation: string, run: () => Promise<HttpReply>): Promise<HttpReply> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof PythonError)) throw error;
    const message = `${operation} failure seen - please contact site administrator.`;
    log.exception('barbican.api.controllers', message, error);
    throw new Fault(500, message);
  }
}
