import { uuid } from '@openstack-operator/kube';
import type { HttpReply } from '@openstack-operator/sandbox';
import { json, plain } from '../../http.ts';
import { type Row, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { apiHandler, type Call, versions } from '../../model/api.ts';
import { Fault } from '../../model/fault.ts';
import { type Command, sync } from '../../model/manage.ts';
import { model } from '../../model/model.ts';
import type { ServiceProgram } from '../../model/program.ts';
import { respawning } from '../../model/rpc-service.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import { Database } from '../../oslo/database.ts';
import { endpointOf, httpError, KeystoneSession } from '../../oslo/keystone-session.ts';
import { Messaging } from '../../oslo/messaging.ts';
import { demandTables, type ProjectDatabase } from '../../oslo/project-database.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';

const { start: takes, dbSync } = startTimes.troveManage;
const store: ProjectDatabase = {
  heads: ['7ee6154548a6'],
  tables:
    'agent_heartbeats backup_strategy backups capabilities capability_overrides clusters conductor_lastseen configuration_parameters configurations datastore_configuration_parameters datastore_version_metadata datastore_versions datastores dns_records instance_faults instance_modules instances modules quota_usages quotas reservations root_enabled_history security_group_instance_associations security_group_rules security_groups service_statuses',
};

/** Trove 23: datastores and their versions; database servers no model makes. */
export const trove = model({
  project: 'trove',
  images: { 'trove-api': { root: true }, 'trove-taskmanager': {}, 'trove-conductor': {} },
  files: { '/etc/trove/api-paste.ini': '[composite:trove]\nuse = call:trove.common.wsgi:versioned_urlmap\n' },
  programs: {
    'trove-manage': {
      takes,
      files: ['trove'],
      commands: {
        db_sync: sync(store, dbSync),
        datastore_update: datastore((schema, [name = '', version = '']) => {
          const known = tableOf(schema, 'datastores').get(name) ?? { id: name, name };
          tableOf(schema, 'datastores').set(name, { ...known, default_version: version || null });
          return `Datastore '${name}' updated.`;
        }),
        datastore_version_update: datastore((schema, [name = '', version = '', manager, , , active]) => {
          // It says so, and ends as if all were well.
          if (!tableOf(schema, 'datastores').has(name)) return `Datastore '${name}' cannot be found.`;
          const row = { id: `${name}-${version}`, datastore_id: name, name: version, manager, active: active === '1' };
          tableOf(schema, 'datastore_versions').set(row.id, row);
          return `Datastore version '${version}(${version})' updated.`;
        }),
      },
    },
    'trove-taskmanager': server('taskmanager_queue'),
    'trove-conductor': server('conductor_queue', 'trove_conductor_workers'),
  },
  applications: { 'trove.cmd.app_wsgi:application': { takes: startTimes.troveApi, files: ['trove.conf'], serves } },
});

/** A command about datastores. */
function datastore(run: (schema: Parameters<typeof rowsOf>[0], words: readonly string[]) => string): Command {
  return {
    values: 'image-tags version registry-ext repl-strategy',
    run: async (context, words) => {
      const said = await new Database(context, store).transaction('INSERT', (schema) => run(schema, words));
      context.process.stdout(`${said}\n`);
    },
  };
}

/** Before anything is served all tables are read (trove.db.sqlalchemy.mappers). @throws PythonError */
async function configured(context: ServiceContext): Promise<Messaging> {
  const messaging = new Messaging(context);
  await new Database(context, store).transaction('SELECT', (schema) => demandTables(schema, store.tables));
  return messaging;
}

/** `workers`: the option that says how many it forks; by default there are none. */
function server(queue: string, workers?: string): ServiceProgram {
  return {
    takes: startTimes.troveServer,
    files: ['trove'],
    run: async (context) => {
      const messaging = await configured(context);
      const refuse = (method: string) =>
        Promise.reject(new PythonError('NotImplementedError', `no model knows ${method}`));
      await respawning(
        context,
        async () => {
          const topic = context.config.text('DEFAULT', queue);
          await Promise.race([messaging.serve(topic, refuse), terminated(context.process)]);
          await terminated(context.process);
        },
        { once: workers === undefined || context.config.integer('DEFAULT', workers) === 1 },
      );
      return 0;
    },
  };
}

async function serves(context: ServiceContext): Promise<WsgiHandler> {
  await configured(context);
  const handler = apiHandler(context, {
    prefix: 'v1.0',
    open: { '/': versions(200, 'v1.0'), '/healthcheck': plain(200, 'OK') },
    policies: { mgmt: { roles: ['admin'], rule: 'admin' } },
    database: store,
    routes: {
      datastores: async ({ id, part, store: run }) => {
        const rows = await run((schema) => rowsOf(schema, id === undefined ? 'datastores' : 'datastore_versions'));
        if (id === undefined) return json(200, { datastores: rows });
        return part === 'versions'
          ? json(200, { versions: rows.filter((row) => row['datastore_id'] === id) })
          : undefined;
      },
      mgmt: async (call) => (await instancesOfAll(context, call)) ?? (await addVersion(context, call)),
      instances: async (call) => {
        await asUser(context, call, 'nova_compute', '/servers/detail');
        return json(200, { instances: [] });
      },
    },
  });
  // The project stands behind the version.
  return (request) => handler({ ...request, path: request.path.replace(/^\/v1.0\/[0-9a-f-]{32,36}(?=\/)/, '/v1.0') });
}

/** Another service is asked with the caller's token, as `<client>_endpoint_type` and the region say. @throws PythonError */
async function asUser({ process, config }: ServiceContext, { identity }: Call, client: string, path: string) {
  const kind = config.text('DEFAULT', `${client}_endpoint_type`).replace(/URL$/, '');
  const type = config.text('DEFAULT', `${client}_service_type`);
  const region = config.text('service_credentials', 'region_name');
  const url = `${endpointOf(identity.catalog, { type, interfaces: [kind], region })}${path}`;
  const session = new KeystoneSession(process, config, 'keystone_authtoken');
  const reply = await session.send('GET', url, { 'x-auth-token': identity.token });
  if (reply.status !== 200) throw httpError(reply, uuid(process.random));
  return JSON.parse(reply.body ?? '{}') as Record<string, Row[]>;
}

/** Administrators list the servers of all projects, which Nova is asked for as well; who makes one, no model does. */
async function instancesOfAll(context: ServiceContext, call: Call): Promise<HttpReply | undefined> {
  if (call.request.method !== 'GET' || call.id !== 'instances') return undefined;
  await asUser(context, call, 'nova_compute', '/servers/detail');
  const instances = await call.store((schema) => rowsOf(schema, 'instances', { deleted: false }));
  return json(200, { instances });
}

/** Administrators add versions, of images that are there. */
async function addVersion(context: ServiceContext, call: Call): Promise<HttpReply | undefined> {
  const { request, id: what, body, store: run } = call;
  if (request.method !== 'POST' || what !== 'datastore-versions') return undefined;
  const {
    datastore_name: datastore,
    name,
    datastore_manager: manager,
    image,
    active,
  } = body['version'] as Record<string, string>;
  const { images = [] } = await asUser(context, call, 'glance', '/v2/images');
  if (!images.some((row) => row['id'] === image)) throw new Fault(404, `Image ${image} can not be found.`);
  await run((schema) => {
    const known = tableOf(schema, 'datastores').get(datastore ?? '') ?? { id: datastore, name: datastore };
    tableOf(schema, 'datastores').set(datastore ?? '', known);
    const row = { id: `${datastore}-${name}`, datastore_id: datastore, name, manager, active };
    tableOf(schema, 'datastore_versions').set(row.id, row);
  });
  return { status: 202 };
}
