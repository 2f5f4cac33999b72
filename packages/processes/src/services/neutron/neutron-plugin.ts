import type { Connection } from '@openstack-operator/sandbox';
import { attempt } from '../../attempt.ts';
import type { OvsDatabase } from '../../infrastructure/ovsdb.ts';
import { Database } from '../../oslo/database.ts';
import { certificatesFor, openIdlForever } from '../../oslo/ovsdbapp.ts';
import { demandTables } from '../../oslo/project-database.ts';
import { PythonError, SystemExit } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';

/** Connections to OVN's databases: opened again when they were lost. */
export interface OvnConnections {
  northbound(): Promise<Connection>;
  southbound(): Promise<Connection>;
}

const servicePlugins = new Set(
  'ovn-router router metering qos segments trunk port_forwarding network_segment_range placement log dns vpnaas flavors auto_allocate revisions network_ip_availability loki ndp_proxy local_ip conntrack_helper tag timestamp bgp taas sfc'.split(
    ' ',
  ),
);
const mechanismDrivers = new Set(
  'ovn openvswitch l2population sriovnicswitch baremetal macvtap logger ovn-sync baremetal-l2vni'.split(' '),
);
const typeDrivers = new Set('local flat vlan gre vxlan geneve'.split(' '));
const extensionDrivers = new Set(
  'port_security qos dns dns_domain_ports dns_domain_keywords uplink_status_propagation port_numa_affinity_policy data_plane_status port_hints'.split(
    ' ',
  ),
);

/**
 * Loads the core plugin as every Neutron server does: type drivers sync with the database when they are made. Told whether
 * it uses OVN.
 * @throws PythonError, SystemExit with the words of neutron.manager and neutron.plugins.ml2.managers
 */
export async function loadPlugin(context: ServiceContext): Promise<boolean> {
  const { config, log } = context;
  const core = config.text('DEFAULT', 'core_plugin');
  if (core === '') throw new PythonError('Exception', 'Neutron core_plugin not configured!');
  const missingPlugin = (name: string): never => {
    log.error('neutron.manager', `Plugin '${name}' not found.`);
    throw new PythonError('ImportError', `Class not found.`);
  };
  if (!['ml2', 'neutron.plugins.ml2.plugin.Ml2Plugin'].includes(core)) missingPlugin(core);
  const managers = 'neutron.plugins.ml2.managers';
  const end = (logger: string, text: string, said = ''): never => {
    log.error(logger, text);
    throw new SystemExit(1, said);
  };
  const types = config.list('ml2', 'type_drivers').filter((name) => typeDrivers.has(name));
  const tenant = config.list('ml2', 'tenant_network_types').find((name) => !types.includes(name));
  if (tenant !== undefined) end(managers, `No type driver for tenant network_type: ${tenant}. Service terminated!`);
  const mechanisms = config.list('ml2', 'mechanism_drivers');
  const absent = [...mechanisms, ...config.list('ml2', 'extension_drivers')].find(
    (name) => !mechanismDrivers.has(name) && !extensionDrivers.has(name),
  );
  if (absent !== undefined && mechanisms.includes(absent)) {
    const text = `The following mechanism drivers were not found: {'${absent}'}`;
    end(managers, text, text);
  }
  const usesOvn = mechanisms.includes('ovn');
  const header = config.integer('ml2_type_geneve', 'max_header_size');
  if (usesOvn && types.includes('geneve') && header < 38)
    end(
      'neutron.plugins.ml2.drivers.ovn.mech_driver.mech_driver',
      `Geneve max_header_size set too low for OVN (${header} vs 38)`,
    );
  await new Database(context).transaction('INSERT', (schema) =>
    demandTables(schema, 'ml2_geneve_allocations networks ports ovn_hash_ring agents'),
  );
  // Whether agents are told of changes.
  config.text('DEFAULT', 'rpc_workers');
  const unknown = config.list('DEFAULT', 'service_plugins').find((name) => !servicePlugins.has(name));
  if (unknown !== undefined) missingPlugin(unknown);
  config.text('ovn', 'neutron_sync_mode');
  config.text('ovn', 'ovn_l3_scheduler');
  return usesOvn;
}

/** Runs the start of a server: `ERROR: ...` and status 1 for a RuntimeError (neutron.server.boot_server). @throws SystemExit */
export async function booted<T>(start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    if (error instanceof PythonError && error.type === 'RuntimeError')
      throw new SystemExit(1, `ERROR: ${error.message}`);
    throw error;
  }
}

/** What happens before an API server serves: the drop group is made with `ovsdb-client`. @throws PythonError CallbackFailure */
export async function createDropGroup({ process, config, log }: ServiceContext): Promise<void> {
  const callback =
    'neutron.plugins.ml2.drivers.ovn.mech_driver.mech_driver.OVNMechanismDriver.pre_fork_initialize-823712';
  const fail = (reason: string): never => {
    log.error(
      'neutron_lib.callbacks.manager',
      `Error during notification for ${callback} process, before_spawn: ${reason}`,
    );
    throw new PythonError(
      'neutron_lib.callbacks.exceptions.CallbackFailure',
      `Callback ${callback} failed with "${reason}"`,
    );
  };
  const remotes = attempt(
    PythonError,
    () => config.text('ovn', 'ovn_nb_connection'),
    ({ message }) => fail(message),
  );
  let output = '';
  let complaint = '';
  const { key, certificate, authority } = certificatesFor(config, remotes, 'OVN_Northbound') ?? {};
  const shown = key === undefined ? [] : ['-p', key, '-c', certificate ?? '', '-C', authority ?? ''];
  const status = await process.run(['ovsdb-client', ...shown, 'list-dbs', remotes], {
    stdout: (text) => (output += text),
    stderr: (text) => (complaint += text),
  });
  const isNorthbound = output.split('\n').includes('OVN_Northbound');
  if (status === 0 && isNorthbound) return;
  fail(
    status === 127
      ? "[Errno 2] No such file or directory: 'ovsdb-client'"
      : `Unexpected error while running command.\nCommand: ovsdb-client transact ${remotes} --timeout 180 ["OVN_Northbound", ...]\nExit code: 1\nStdout: ''\nStderr: '${status === 0 ? 'ovsdb-client: transact returned error: {"details":"get_schema request specifies unknown database OVN_Northbound","error":"unknown database"}' : complaint.trim()}'`,
  );
}

/** Connections of one worker; tried for ever. `worker` is the class that asks, as the log shows it. */
export async function openOvn(context: ServiceContext, worker: string): Promise<OvnConnections> {
  const { config, log } = context;
  const open = async (side: 'Nb' | 'Sb', database: OvsDatabase['name']): Promise<() => Promise<Connection>> => {
    const logger = 'neutron.plugins.ml2.drivers.ovn.mech_driver.ovsdb.impl_idl_ovn';
    log.info(logger, `Getting Ovsdb${side}OvnIdl for ${worker} with retry`);
    const remotes = config.text('ovn', `ovn_${side.toLowerCase()}_connection`);
    const connect = (): Promise<Connection> => openIdlForever(context, remotes, database);
    let connection = await connect();
    return async () => {
      if (connection.closed.aborted) connection = await connect();
      return connection;
    };
  };
  return { northbound: await open('Nb', 'OVN_Northbound'), southbound: await open('Sb', 'OVN_Southbound') };
}
