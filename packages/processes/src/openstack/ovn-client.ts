import { type Connection, type Process, SystemError } from '@openstack-operator/sandbox';
import { connectOvsdb, type OvsDatabase, type OvsdbReply } from '../infrastructure/ovsdb.ts';
import type { Log } from '../oslo/log.ts';
import { PythonError, SystemExit } from '../oslo/python-error.ts';
import { CommandError, pause, reasonOf } from '../program-support.ts';

const logger = 'ovsdbapp.backend.ovs_idl.idlutils';

/**
 * Connects python-ovs to a database, as fetching its schema does (ovsdbapp, fetch_schema_json).
 * @throws PythonError `Could not retrieve schema from ...`
 */
export async function openIdl(
  process: Process,
  log: Log,
  remotes: string,
  database: OvsDatabase['name'],
): Promise<Connection> {
  try {
    const connection = await connectOvsdb(process, remotes);
    const { value = [] } = (await connection.call({ type: 'list' })) as OvsdbReply & { ok: true; value?: string[] };
    if (value.includes(database)) return connection;
    connection.close();
    log.error(logger, `TRXN error, failed to retrieve schema from ${remotes}: {'error': 'unknown database'}`);
  } catch (error) {
    if (error instanceof CommandError) {
      throw new PythonError('ValueError', error.message);
    }
    if (!(error instanceof SystemError)) throw error;
    const reason = error.code === 'ENOTFOUND' ? 'No address associated with hostname' : reasonOf(error);
    log.error(logger, `Unable to open stream to ${remotes} to retrieve schema: ${reason}`);
  }
  throw new PythonError('Exception', `Could not retrieve schema from ${remotes}`);
}

/**
 * Tries for ever, with 1, 2, 4, ... seconds in between, 180 at most (neutron's get_ovn_idls).
 * @throws SystemExit on SIGTERM
 */
export async function openIdlForever(
  process: Process,
  log: Log,
  remotes: string,
  database: OvsDatabase['name'],
): Promise<Connection> {
  for (let wait = 1; ; wait = Math.min(180, wait * 2)) {
    try {
      return await openIdl(process, log, remotes, database);
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
    }
    if (!(await pause(process, wait * 1000))) throw new SystemExit(0);
  }
}
