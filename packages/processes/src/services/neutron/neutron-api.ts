import { json, plain } from '../../http.ts';
import { type Row, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { ovsTable, rowsIn, transact } from '../../infrastructure/ovsdb.ts';
import { apiHandler, versions } from '../../model/api.ts';
import type { Collection, RowUse } from '../../model/collection.ts';
import { Fault } from '../../model/fault.ts';
import type { WsgiHandler } from '../../model/uwsgi.ts';
import type { UwsgiSettings } from '../../model/uwsgi-settings.ts';
import type { Config } from '../../oslo/config.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { neutronDatabase } from './neutron-db-manage.ts';
import { extensionsOf } from './neutron-extensions.ts';
import { canBind, hasResource, metadataPort, networkOf } from './neutron-networks.ts';
import { booted, createDropGroup, loadPlugin, type OvnConnections, openOvn } from './neutron-plugin.ts';
import { createLogicalPort, followPorts } from './neutron-ports.ts';

/** What a worker of uwsgi does before it serves. @throws PythonError, SystemExit */
export function serveApi(context: ServiceContext, settings: UwsgiSettings): Promise<WsgiHandler> {
  return booted(async () => {
    const usesOvn = await loadPlugin(context);
    demandPaste(context);
    if (usesOvn) {
      await createDropGroup(context);
      checkStartTime(context, settings.extra.get('start-time'));
    }
    const ovn = usesOvn ? await openOvn(context, 'WorkerService') : undefined;
    await pause(context.process, startTimes.neutronApi.application);
    if (ovn !== undefined) followPorts(context);
    return networkApi(context, ovn);
  });
}

/** The workers of one start know each other by its time (OVN's hash ring). */
function checkStartTime({ log }: ServiceContext, start: string | undefined): void {
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

/** @throws PythonError when the paste file is not there, or has no pipeline for `auth_strategy` (neutron.auth) */
function demandPaste({ process, config }: ServiceContext): void {
  const name = config.text('DEFAULT', 'api_paste_config');
  const path = name.startsWith('/') ? name : `/etc/neutron/${name}`;
  if (!process.files.exists(path))
    throw new PythonError('oslo_service.wsgi.ConfigNotFound', `Could not find config at ${name}`);
  const strategy = config.text('DEFAULT', 'auth_strategy');
  if (!['keystone', 'noauth'].includes(strategy)) throw new PythonError('KeyError', `'${strategy}'`);
}

/** The API on a loaded plugin. */
function networkApi(context: ServiceContext, ovn: OvnConnections | undefined): WsgiHandler {
  const { config } = context;
  return apiHandler(context, {
    prefix: 'v2.0',
    open: { '/': versions(200, 'v2.0'), '/healthcheck': plain(200, 'OK') },
    unauthenticated: () => config.text('DEFAULT', 'auth_strategy') === 'noauth',
    words: { body: ({ type, message }) => ({ NeutronError: { type, message, detail: '' } }) },
    database: neutronDatabase,
    collections: resources(config, ovn).filter(({ path }) => hasResource(config, path)),
    routes: {
      extensions: () => json(200, { extensions: extensionsOf(config).map((alias) => ({ alias })) }),
      agents: async ({ request, id = '' }) => {
        const chassis = await chassisOf(ovn);
        if (request.method !== 'DELETE') {
          const beats = await rowsOf(ovn, 'Chassis_Private');
          return json(200, { agents: chassis.map((row) => agentOf(row, beats)) });
        }
        if (ovn === undefined || !chassis.some(({ name }) => name === id))
          throw new Fault(404, `Agent ${id} could not be found.`);
        await transact(await ovn.southbound(), 'OVN_Southbound', (tables) => {
          for (const table of ['Chassis', 'Chassis_Private']) ovsTable(tables, table).delete(id);
        });
        return plain(204, '');
      },
    },
  });
}

function resources(config: Config, ovn: OvnConnections | undefined): Collection[] {
  const active = { defaults: { status: 'ACTIVE' } };
  return [
    {
      path: 'networks',
      item: 'network',
      notifies: 'network.create.end',
      ...active,
      saving: (row, { schema }, before) => {
        Object.assign(row, networkOf(config, row));
        const port = before === undefined ? metadataPort(config, row) : undefined;
        if (port !== undefined) tableOf(schema, 'ports').set(String(port['id']), port);
      },
    },
    { path: 'subnets', item: 'subnet', ...active, saving: (row, use) => void networkIn(use, row) },
    {
      path: 'ports',
      item: 'port',
      defaults: { status: 'DOWN' },
      before: () => chassisOf(ovn),
      saving: (row, use) => {
        const network = networkIn(use, row);
        const host = row['binding:host_id'];
        if (typeof host !== 'string' || host === '') return;
        // ML2/OVN binds a port when a chassis has the very host name that Nova gives.
        const chassis = (use.known as readonly Row[]).find(({ hostname }) => hostname === host);
        row['binding:vif_type'] = canBind(chassis, network) ? 'ovs' : 'binding_failed';
      },
      made: async (row) => {
        if (ovn !== undefined) await createLogicalPort(await ovn.northbound(), row);
      },
    },
    { path: 'routers', item: 'router', ...active },
    { path: 'security-groups', item: 'security_group', table: 'securitygroups', ...active },
  ];
}

/** The network that something belongs to. @throws Fault */
function networkIn({ schema }: RowUse, { network_id: id }: Row): Row {
  const network = tableOf(schema, 'networks').get(String(id));
  if (network === undefined) throw new Fault(404, `Network ${String(id)} could not be found.`, 'NetworkNotFound');
  return network;
}

function chassisOf(ovn: OvnConnections | undefined): Promise<Row[]> {
  return rowsOf(ovn, 'Chassis');
}

async function rowsOf(ovn: OvnConnections | undefined, table: 'Chassis' | 'Chassis_Private'): Promise<Row[]> {
  return ovn === undefined ? [] : rowsIn(await ovn.southbound(), 'OVN_Southbound', table);
}

/** Whether the ovn-controller of a chassis is connected. */
function isBeating({ heartbeat }: Row): boolean {
  const { closed } = (heartbeat ?? {}) as { closed?: AbortSignal };
  return closed?.aborted === false;
}

const agentOf = ({ name, hostname }: Row, beats: readonly Row[]): Row => ({
  id: name,
  host: hostname,
  agent_type: 'OVN Controller agent',
  binary: 'ovn-controller',
  alive: beats.some((one) => one['name'] === name && isBeating(one)),
});
