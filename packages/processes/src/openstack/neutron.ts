import type { Connection, HttpMessage, HttpReply, Process, Program } from '@openstack-operator/sandbox';
import { type Row, tableOf } from '../infrastructure/mysql-protocol.ts';
import { mapOf, ovsTable, rootRow, transact } from '../infrastructure/ovsdb.ts';
import { loadConfig } from '../oslo/config.ts';
import { Database } from '../oslo/database.ts';
import { Messaging } from '../oslo/messaging.ts';
import { demandTables } from '../oslo/migrations.ts';
import { PythonError, SystemExit } from '../oslo/python-error.ts';
import { osloProgram } from '../oslo/service.ts';
import { pause, terminated } from '../program-support.ts';
import { bindPatiently } from './eventlet-server.ts';
import { json, plain } from './http.ts';
import { newId } from './keystone-schema.ts';
import { connectIdl } from './ovn-client.ts';
import type { WsgiHandler, WsgiModule } from './uwsgi.ts';
import { type ApiContext, apiContext, apiHandler, notFoundReply, versions } from './wsgi-service.ts';

interface Plugin {
  readonly database: Database;
  readonly northbound: Connection | undefined;
  readonly southbound: Connection | undefined;
}

/** Loads the core plugin as every Neutron server does: type drivers sync with the database, ML2/OVN connects to OVN. */
async function loadPlugin(context: ApiContext): Promise<Plugin> {
  const { process, config, log } = context;
  const core = config.text('DEFAULT', 'core_plugin');
  if (core === undefined || core === '') throw new PythonError('Exception', 'Neutron core_plugin not configured!');
  if (!['ml2', 'neutron.plugins.ml2.plugin.Ml2Plugin'].includes(core))
    throw new PythonError('ImportError', 'Plugin not found.');
  const services = config.list('DEFAULT', 'service_plugins');
  const unknown = services.find(
    (name) =>
      ![
        'ovn-router',
        'router',
        'metering',
        'qos',
        'segments',
        'trunk',
        'port_forwarding',
        'network_segment_range',
        'placement',
        'log',
        'dns',
        'vpnaas',
        'flavors',
        'auto_allocate',
        'revisions',
        'network_ip_availability',
        'loki',
        'ndp_proxy',
        'local_ip',
        'conntrack_helper',
        'tag',
        'timestamp',
      ].includes(name),
  );
  if (unknown !== undefined) throw new PythonError('ImportError', `Plugin '${unknown}' not found.`);
  const mechanisms = config.list('ml2', 'mechanism_drivers');
  const absent = mechanisms.find(
    (name) =>
      !['ovn', 'openvswitch', 'l2population', 'sriovnicswitch', 'baremetal', 'macvtap', 'logger'].includes(name),
  );
  if (absent !== undefined)
    throw new PythonError('SystemExit', `The following mechanism drivers were not found: {'${absent}'}`);
  const types = config.list('ml2', 'type_drivers', ['local', 'flat', 'vlan', 'gre', 'vxlan', 'geneve']);
  const tenant = config.list('ml2', 'tenant_network_types', ['local']).find((name) => !types.includes(name));
  if (tenant !== undefined) {
    log.error('neutron.plugins.ml2.managers', `No type driver for tenant network_type: ${tenant}. Service terminated!`);
    throw new SystemExit(1);
  }
  const database = new Database({ process, config, log });
  await database.transaction('INSERT', (schema) =>
    demandTables(schema, ['ml2_geneve_allocations', 'networks', 'ports', 'ovn_hash_ring', 'agents']),
  );
  if (!mechanisms.includes('ovn')) return { database, northbound: undefined, southbound: undefined };
  const timeout = config.integer('ovn', 'ovsdb_connection_timeout', 180);
  const nb = config.text('ovn', 'ovn_nb_connection', 'tcp:127.0.0.1:6641');
  const sb = config.text('ovn', 'ovn_sb_connection', 'tcp:127.0.0.1:6642');
  const northbound = await connectIdl(process, log, nb, 'OVN_Northbound', timeout);
  const southbound = await connectIdl(process, log, sb, 'OVN_Southbound', timeout);
  return { database, northbound, southbound };
}

