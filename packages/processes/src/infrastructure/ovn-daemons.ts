import { type AbortScope, abortScope } from '@openstack-operator/kube';
import { type Connection, type Process, type Program, SystemError } from '@openstack-operator/sandbox';
import { CommandError, commandWith, nameOf, pause } from '../program-support.ts';
import { startTimes } from '../start-times.ts';
import { daemonOptions, openDaemon, ovsLog } from './ovs-daemon.ts';
import { interfaceError } from './ovs-interfaces.ts';
import {
  connectOvsdb,
  followDatabase,
  localSettings,
  mapOf,
  type OvsRow,
  ovsDatabases,
  ovsTable,
  parseRemotes,
  requestTakeover,
  rootRow,
  rowsIn,
  transact,
} from './ovsdb.ts';
import { certificatesOf, type OvsCertificates } from './ovsdb-tls.ts';
import { ask } from './wire.ts';

/** `ovs-vswitchd`: takes over what the database says. Datapaths need a privileged container, guests' taps the node's network. */
const ovsVswitchd: Program = commandWith(daemonOptions, async (process, line) => {
  const log = ovsLog(process);
  const remotes = line.operands[0] ?? 'unix:/run/openvswitch/db.sock';
  parseRemotes(remotes);
  const control = openDaemon(process, line, {
    directory: '/run/openvswitch',
    answers: { version: () => 'ovs-vswitchd (Open vSwitch) 3.5.0' },
  });
  await pause(process, startTimes.ovnDaemon);
  await followDatabase(process, {
    remotes,
    database: 'Open_vSwitch',
    log,
    changed: (connection) =>
      transact(connection, 'Open_vSwitch', (database) => {
        const root = rootRow(database);
        for (const [name, bridge] of ovsTable(database, 'Bridge')) {
          if (bridge['ready'] === process.privileged) continue;
          bridge['ready'] = process.privileged;
          log(
            process.privileged
              ? `bridge|INFO|bridge ${name}: using datapath ID 0000`
              : `dpif|WARN|failed to create datapath ovs-system: Operation not permitted`,
          );
        }
        for (const [name, row] of ovsTable(database, 'Interface')) {
          const error = interfaceError(process, name, row);
          if (row['ofport'] !== undefined && row['error'] === error) continue;
          row['ofport'] = error === undefined ? 1 : -1;
          if (error === undefined) delete row['error'];
          else row['error'] = error;
          if (error !== undefined) log(`bridge|WARN|${error}`);
        }
        if (process.privileged) root['cur_cfg'] = root['next_cfg'] ?? 0;
      }),
  });
  control.close();
  return 0;
});

/** `ovn-northd`: joins the two databases; waits for both. */
const ovnNorthd: Program = commandWith(daemonOptions, async (process, line) => {
  const log = ovsLog(process);
  const north = line.value('ovnnb-db') ?? process.env['OVN_NB_DB'] ?? ovsDatabases.OVN_Northbound.socket;
  const south = line.value('ovnsb-db') ?? process.env['OVN_SB_DB'] ?? ovsDatabases.OVN_Southbound.socket;
  const statusOf = (connection: Connection | undefined) =>
    connection === undefined || connection.closed.aborted ? 'not connected' : 'connected';
  const answers: Readonly<Record<string, () => string>> = {
    version: () => 'ovn-northd 25.03.0',
    status: () => 'Status: active',
    'nb-connection-status': () => statusOf(northbound),
    'sb-connection-status': () => statusOf(southbound),
  };
  const control = openDaemon(process, line, { directory: '/run/ovn', answers });
  const certificates = certificatesOf(line);
  let nbConfig = 0;
  let ports: OvsRow[] = [];
  let northbound: Connection | undefined;
  let southbound: Connection | undefined;
  const publish = async (): Promise<void> => {
    if (southbound === undefined || southbound.closed.aborted) return;
    await transact(southbound, 'OVN_Southbound', (database) => {
      Object.assign(rootRow(database), { nb_cfg: nbConfig, northd: 'active' });
      // Every logical port gets a binding, which keeps what its chassis says of it.
      const bindings = ovsTable(database, 'Port_Binding');
      const names = new Set(ports.map((port) => String(port['name'])));
      for (const name of bindings.keys()) if (!names.has(name)) bindings.delete(name);
      for (const port of ports) {
        const name = String(port['name']);
        bindings.set(name, { ...bindings.get(name), logical_port: name, external_ids: mapOf(port, 'external_ids') });
      }
    });
  };
  await Promise.all([
    followDatabase(process, {
      remotes: north,
      certificates,
      database: 'OVN_Northbound',
      log,
      changed: async (connection) => {
        northbound = connection;
        nbConfig = await transact(connection, 'OVN_Northbound', (database) => Number(rootRow(database)['nb_cfg'] ?? 0));
        ports = await rowsIn(connection, 'OVN_Northbound', 'Logical_Switch_Port');
        await publish();
      },
    }),
    followDatabase(process, {
      remotes: south,
      certificates,
      database: 'OVN_Southbound',
      log,
      changed: async (connection) => {
        if (southbound !== connection)
          log('ovn_northd|INFO|ovn-northd lock acquired. This ovn-northd instance is now active.');
        southbound = connection;
        await publish();
      },
    }),
  ]);
  control.close();
  return 0;
});

