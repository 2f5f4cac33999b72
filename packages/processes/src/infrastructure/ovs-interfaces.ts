import type { Connection, Process } from '@openstack-operator/sandbox';
import { CommandError } from '../program-support.ts';
import { mapOf, type OvsDatabase, type OvsRow, ovsTable, transact } from './ovsdb.ts';

/** Bridges and ports share their names (utilities/ovs-vsctl.c, check_conflicts). Throws what `words` begin. */
export function refuseTaken(words: string, database: OvsDatabase, name: string): void {
  if (ovsTable(database, 'Bridge').has(name)) {
    throw new CommandError(`${words} because a bridge named ${name} already exists`);
  }
  const port = ovsTable(database, 'Port').get(name);
  if (port !== undefined) {
    throw new CommandError(`${words} because a port named ${name} already exists on bridge ${String(port['bridge'])}`);
  }
}

/** Why the switch cannot use an interface (lib/netdev.c, vswitchd/bridge.c). A guest's comes and goes with its guest. */
export function interfaceError(process: Process, name: string, row: OvsRow): string | undefined {
  const isGuests = mapOf(row, 'external_ids')['iface-id'] !== undefined;
  const isThere = process.pod.hostNetwork && (isGuests || process.files.exists(`/sys/class/net/${name}`));
  if (!isThere) return `could not open network device ${name} (No such device)`;
  return name === 'lo' ? `could not add network device ${name} to ofproto (Invalid argument)` : undefined;
}

/** What ovs-vsctl says of interfaces that it has added and the switch cannot open (utilities/ovs-vsctl.c); it succeeds. */
export async function refusals(connection: Connection, made: readonly string[]): Promise<string[]> {
  const lines = await transact(connection, 'Open_vSwitch', (database) =>
    made.flatMap((name) => {
      const { ofport, error } = ovsTable(database, 'Interface').get(name) ?? {};
      const why = typeof error === 'string' ? `: ${error}` : '';
      return ofport === -1
        ? [`Error detected while setting up '${name}'${why}.  See ovs-vswitchd log for details.`]
        : [];
    }),
  );
  return lines.length === 0 ? [] : [...lines, 'The default log directory is "/var/log/openvswitch".'];
}
