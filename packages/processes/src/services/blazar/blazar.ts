import type { HttpReply } from '@openstack-operator/sandbox';
import { json } from '../../http.ts';
import type { Row } from '../../infrastructure/mysql-protocol.ts';
import { apiHandler, type Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { migrated, revisions, sync, upgradeCheck } from '../../model/manage.ts';
import { model } from '../../model/model.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { Messaging } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { startTimes } from '../../start-times.ts';
import { blazarDatabase, blazarManager } from './blazar-manager.ts';

const { start: takes, dbSync } = startTimes.blazarManage;

/** Blazar 15: hosts, and leases of them. */
export const blazar = model({
  project: 'blazar',
  images: { 'blazar-api': { root: true }, 'blazar-manager': {} },
  programs: {
    'blazar-db-manage': {
      takes,
      files: ['blazar'],
      commands: { 'upgrade head': sync(blazarDatabase, dbSync), current: revisions(blazarDatabase) },
    },
    'blazar-status': {
      takes,
      files: ['blazar'],
      commands: { 'upgrade check': upgradeCheck({ Migrations: migrated(blazarDatabase) }) },
    },
    'blazar-manager': blazarManager,
  },
  applications: {
    'blazar.api.wsgi_app:init_app()': { files: ['blazar.conf'], takes: startTimes.blazarApi, serves: serveApi },
  },
});

/** It has no database: the manager answers, or nobody does. Nothing of it is open to those without a token. */
function serveApi(context: ServiceContext): WsgiHandler {
  const messaging = new Messaging(context);
  const topic = context.config.text('manager', 'rpc_topic');
  const ask = (method: string, parameters: Row) =>
    messaging.call(topic, method, parameters).catch((error: unknown) => {
      if (!(error instanceof PythonError) || !error.type.includes('blazar.manager')) throw error;
      throw new Fault(error.type.includes('NotFound') ? 404 : 409, error.message);
    }) as Promise<Row>;
  const routeOf =
    (table: string, item: string, key: string, admins: boolean) =>
    async (call: Call): Promise<HttpReply> => {
      const { request, identity, id, body } = call;
      if (admins && !identity.roles.includes('admin'))
        throw new Fault(403, `Policy doesn't allow blazar:${key}:${request.method.toLowerCase()} to be performed.`);
      if (request.method === 'POST')
        return json(201, { [item]: await ask(`create_${item === 'host' ? 'computehost' : item}`, body) });
      if (request.method === 'DELETE') {
        await ask(`delete_${item}`, { id });
        return { status: 204 };
      }
      const rows = (await ask('list', { table })) as unknown as Row[];
      if (id === undefined) return json(200, { [key]: rows });
      const row = rows.find((one) => one['id'] === id);
      if (row === undefined) throw new Fault(404, `Object with {'${item}_id': '${id}'} not found`);
      return json(200, { [item]: row });
    };
  return apiHandler(context, {
    prefix: 'v1',
    open: {},
    words: { body: ({ status, message, type }) => ({ error_code: status, error_message: message, error_name: type }) },
    routes: {
      leases: routeOf('leases', 'lease', 'leases', false),
      'os-hosts': routeOf('computehosts', 'host', 'hosts', true),
    },
  });
}
