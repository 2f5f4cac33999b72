import { type Connection, type Process, SystemError } from '@openstack-operator/sandbox';
import { connectOvsdb, type OvsDatabase, type OvsdbReply } from '../infrastructure/ovsdb.ts';
import type { Log } from '../oslo/log.ts';
import { PythonError, SystemExit } from '../oslo/python-error.ts';
import { CommandError, pause, reasonOf } from '../program-support.ts';

/**
 * Connects python-ovs to a database: tried every second up to ovsdb_connection_timeout.
 * @throws PythonError OvsdbConnectionUnavailable, SystemExit on SIGTERM
 */
export async function connectIdl(
  process: Process,
  log: Log,
  remotes: string,
  database: OvsDatabase['name'],
  timeout: number,
): Promise<Connection> {
  let reason = 'Could not retrieve schema';
  for (let waited = 0; waited < timeout; waited += 1) {
    try {
      const connection = await connectOvsdb(process, remotes);
      const { value = [] } = (await connection.call({ type: 'list' })) as OvsdbReply & { ok: true; value?: string[] };
      if (value.includes(database)) return connection;
      connection.close();
      reason = `Could not retrieve schema from ${remotes}: Invalid argument`;
    } catch (error) {
      if (error instanceof CommandError) throw new PythonError('ValueError', `bad peer name format: ${remotes}`);
      if (!(error instanceof SystemError)) throw error;
      const text = error.code === 'ENOTFOUND' ? 'No address associated with hostname' : reasonOf(error);
      log.error('ovsdbapp.backend.ovs_idl.vlog', `${remotes}: connection attempt failed (${text})`);
      reason = `Could not retrieve schema from ${remotes}: ${text}`;
    }
    if (!(await pause(process, 1000))) throw new SystemExit(0);
  }
  throw new PythonError(
    'neutron.common.ovn.exceptions.OvsdbConnectionUnavailable',
    `OVS database connection to ${database} failed with error: '${reason}'. Verify that the OVS and OVN services are available and that the 'ovn_nb_connection' and 'ovn_sb_connection' configuration options are correct.`,
  );
}
