import type { Connection } from '@openstack-operator/sandbox';
import type { Row } from '../../infrastructure/mysql-protocol.ts';
import { type OvsRow, ovsTable, transact } from '../../infrastructure/ovsdb.ts';
import { ask } from '../../infrastructure/wire.ts';
import { Fault } from '../../model/fault.ts';
import { httpError, KeystoneSession } from '../../oslo/keystone-session.ts';
import { openIdlForever } from '../../oslo/ovsdbapp.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause } from '../../program-support.ts';
import type { partsOf, Told } from './octavia-store.ts';

type Parts = ReturnType<typeof partsOf>;

/** Sockets of the driver agent. */
export const sockets = ['status', 'stats', 'get'] as const;

/** Where libraries of providers look for them, whatever the options say: /var/run is a link (octavia_lib.api.drivers.driver_lib). */
const socketOf = (name: (typeof sockets)[number]): string => `/run/octavia/${name}.sock`;

/** The provider ovn, in the API or in the agent. */
export interface OvnProvider {
  /** Makes the port of a load balancer. @throws Fault, PythonError */
  createPort(balancer: Row): Promise<Row>;
  /** Writes a load balancer, or removes it with its port. @throws PythonError */
  write(balancer: Row, parts: Parts | undefined): Promise<void>;
  /** Tells the agent. @throws SystemError */
  tell(told: Told): Promise<void>;
}

/** What loading it does: the agent's sockets have to be there, then OVN (ovn_octavia_provider.helper). @throws PythonError */
export async function openProvider(context: ServiceContext): Promise<OvnProvider> {
  const { process, config } = context;
  for (const path of sockets.map(socketOf)) await awaitSocket(context, path);
  const remotes = config.text('ovn', 'ovn_nb_connection');
  let northbound = await openIdlForever(context, remotes, 'OVN_Northbound');
  const connected = async (): Promise<Connection> => {
    if (northbound.closed.aborted) northbound = await openIdlForever(context, remotes, 'OVN_Northbound');
    return northbound;
  };
  const session = new KeystoneSession(process, config, 'neutron');
  // The SDK is told no interface: without the override it asks the public endpoint (ovn_octavia_provider.common.clients).
  const neutron = async (method: string, path: string, body?: unknown) => {
    const override = config.optional('neutron', 'endpoint_override');
    const base = await session.endpoint({ type: 'network', interfaces: ['public'], region: undefined, override });
    const reply = await session.request(method, `${base}/v2.0${path}`, body);
    if (reply.status >= 400 && reply.status !== 404) throw httpError(reply, 'octavia');
    return JSON.parse(reply.body || '{}') as Readonly<Record<string, Row | undefined>>;
  };
  return {
    createPort: async ({ id, project_id, vip_subnet_id: subnet, vip_network_id: stated, vip_address: address }) => {
      const network = stated ?? (await neutron('GET', `/subnets/${String(subnet)}`))['subnet']?.['network_id'];
      if (network === undefined) throw new Fault(400, `Subnet ${String(subnet)} not found.`);
      if (address === undefined) throw new Fault(501, 'no model gives ports addresses: state vip_address');
      const name = `ovn-lb-vip-${String(id)}`;
      const fixed = [{ subnet_id: subnet, ip_address: address }];
      const { port } = await neutron('POST', '/ports', {
        port: { name, network_id: network, fixed_ips: fixed, admin_state_up: true, project_id },
      });
      if (port === undefined) throw new Fault(404, 'Network not found.');
      return { vip_port_id: port['id'], vip_network_id: network };
    },
    write: async (balancer, parts) => {
      const id = String(balancer['id']);
      await transact(await connected(), 'OVN_Northbound', (tables) => {
        const rows = ovsTable(tables, 'Load_Balancer');
        if (parts === undefined) rows.delete(id);
        else rows.set(id, rowOf(balancer, parts));
      });
      if (parts === undefined) await neutron('DELETE', `/ports/${String(balancer['vip_port_id'])}`);
    },
    tell: async (told) => {
      const connection = await process.network.connectUnix(socketOf('status'), 'octavia-driver');
      await ask(connection, told).finally(() => connection.close());
    },
  };
}

/** @throws PythonError DriverAgentNotFound after 30 attempts, with 1, 2, 4, 5, 5, ... s in between */
async function awaitSocket({ process }: ServiceContext, path: string): Promise<void> {
  for (let attempt = 0; !process.files.exists(path); attempt += 1) {
    if (attempt < 29 && (await pause(process, Math.min(5, 2 ** attempt) * 1000))) continue;
    const type = 'octavia_lib.api.drivers.exceptions.DriverAgentNotFound';
    throw new PythonError(type, `Unable to open the driver agent socket: ${path}`);
  }
}

/** The row of a load balancer (ovn_octavia_provider.helper, `_frame_vip_ips`). */
function rowOf({ id, vip_address: vip, vip_port_id: port }: Row, { listeners, pools, members }: Parts): OvsRow {
  const addressOf = (row: Row, address: unknown) => `${String(address)}:${String(row['protocol_port'])}`;
  const vips = listeners.map((listener) => {
    const ids = pools.filter((pool) => pool['listener_id'] === listener['id']).map((pool) => pool['id']);
    const behind = members.filter((member) => ids.includes(member['pool_id']));
    return [addressOf(listener, vip), behind.map((member) => addressOf(member, member['address'])).join(',')] as const;
  });
  return {
    name: id,
    vips: Object.fromEntries(vips.filter(([, behind]) => behind !== '')),
    external_ids: { 'neutron:vip': vip, 'neutron:vip_port_id': port },
  };
}
