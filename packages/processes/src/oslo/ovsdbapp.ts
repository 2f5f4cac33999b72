import { isIP } from 'node:net';
import { type Connection, type Process, SystemError } from '@openstack-operator/sandbox';
import { connectOvsdb, type OvsDatabase, parseRemotes } from '../infrastructure/ovsdb.ts';
import type { OvsCertificates } from '../infrastructure/ovsdb-tls.ts';
import { ask } from '../infrastructure/wire.ts';
import { CommandError, pause } from '../program-support.ts';
import type { Log } from './log.ts';
import { PythonError, SystemExit } from './python-error.ts';
import type { ServiceContext } from './service-context.ts';

const logger = 'ovsdbapp.backend.ovs_idl.idlutils';

/**
 * Connects python-ovs to a database, as fetching its schema does (ovsdbapp, fetch_schema_json).
 * @throws PythonError `Could not retrieve schema from ...`
 */
export async function openIdl(
  { process, log, config }: Pick<ServiceContext, 'process' | 'log' | 'config'>,
  remotes: string,
  database: OvsDatabase['name'],
): Promise<Connection> {
  try {
    demandAddresses(process, log, remotes);
    const connection = await connectOvsdb(process, remotes, certificatesFor(config, remotes, database));
    if ((await ask<string[]>(connection, { type: 'list' })).includes(database)) return connection;
    connection.close();
    log.error(logger, `TRXN error, failed to retrieve schema from ${remotes}: {'error': 'unknown database'}`);
  } catch (error) {
    if (error instanceof CommandError) throw new PythonError('ValueError', error.message);
    if (!(error instanceof SystemError)) throw error;
    const reason = error.code === 'ENOTFOUND' ? 'No address associated with hostname' : error.reason;
    log.error(logger, `Unable to open stream to ${remotes} to retrieve schema: ${reason}`);
  }
  throw new PythonError('Exception', `Could not retrieve schema from ${remotes}`);
}

/** What the options of a service say of the connections to a database of OVN; undefined for those in the clear. */
export function certificatesFor(
  config: ServiceContext['config'],
  remotes: string,
  database: OvsDatabase['name'],
): OvsCertificates | undefined {
  if (!remotes.includes('ssl:')) return undefined;
  const file = (option: string) =>
    config.optional('ovn', `ovn_${database === 'OVN_Northbound' ? 'nb' : 'sb'}_${option}`);
  return { certificate: file('certificate'), key: file('private_key'), authority: file('ca_cert') };
}

/** Where Debian's python3-unbound puts its module; Kolla's images have none. */
export const unboundModule = '/usr/lib/python3/dist-packages/unbound.py';

/**
 * Without the module `unbound` python-ovs resolves no name at all, not even one of /etc/hosts (ovs.dns_resolve, seen with
 * 3.5.0). @throws SystemError ECONNREFUSED
 */
function demandAddresses({ files }: Process, log: Log, remotes: string): void {
  const hosts = parseRemotes(remotes).flatMap(({ host }) => host ?? []);
  if (files.exists(unboundModule) || hosts.length === 0 || hosts.some((host) => isIP(host) !== 0)) return;
  log.error('ovsdbapp.backend.ovs_idl.vlog', 'DNS support requires the python unbound library');
  throw new SystemError('ECONNREFUSED', 'Connection refused');
}

/**
 * Tries for ever, with 1, 2, 4, ... seconds in between: 180 at most (neutron's get_ovn_idls), or as `longest` says.
 * @throws SystemExit on SIGTERM
 */
export async function openIdlForever(
  context: ServiceContext,
  remotes: string,
  database: OvsDatabase['name'],
  longest = 180,
): Promise<Connection> {
  for (let wait = 1; ; wait = Math.min(longest, wait * 2)) {
    try {
      return await openIdl(context, remotes, database);
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
    }
    if (!(await pause(context.process, wait * 1000))) throw new SystemExit(0);
  }
}
