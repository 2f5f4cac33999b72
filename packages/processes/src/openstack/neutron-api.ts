import { uuid } from '@openstack-operator/kube';
import type { HttpMessage, HttpReply } from '@openstack-operator/sandbox';
import { type Row, tableOf } from '../infrastructure/mysql-protocol.ts';
import { ovsTable, transact } from '../infrastructure/ovsdb.ts';
import type { Identity } from '../oslo/auth-token.ts';
import { loadConfig } from '../oslo/config.ts';
import { Messaging } from '../oslo/messaging.ts';
import { PythonError, SystemExit } from '../oslo/python-error.ts';
import { pause } from '../program-support.ts';
import { startTimes } from '../start-times.ts';
import { json, plain } from './http.ts';
import { extensionsOf } from './neutron-extensions.ts';
import { canBind, hasResource, metadataPort, networkOf, type Refusal } from './neutron-networks.ts';
import { createDropGroup, loadPlugin, type NeutronPlugin, type OvnConnections, openOvn } from './neutron-plugin.ts';
import { createLogicalPort, followPorts } from './neutron-ports.ts';
import type { WsgiHandler, WsgiModule } from './uwsgi.ts';
import { type ApiContext, apiContext, apiHandler, notFoundReply, versions } from './wsgi-service.ts';

/** `neutron.wsgi.api:application`. */
export const neutronApi: WsgiModule = async (process, settings) => {
  const { env } = process;
  const directory = env['OS_NEUTRON_CONFIG_DIR'] ?? '/etc/neutron';
  const named = (env['OS_NEUTRON_CONFIG_FILES'] ?? '').split(';').filter((name) => name !== '');
  const files = (named.length > 0 ? named : ['neutron.conf', 'plugins/ml2/ml2_conf.ini']).map((name) =>
    name.startsWith('/') ? name : `${directory}/${name}`,
  );
  const config = loadConfig(process, { project: 'neutron', programs: ['uwsgi'], files });
  const context = apiContext(process, config, 'neutron-api');
  await pause(process, startTimes.neutronApi.imports);
  // The transport is opened on first use; a URL that cannot be parsed ends the import.
  void new Messaging(context);
  try {
    const plugin = await loadPlugin(context);
    demandPaste(context);
    if (plugin.usesOvn) {
      await createDropGroup(context);
      checkStartTime(context, settings.extra.get('start-time'));
    }
    const ovn = plugin.usesOvn ? await openOvn(context, 'WorkerService') : undefined;
    await pause(process, startTimes.neutronApi.application);
    if (ovn !== undefined) followPorts(context, plugin.database);
    return networkApi(context, plugin, ovn);
  } catch (error) {
    if (error instanceof PythonError && error.type === 'RuntimeError')
      throw new SystemExit(1, `ERROR: ${error.message}`);
    throw error;
  }
};

/** The workers of one start know each other by its time (OVN's hash ring). */
function checkStartTime({ log }: ApiContext, start: string | undefined): void {
  const driver = 'neutron.plugins.ml2.drivers.ovn.mech_driver.mech_driver';
  if (start === undefined || start === '') {
    log.warning(
      driver,
      'uWSGI must provide a start time using the configuration parameter "start-time %t" in the configuration file',
    );
  } else if (!/^\d+$/.test(start)) {
    throw new PythonError(
      'neutron_lib.callbacks.exceptions.CallbackFailure',
      `Callback ${driver}.OVNMechanismDriver.post_fork_initialize-823713 failed with "invalid literal for int() with base 10: '${start}'"`,
    );
  }
}

/** Who everybody is in the pipeline `noauth`. */
const everybody: Identity = { userId: '', projectId: undefined, roles: ['admin'], token: '', catalog: [] };

/** @throws PythonError when the paste file is not there, or has no pipeline for `auth_strategy` (neutron.auth) */
export function demandPaste({ process, config }: ApiContext): void {
  const name = config.text('DEFAULT', 'api_paste_config');
  const path = name.startsWith('/') ? name : `/etc/neutron/${name}`;
  if (!process.files.exists(path))
    throw new PythonError('oslo_service.wsgi.ConfigNotFound', `Could not find config at ${name}`);
  const strategy = config.text('DEFAULT', 'auth_strategy');
  if (!['keystone', 'noauth'].includes(strategy)) throw new PythonError('KeyError', `'${strategy}'`);
}

