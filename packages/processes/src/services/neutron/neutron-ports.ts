import type { Connection } from '@openstack-operator/sandbox';
import { type Row, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { followDatabase, ovsTable, rowsIn, transact } from '../../infrastructure/ovsdb.ts';
import { Database } from '../../oslo/database.ts';
import { KeystoneSession } from '../../oslo/keystone-session.ts';
import { certificatesFor } from '../../oslo/ovsdbapp.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { textOf } from './neutron-networks.ts';

/** Writes a port into the northbound database; northd makes a port binding of it. */
export function createLogicalPort(northbound: Connection, port: Row): Promise<void> {
  return transact(northbound, 'OVN_Northbound', (tables) => {
    const id = String(port['id']);
    ovsTable(tables, 'Logical_Switch_Port').set(id, {
      name: id,
      external_ids: {
        'neutron:device_id': textOf(port['device_id']) ?? '',
        'neutron:project_id': textOf(port['project_id']) ?? '',
        'neutron:network_name': `neutron-${textOf(port['network_id']) ?? ''}`,
      },
    });
  });
}

/** Follows the southbound database: a port that a chassis has claimed is ACTIVE, and Nova is told. */
export function followPorts(context: ServiceContext): void {
  const { process, config } = context;
  const database = new Database(context);
  const active = new Set<string>();
  const remotes = config.text('ovn', 'ovn_sb_connection');
  const certificates = certificatesFor(config, remotes, 'OVN_Southbound');
  void followDatabase(process, {
    remotes,
    ...(certificates !== undefined && { certificates }),
    database: 'OVN_Southbound',
    log: () => undefined,
    changed: async (connection) => {
      const bindings = await rowsIn(connection, 'OVN_Southbound', 'Port_Binding');
      const up = bindings.filter((row) => row['up'] === true).map((row) => String(row['logical_port']));
      for (const id of up.filter((one) => !active.has(one))) {
        active.add(id);
        await activate(context, database, id);
      }
    },
  });
}

async function activate(context: ServiceContext, database: Database, id: string): Promise<void> {
  const { config, log } = context;
  try {
    const port = await database.transaction('UPDATE', (schema) => {
      const row = tableOf(schema, 'ports').get(id);
      if (row === undefined || row['status'] === 'ACTIVE') return undefined;
      row['status'] = 'ACTIVE';
      return { ...row };
    });
    if (port === undefined) return;
    if (!config.boolean('DEFAULT', 'notify_nova_on_port_status_changes')) return;
    if (String(port['device_owner']).startsWith('compute:')) await notifyNova(context, port);
  } catch (error) {
    if (!(error instanceof PythonError)) throw error;
    log.exception('neutron.notifiers.nova', `Failed to notify nova on events: ${id}`, error);
  }
}

/** neutron.notifiers.nova: with the user of `[nova]`; a failure is only logged. */
async function notifyNova({ process, config, log }: ServiceContext, port: Row): Promise<void> {
  const session = new KeystoneSession(process, config, 'nova');
  const base = await session.endpoint({
    type: 'compute',
    interfaces: [config.text('nova', 'endpoint_type').replace(/URL$/, '')],
    region: config.optional('nova', 'region_name'),
  });
  const event = {
    name: 'network-vif-plugged',
    server_uuid: port['device_id'],
    status: 'completed',
    tag: port['id'],
  };
  const reply = await session.request('POST', `${base}/os-server-external-events`, { events: [event] });
  if (reply.status === 404)
    log.debug('neutron.notifiers.nova', `Nova returned NotFound for event: ${JSON.stringify(event)}`);
  else if (reply.status >= 400)
    log.error('neutron.notifiers.nova', `Error response returned from nova: ${reply.body ?? ''}`);
}