/** `ovn-controller`: registers its chassis in the southbound database as the local Open_vSwitch row says. */
const ovnController: Program = commandWith(daemonOptions, async (process, line) => {
  const log = ovsLog(process);
  const local = line.operands[0] ?? 'unix:/run/openvswitch/db.sock';
  parseRemotes(local);
  let status = 'not connected';
  const control = openDaemon(process, line, {
    directory: '/run/ovn',
    answers: { 'connection-status': () => status, version: () => 'ovn-controller 25.03.0' },
  });
  let session: { remote: string; scope: AbortScope } | undefined;
  const interfaces: Interfaces = { ids: new Set(), claim: () => Promise.resolve() };
  await followDatabase(process, {
    remotes: local,
    database: 'Open_vSwitch',
    log,
    changed: async (connection) => {
      const settings = await localSettings(connection);
      const [{ cur_cfg: taken } = {}] = await rowsIn(connection, 'Open_vSwitch', 'Open_vSwitch');
      // Without a switch there is nobody who could have given an interface a number.
      const usable = (await rowsIn(connection, 'Open_vSwitch', 'Interface')).filter(
        ({ ofport }) => Number(ofport ?? -1) > 0 || taken === undefined,
      );
      interfaces.ids = new Set(usable.flatMap((row) => mapOf(row, 'external_ids')['iface-id'] ?? []));
      await interfaces.claim();
      const chassis = chassisOf(process, settings, log);
      if (chassis === undefined) return;
      await transact(connection, 'Open_vSwitch', (database) => {
        const name = settings['ovn-bridge'] ?? 'br-int';
        const bridges = ovsTable(database, 'Bridge');
        if (bridges.has(name)) return;
        bridges.set(name, {
          name,
          fail_mode: 'secure',
          datapath_type: settings['ovn-bridge-datapath-type'] ?? '',
          external_ids: {},
          other_config: {},
        });
        requestTakeover(database);
      });
      const remote = settings['ovn-remote'] as string;
      const key = `${remote} ${JSON.stringify(chassis)}`;
      if (session?.remote === key) return;
      session?.scope.abort();
      const scope = abortScope({ parents: [process.signal] });
      session = { remote: key, scope };
      void southbound({
        process,
        remotes: remote,
        chassis,
        interfaces,
        signal: scope.signal,
        log,
        certificates: await switchCertificates(connection),
        report: (text) => (status = text),
      });
    },
  });
  control.close();
  return 0;
});

/** Interfaces of this host that carry a logical port, and how their ports are claimed. */
interface Interfaces {
  ids: ReadonlySet<string>;
  claim: () => Promise<void>;
}

/** With what it comes to the southbound database: as the local Open vSwitch says (`ovs-vsctl set-ssl`). */
async function switchCertificates(connection: Connection): Promise<OvsCertificates> {
  const [{ private_key: key, certificate, ca_cert: authority } = {}] = (await rowsIn(
    connection,
    'Open_vSwitch',
    'SSL',
  )) as readonly Readonly<Record<string, string | undefined>>[];
  return { certificate, key, authority };
}

interface Chassis extends OvsRow {
  readonly name: string;
}

/** What the chassis says of itself; undefined while a setting is missing (the daemon waits). */
function chassisOf(
  process: Process,
  settings: Readonly<Record<string, string>>,
  log: (text: string) => void,
): Chassis | undefined {
  const id = settings['system-id'];
  const type = settings['ovn-encap-type'];
  const address = settings['ovn-encap-ip'];
  if (settings['ovn-remote'] === undefined) log('main|INFO|OVN OVSDB remote not specified.  Waiting...');
  else if (id === undefined || id === '') log("chassis|WARN|'system-id' in Open_vSwitch database is missing.");
  else if (type === undefined || address === undefined || address === '')
    log('chassis|INFO|Need to specify an encap type and ip');
  else {
    return {
      name: id,
      hostname: settings['hostname'] ?? process.pod.hostname,
      encaps: type.split(',').map((kind) => `${kind}:${address}`),
      other_config: {
        'ovn-bridge-mappings': settings['ovn-bridge-mappings'] ?? '',
        'ovn-cms-options': settings['ovn-cms-options'] ?? '',
      },
    };
  }
  return undefined;
}

