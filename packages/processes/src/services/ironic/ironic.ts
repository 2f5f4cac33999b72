import { uuid } from '@openstack-operator/kube';
import type { HttpReply } from '@openstack-operator/sandbox';
import { json, plain } from '../../http.ts';
import { rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { apiHandler, type Call } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { migrated, revisions, says, sync, upgradeCheck } from '../../model/manage.ts';
import { model } from '../../model/model.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { Messaging } from '../../oslo/messaging.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { startTimes } from '../../start-times.ts';
import { ironicConductor, ironicDatabase, topicOf } from './ironic-conductor.ts';

const { start: takes, dbSync } = startTimes.ironicManage;

/** Ironic 29: machines, and what conductors do to them; of hardware only the one that is made up answers. */
export const ironic = model({
  project: 'ironic',
  images: { 'ironic-api': { root: true }, 'ironic-conductor': {} },
  programs: {
    'ironic-dbsync': {
      takes,
      files: ['ironic'],
      commands: {
        upgrade: sync(ironicDatabase, dbSync),
        version: revisions(ironicDatabase),
        online_data_migrations: says('Data migrations have completed.', { values: 'max-count' }),
      },
    },
    'ironic-status': {
      takes,
      files: ['ironic'],
      commands: { 'upgrade check': upgradeCheck({ 'DB Version': migrated(ironicDatabase) }) },
    },
    'ironic-conductor': ironicConductor,
  },
  applications: { 'ironic.wsgi:application': { takes: startTimes.ironicApi, serves: serveApi } },
});

/** A machine belongs to the conductor that has its type of hardware. @throws PythonError */
function serveApi(context: ServiceContext): WsgiHandler {
  const { config } = context;
  const messaging = new Messaging(context);
  const version = { id: 'v1', status: 'CURRENT', min_version: '1.1', version: '1.96' };
  const root = json(200, { name: 'OpenStack Ironic API', default_version: version, versions: [version] });
  return apiHandler(context, {
    prefix: 'v1',
    open: {
      '/': root,
      '/v1': json(200, version),
      ...(config.boolean('healthcheck', 'enabled') && { '/healthcheck': plain(200, 'OK') }),
    },
    policies: { nodes: { roles: ['admin', 'service'], rule: 'baremetal:node:create' } },
    database: ironicDatabase,
    routes: {
      // Who logged in to a project is told so by a fault of the server.
      drivers: () => json(500, { error_message: "baremetal:driver:get requires a scope of ['system']" }),
      conductors: () => json(403, { error_message: 'Access was denied to the following resource: Conductor' }),
      nodes: (call) => nodes(context, messaging, call),
    },
  });
}

/** @throws Fault, PythonError */
async function nodes({ process }: ServiceContext, messaging: Messaging, call: Call): Promise<HttpReply> {
  const { request, id, part, body, store } = call;
  const told = async (driver: unknown): Promise<string> => {
    const hosts = await store((schema) => rowsOf(schema, 'conductors', { online: true }));
    const found = hosts.find(({ drivers }) => (drivers as string[]).includes(String(driver)));
    if (found === undefined)
      throw new Fault(
        400,
        `No valid host was found. Reason: No conductor service registered which supports driver ${String(driver)} for conductor group "".`,
      );
    return topicOf(String(found['hostname']));
  };
  if (id === undefined) {
    if (request.method === 'GET') return json(200, { nodes: await store((schema) => rowsOf(schema, 'nodes')) });
    const topic = await told(body['driver']);
    const node = { uuid: uuid(process.random), provision_state: 'enroll', power_state: null, ...body };
    return json(201, await messaging.call(topic, 'create_node', node));
  }
  const node = await store((schema) => tableOf(schema, 'nodes').get(id));
  if (node === undefined) throw new Fault(404, `Node ${id} could not be found.`);
  const topic = await told(node['driver']);
  if (request.method === 'DELETE') {
    await messaging.call(topic, 'destroy_node', { id });
    return { status: 204 };
  }
  if (part === undefined) return json(200, node);
  const what = request.path.replace(/\?.*/, '').split('/').at(-1);
  await messaging.call(topic, `do_${what}`, { id, target: body['target'] });
  return { status: 202 };
}