/** `neutron.wsgi.api:application`: ready about 10 s after the start. */
export const neutronApi: WsgiModule = async (process, settings) => {
  const { env } = process;
  const directory = env['OS_NEUTRON_CONFIG_DIR'] ?? '/etc/neutron';
  const named = (env['OS_NEUTRON_CONFIG_FILES'] ?? '').split(';').filter((name) => name !== '');
  const files = (named.length > 0 ? named : ['neutron.conf', 'plugins/ml2/ml2_conf.ini']).map((name) =>
    name.startsWith('/') ? name : `${directory}/${name}`,
  );
  const config = loadConfig(process, { project: 'neutron', programs: ['uwsgi'], files });
  const context = apiContext(process, config, 'neutron-api');
  await pause(process, 6000);
  const start = settings.extra.get('start-time');
  if (start !== undefined && !/^\d+$/.test(start))
    throw new PythonError('ValueError', `invalid literal for int() with base 10: '${start}'`);
  demandPaste(context);
  const messaging = new Messaging({ process, config, log: context.log });
  void messaging;
  const plugin = await loadPlugin(context);
  await pause(process, 2500);
  return networkApi(context, plugin);
};

function demandPaste({ process, config }: ApiContext): void {
  const name = config.text('DEFAULT', 'api_paste_config', 'api-paste.ini');
  const path = name.startsWith('/') ? name : `/etc/neutron/${name}`;
  if (!process.files.exists(path))
    throw new PythonError('oslo_service.wsgi.ConfigNotFound', `Could not find config at ${name}`);
}

function networkApi(context: ApiContext, plugin: Plugin): WsgiHandler {
  return apiHandler(context, {
    open: (_request, path) => {
      if (path === '/' || path === '') return versions(200, ['v2.0']);
      return path === '/healthcheck' ? plain(200, 'OK') : undefined;
    },
    routes: (request, path) => route(context.process, plugin, request, path),
  });
}

async function route(
  process: Process,
  { database, southbound }: Plugin,
  request: HttpMessage,
  path: string,
): Promise<HttpReply> {
  const [, version, kind = '', id] = path.split('/');
  if (version !== 'v2.0') return notFoundReply();
  const chassis =
    southbound === undefined
      ? []
      : await transact(southbound, 'OVN_Southbound', (tables) => [...ovsTable(tables, 'Chassis').values()]);
  if (kind === 'agents') {
    const agents = chassis.map((row) => ({
      id: row['name'],
      host: row['hostname'],
      agent_type: 'OVN Controller agent',
      binary: 'ovn-controller',
      alive: true,
    }));
    return json(200, { agents });
  }
  const table = {
    networks: 'networks',
    ports: 'ports',
    subnets: 'subnets',
    routers: 'routers',
    'security-groups': 'securitygroups',
  }[kind];
  if (table === undefined) return notFoundReply();
  const item = kind.replace(/s$/, '').replace('-', '_');
  return database.transaction('UPDATE', (schema) => {
    const rows = tableOf(schema, table);
    if (request.method === 'POST') {
      const row: Row = {
        ...(JSON.parse(request.body) as Record<string, Row>)[item],
        id: newId(process.random),
        status: 'ACTIVE',
      };
      const host = row['binding:host_id'];
      // ML2/OVN binds a port when a chassis has the very host name that Nova gives.
      if (typeof host === 'string' && host !== '')
        row['binding:vif_type'] = chassis.some((one) => one['hostname'] === host) ? 'ovs' : 'binding_failed';
      rows.set(String(row['id']), row);
      return json(201, { [item]: row });
    }
    if (id === undefined) return json(200, { [kind.replace('-', '_')]: [...rows.values()] });
    const row = rows.get(id);
    if (row === undefined)
      return json(404, {
        NeutronError: { type: 'NotFound', message: `${item} ${id} could not be found.`, detail: '' },
      });
    if (request.method !== 'DELETE') return json(200, { [item]: row });
    rows.delete(id);
    return { status: 204 };
  });
}

/** A Neutron server besides the API: `ERROR: ...` and status 1 for a RuntimeError (neutron.server.boot_server). */
function server(run: (context: ApiContext, plugin: Plugin) => Promise<number>): Program {
  return osloProgram({
    project: 'neutron',
    run: async (context) => {
      await pause(context.process, 4000);
      try {
        return await run(context, await loadPlugin(context));
      } catch (error) {
        if (error instanceof PythonError && error.type === 'RuntimeError')
          throw new SystemExit(1, `ERROR: ${error.message}`);
        throw error;
      }
    },
  });
}