async function southbound({
  process,
  remotes,
  chassis,
  interfaces,
  signal,
  log,
  certificates,
  report,
}: {
  readonly process: Process;
  readonly remotes: string;
  readonly chassis: Chassis;
  readonly interfaces: Interfaces;
  readonly signal: AbortSignal;
  readonly log: (text: string) => void;
  readonly certificates: OvsCertificates;
  readonly report: (status: string) => void;
}): Promise<void> {
  try {
    parseRemotes(remotes);
  } catch (error) {
    log(`stream|ERR|${(error as Error).message}`);
    return;
  }
  const scoped: Process = new Proxy(process, {
    get: (target, key) => (key === 'signal' ? signal : (target[key as keyof Process] as unknown)),
  });
  let known: Connection | undefined;
  await followDatabase(scoped, {
    remotes,
    certificates,
    database: 'OVN_Southbound',
    log,
    changed: async (connection) => {
      report('connected');
      if (connection !== known) connection.closed.addEventListener('abort', () => report('not connected'));
      known = connection;
      interfaces.claim = () => claimPorts(connection, chassis.name, interfaces.ids);
      await transact(connection, 'OVN_Southbound', (database) => {
        const table = ovsTable(database, 'Chassis');
        const twin = [...table.values()].find(
          (row) => row['name'] !== chassis.name && JSON.stringify(row['encaps']) === JSON.stringify(chassis['encaps']),
        );
        if (twin !== undefined) {
          log(
            `chassis|WARN|transaction failed: {"details":"Transaction causes multiple rows in \\"Encap\\" table to have identical values (${String(chassis['encaps'])}) for index on columns \\"type\\" and \\"ip\\"."}`,
          );
          return;
        }
        const own = ovsTable(database, 'Chassis_Private');
        // Heartbeats by nb_cfg are not modelled: they go on for as long as it is connected.
        const heartbeat = { closed: connection.closed };
        if (JSON.stringify(table.get(chassis.name)) === JSON.stringify(chassis)) {
          Object.assign(own.get(chassis.name) ?? {}, { heartbeat });
          return;
        }
        table.set(chassis.name, { ...chassis });
        own.set(chassis.name, { name: chassis.name, nb_cfg: 0, heartbeat });
        log(`chassis|INFO|Claimed chassis ${chassis.name}`);
      });
      await interfaces.claim();
    },
  });
  report('not connected');
}

/** Ports whose interface is on this host become this chassis's. */
async function claimPorts(connection: Connection, chassis: string, ids: ReadonlySet<string>): Promise<void> {
  if (connection.closed.aborted) return;
  await transact(connection, 'OVN_Southbound', (database) => {
    for (const [name, row] of ovsTable(database, 'Port_Binding')) {
      if (!ids.has(name) || (row['chassis'] === chassis && row['up'] === true)) continue;
      row['chassis'] = chassis;
      row['up'] = true;
    }
  });
}

/** `ovs-appctl`, `ovn-appctl`: ask a daemon over its control socket. */
const appctl = (directory: string): Program =>
  commandWith({ values: 't|target T|timeout', stopAtOperand: true }, async (process, line) => {
    const target = line.value('target') ?? 'ovs-vswitchd';
    const text = line.operands.join(' ');
    let socket = target;
    if (!target.startsWith('/')) {
      const pidfile = `${directory}/${target}.pid`;
      if (!process.files.exists(pidfile))
        throw new CommandError(`${nameOf(process)}: cannot read pidfile "${pidfile}" (No such file or directory)`);
      socket = `${directory}/${target}.${process.files.read(pidfile).trim()}.ctl`;
    }
    try {
      const connection = await connectOvsdb(process, `unix:${socket}`);
      process.stdout(`${await ask<string>(connection, { type: 'control', command: text })}\n`);
      connection.close();
      return 0;
    } catch (error) {
      if (error instanceof CommandError)
        throw new CommandError(`${error.message}\n${nameOf(process)}: ${socket}: server returned an error`, 2);
      if (!(error instanceof SystemError)) throw error;
      throw new CommandError(`${nameOf(process)}: cannot connect to "${socket}" (${error.reason})`);
    }
  });

/** Daemons of Open vSwitch and OVN, and their control commands. */
export const ovnDaemons: Readonly<Record<string, Program>> = {
  'ovs-vswitchd': ovsVswitchd,
  'ovn-northd': ovnNorthd,
  'ovn-controller': ovnController,
  'ovs-appctl': appctl('/run/openvswitch'),
  'ovn-appctl': appctl('/run/ovn'),
};