/** The API on a loaded plugin. */
export function networkApi(context: ApiContext, plugin: NeutronPlugin, ovn: OvnConnections | undefined): WsgiHandler {
  return apiHandler(context, {
    ...(context.config.text('DEFAULT', 'auth_strategy') === 'noauth' && { everybody }),
    open: (_request, path) => {
      if (path === '/' || path === '') return versions(200, ['v2.0']);
      return path === '/healthcheck' ? plain(200, 'OK') : undefined;
    },
    routes: (request, path) => route(context, { ...plugin, ovn }, request, path),
  });
}

async function route(
  { process, config }: ApiContext,
  { database, ovn }: NeutronPlugin & { ovn: OvnConnections | undefined },
  request: HttpMessage,
  path: string,
): Promise<HttpReply> {
  const [, version, kind = '', id] = path.split('/');
  if (version !== 'v2.0') return notFoundReply();
  if (kind === 'extensions') return json(200, { extensions: extensionsOf(config).map((alias) => ({ alias })) });
  const chassis =
    ovn === undefined
      ? []
      : await transact(await ovn.southbound(), 'OVN_Southbound', (tables) => [...ovsTable(tables, 'Chassis').values()]);
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
  if (table === undefined || !hasResource(config, kind)) return notFoundReply();
  const item = kind.replace(/s$/, '').replace('-', '_');
  if (request.method === 'POST') {
    const given = (JSON.parse(request.body || '{}') as Record<string, Row>)[item] ?? {};
    const checked = kind === 'networks' ? networkOf(config, given) : given;
    if ('problem' in checked) {
      const { status, type, problem: message } = checked as Refusal;
      return json(status, { NeutronError: { type, message, detail: '' } });
    }
    const row: Row = { ...checked, id: uuid(process.random), status: kind === 'ports' ? 'DOWN' : 'ACTIVE' };
    const host = row['binding:host_id'];
    // ML2/OVN binds a port when a chassis has the very host name that Nova gives.
    const bound = chassis.find((one) => one['hostname'] === host);
    const missing = await database.transaction('INSERT', (schema) => {
      const network = kind === 'ports' || kind === 'subnets' ? String(row['network_id']) : undefined;
      if (network !== undefined && !tableOf(schema, 'networks').has(network)) return network;
      if (kind === 'ports' && typeof host === 'string' && host !== '')
        row['binding:vif_type'] = canBind(bound, tableOf(schema, 'networks').get(network ?? ''))
          ? 'ovs'
          : 'binding_failed';
      tableOf(schema, table).set(String(row['id']), row);
      const port = kind === 'networks' ? metadataPort(config, row) : undefined;
      if (port !== undefined) tableOf(schema, 'ports').set(String(port['id']), port);
      return undefined;
    });
    if (missing !== undefined) {
      const message = `Network ${missing} could not be found.`;
      return json(404, { NeutronError: { type: 'NetworkNotFound', message, detail: '' } });
    }
    if (kind === 'ports' && ovn !== undefined) await createLogicalPort(await ovn.northbound(), row);
    return json(201, { [item]: row });
  }
  return database.transaction('UPDATE', (schema) => {
    const rows = tableOf(schema, table);
    if (id === undefined) return json(200, { [kind.replace('-', '_')]: [...rows.values()] });
    const row = rows.get(id);
    if (row === undefined)
      return json(404, {
        NeutronError: { type: 'NotFound', message: `${item} ${id} could not be found.`, detail: '' },
      });
    if (request.method === 'PUT')
      Object.assign(row, (JSON.parse(request.body || '{}') as Record<string, Row>)[item] ?? {});
    if (request.method !== 'DELETE') return json(200, { [item]: row });
    rows.delete(id);
    return { status: 204 };
  });
}