const serveRpc = async (context: ApiContext): Promise<void> => {
  const messaging = new Messaging(context);
  for (const topic of ['q-plugin', 'q-reports-plugin', 'q-server-resource-versions'])
    await messaging.serve(topic, () => Promise.resolve(undefined));
};

/** The servers of a uwsgi deployment beside the API, and the eventlet server that is all of them in one. */
export const neutronServers: Readonly<Record<string, Program>> = {
  'neutron-rpc-server': server(async (context) => {
    await Promise.race([serveRpc(context), terminated(context.process)]);
    context.log.info('neutron.service', 'Neutron RPC server started');
    await terminated(context.process);
    return 0;
  }),
  'neutron-periodic-workers': server(async (context) => {
    await terminated(context.process);
    return 0;
  }),
  'neutron-ovn-maintenance-worker': server(async (context, { northbound }) => {
    if (northbound === undefined)
      throw new PythonError('RuntimeError', 'OVN maintenance worker not loaded, ML2/OVN mechanism driver must be used');
    await transact(northbound, 'OVN_Northbound', (tables) => rootRow(tables, 'NB_Global'));
    await terminated(context.process);
    return 0;
  }),
  'neutron-server': server(async (context, plugin) => {
    const { process, config } = context;
    demandPaste(context);
    const port = config.integer('DEFAULT', 'bind_port', 9696);
    const host = config.text('DEFAULT', 'bind_host', '0.0.0.0');
    await bindPatiently(process, { host, port }, networkApi(context, plugin));
    void serveRpc(context);
    await terminated(process);
    return 0;
  }),
  'neutron-ovn-metadata-agent': metadataAgent(),
};

/** Serves metadata on a hypervisor: needs the local Open vSwitch, the southbound database, and network namespaces. */
function metadataAgent(): Program {
  return osloProgram({
    project: 'neutron',
    run: async (context) => {
      const { process, config, log } = context;
      await pause(process, 3000);
      const local = config.text('ovs', 'ovsdb_connection', 'tcp:127.0.0.1:6640');
      const ovs = await connectIdl(
        process,
        log,
        local,
        'Open_vSwitch',
        config.integer('ovs', 'ovsdb_connection_timeout', 180) || 180,
      );
      const id = await transact(
        ovs,
        'Open_vSwitch',
        (tables) => mapOf(rootRow(tables, 'Open_vSwitch'), 'external_ids')['system-id'],
      );
      const south = await connectIdl(
        process,
        log,
        config.text('ovn', 'ovn_sb_connection', 'tcp:127.0.0.1:6642'),
        'OVN_Southbound',
        config.integer('ovn', 'ovsdb_connection_timeout', 180),
      );
      if (!process.privileged)
        throw new PythonError('PermissionError', "[Errno 1] Operation not permitted: '/run/netns'");
      const state = config.text('DEFAULT', 'state_path', '/var/lib/neutron');
      const socket = config.text('DEFAULT', 'metadata_proxy_socket', `${state}/metadata_proxy`);
      process.network.listen(`unix:${socket}`, 'http', () => ({
        receive: () => Promise.resolve(plain(404, 'Not Found')),
      }));
      for (let tries = 0; ; tries += 1) {
        const registered = await transact(south, 'OVN_Southbound', (tables) => {
          const row = ovsTable(tables, 'Chassis_Private').get(id ?? '');
          if (row !== undefined)
            row['external_ids'] = { ...mapOf(row, 'external_ids'), 'neutron:ovn-metadata-id': `${id}-metadata` };
          return row !== undefined;
        });
        if (registered) break;
        if (tries === 0) log.info('neutron.agent.ovn.metadata.agent', `Chassis ${id ?? 'None'} is not registered yet`);
        if (!(await pause(process, 2000))) return 0;
      }
      log.info('neutron.agent.ovn.metadata.agent', `Loaded chassis name ${id} (UUID: ${id}) and ovn bridge br-int.`);
      await terminated(process);
      return 0;
    },
  });
}
