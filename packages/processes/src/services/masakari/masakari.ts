import { uuid } from '@openstack-operator/kube';
import type { HttpReply } from '@openstack-operator/sandbox';
import { json } from '../../http.ts';
import { openLibvirt } from '../../infrastructure/libvirt-protocol.ts';
import { type Row, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { apiHandler, type Call, versions } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { revisions, says, sync, upgradeCheck } from '../../model/manage.ts';
import { model } from '../../model/model.ts';
import type { ServiceProgram } from '../../model/program.ts';
import { respawning } from '../../model/rpc-service.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import type { Config } from '../../oslo/config.ts';
import { Database } from '../../oslo/database.ts';
import { KeystoneSession } from '../../oslo/keystone-session.ts';
import { Messaging } from '../../oslo/messaging.ts';
import type { ProjectDatabase } from '../../oslo/project-database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';

const { start: takes, dbSync } = startTimes.masakariManage;
const paste = '/etc/masakari/api-paste.ini';
const store: ProjectDatabase = { heads: ['8bdf5929c5a6'], tables: 'failover_segments hosts notifications vmoves' };

/** Masakari 19: segments, their hosts, whom Nova has to know, and notifications, which an engine takes. */
export const masakari = model({
  project: 'masakari',
  images: { 'masakari-api': { root: true }, 'masakari-engine': {} },
  files: { [paste]: '[composite:masakari_api]\nuse = call:masakari.api.urlmap:urlmap_factory\n' },
  programs: {
    'masakari-manage': {
      takes,
      files: ['masakari'],
      categories: 'db',
      commands: {
        'db sync': sync(store, dbSync),
        'db version': revisions(store),
        'db purge': says('Rows are purged.', { values: 'age_in_days max_rows' }),
      },
    },
    'masakari-status': {
      takes,
      files: ['masakari'],
      commands: {
        'upgrade check': upgradeCheck({ 'Policy File JSON to YAML Migration': () => Promise.resolve(undefined) }),
      },
    },
    'masakari-engine': engine(),
  },
  applications: {
    'masakari.cmd.api:initialize_application()': {
      takes: startTimes.masakariApi,
      files: ['masakari.conf'],
      serves: serveApi,
    },
  },
});

/** Its monitors are a project of their own. That of servers hears from libvirt by a socket that changes nothing. */
export const masakariMonitors = model({
  project: 'masakarimonitors',
  options: 'masakari-monitors',
  user: 'masakari',
  images: { 'masakari-monitors': {} },
  programs: {
    'masakari-instancemonitor': {
      takes: startTimes.masakariEngine,
      run: async ({ process, config }) => {
        const uri = config.text('libvirt', 'connection_uri', 'qemu:///system');
        const socket = '/run/libvirt/libvirt-sock-ro';
        const failed = new PythonError('libvirt.libvirtError', `Failed to connect socket to '/var${socket}' (${uri})`);
        const connection = await openLibvirt(process, `${uri}?socket=${socket}`).catch(() => {
          throw failed;
        });
        await terminated(process);
        connection.close();
        return 0;
      },
    },
  },
});

/** A notification is written down by the API; the engine has Nova mend what it is about. */
function engine(): ServiceProgram {
  return {
    takes: startTimes.masakariEngine,
    run: async (context) => {
      const messaging = new Messaging(context);
      const database = new Database(context, store);
      await respawning(context, async () => {
        const handler = async (_method: string, parameters: unknown): Promise<void> => {
          const { id } = parameters as { id: string };
          const status = await computeServices(context).then(
            () => 'finished',
            () => 'error',
          );
          await database.transaction('UPDATE', (schema) => {
            Object.assign(tableOf(schema, 'notifications').get(id) ?? {}, { status });
          });
        };
        await Promise.race([messaging.serve('ha_engine', handler), terminated(context.process)]);
        await terminated(context.process);
      });
      return 0;
    },
  };
}

/** Hosts of nova-compute, as Nova tells its administrator (masakari.compute.nova.novaclient). @throws PythonError */
async function computeServices({ process, config }: ServiceContext): Promise<string[]> {
  const names: Readonly<Record<string, string>> = {
    auth_url: 'os_privileged_user_auth_url',
    username: 'os_privileged_user_name',
    password: 'os_privileged_user_password',
    project_name: 'os_privileged_user_tenant',
    user_domain_name: 'os_user_domain_name',
    project_domain_name: 'os_project_domain_name',
  };
  const optional: Config['optional'] = (group, name) =>
    name in names ? config.optional('DEFAULT', names[name] ?? '') : config.optional(group, name);
  const session = new KeystoneSession(process, { optional }, 'keystone_authtoken');
  const { id, catalog } = await session.token();
  const [type, , side = ''] = config.text('DEFAULT', 'nova_catalog_admin_info').split(':');
  const region = config.optional('DEFAULT', 'os_region_name');
  const endpoint = catalog
    .find((service) => service.type === type)
    ?.endpoints.find((one) => one.interface === side.replace('URL', '') && (region ?? one.region_id) === one.region_id);
  if (endpoint === undefined)
    throw new PythonError(
      'keystoneauth1.exceptions.catalog.EndpointNotFound',
      `${side} endpoint for ${type} service not found`,
    );
  const reply = await session.send('GET', `${endpoint.url}/os-services?binary=nova-compute`, { 'x-auth-token': id });
  if (reply.status !== 200) throw new PythonError('novaclient.exceptions.ClientException', `HTTP ${reply.status}`);
  return (JSON.parse(reply.body ?? '{}') as { services: { host: string }[] }).services.map(({ host }) => host);
}

/** @throws PythonError */
function serveApi(context: ServiceContext): WsgiHandler {
  const messaging = new Messaging(context);
  if (!context.process.files.exists(paste))
    throw new PythonError('LookupError', `No section 'masakari_api' (${paste})`);
  return apiHandler(context, {
    prefix: 'v1',
    open: { '/': versions(200, 'v1.0') },
    policy: { roles: ['admin'], rule: 'os_masakari_api:segments:index' },
    database: store,
    collections: [
      {
        path: 'segments',
        table: 'failover_segments',
        item: 'segment',
        id: 'uuid',
        required: ['name', 'recovery_method', 'service_type'],
        unique: [['name']],
        defaults: { enabled: true },
      },
    ],
    routes: {
      segments: (call) => (call.part === 'hosts' ? hosts(context, call) : undefined),
      notifications: (call) => notifications(context, messaging, call),
    },
  });
}

/** @throws Fault */
async function hosts(context: ServiceContext, { request, id: segment = '', body, store }: Call): Promise<HttpReply> {
  if (request.method === 'GET')
    return store((schema) => json(200, { hosts: rowsOf(schema, 'hosts', { failover_segment_id: segment }) }));
  const said = (body['host'] ?? {}) as Row;
  const name = String(said['name']);
  if (!(await computeServices(context)).includes(name))
    throw new Fault(400, `Compute service with name ${name} could not be found.`);
  const id = uuid(context.process.random);
  const host: Row = { uuid: id, name, failover_segment_id: segment, on_maintenance: false, reserved: false, ...said };
  await store((schema) => tableOf(schema, 'hosts').set(id, host));
  return json(201, { host });
}

/** @throws Fault */
async function notifications(
  context: ServiceContext,
  messaging: Messaging,
  { request, body, store }: Call,
): Promise<HttpReply> {
  if (request.method === 'GET') return store((schema) => json(200, { notifications: rowsOf(schema, 'notifications') }));
  const said = (body['notification'] ?? {}) as Row;
  const id = uuid(context.process.random);
  const row: Row = { notification_uuid: id, status: 'new', ...said };
  const isKnown = await store((schema) => {
    if (rowsOf(schema, 'hosts', { name: said['hostname'] }).length === 0) return false;
    tableOf(schema, 'notifications').set(id, row);
    return true;
  });
  if (!isKnown) throw new Fault(400, `Host with name ${String(said['hostname'])} could not be found.`);
  messaging.cast('ha_engine', 'process_notification', { id });
  return json(202, { notification: row });
}
