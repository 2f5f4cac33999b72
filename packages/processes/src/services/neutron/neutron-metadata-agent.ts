import { type Connection, type HttpMessage, type Process, SystemError } from '@openstack-operator/sandbox';
import { plain } from '../../http.ts';
import { localSettings, mapOf, ovsTable, transact } from '../../infrastructure/ovsdb.ts';
import type { ServiceProgram } from '../../model/program.ts';
import { openIdl, openIdlForever } from '../../oslo/ovsdbapp.ts';
import { osError, PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { aborted, makeDirectories, pause } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { answerGuest } from './neutron-metadata-proxy.ts';

/**
 * Whether sudo lets the image's user become root by that command: only rootwrap with its own file, in whatever
 * directory of the path (sudoers of Kolla's and Debian's packages).
 */
function maySudo({ uid }: Process, program: string, command: string): boolean {
  const [sudo, path = '', file, ...others] = command.split(/\s+/);
  const isProgram = [program, `/usr/bin/${program}`].includes(path);
  return uid === 0 || (sudo === 'sudo' && isProgram && file === '/etc/neutron/rootwrap.conf' && others.length === 0);
}

/**
 * `neutron-ovn-metadata-agent`: reads the chassis' name from the local Open vSwitch (which must be there: no retry; without a name it stays without doing anything), waits
 * for the southbound database, opens the socket for guests' proxies, takes stock of network namespaces (which needs
 * privileges), registers itself with its chassis (which it waits for).
 */
export const metadataAgent: ServiceProgram = {
  takes: startTimes.neutronMetadataAgent,
  run: async (context) => {
    const { process, config, log } = context;
    const logger = 'neutron.agent.ovn.metadata.agent';
    const local = config.text('ovs', 'ovsdb_connection');
    const ovs = await openIdl(context, local, 'Open_vSwitch');
    const settings = await localSettings(ovs);
    const chassis = settings['system-id'];
    if (chassis === undefined) {
      // The thread that reads Open vSwitch is no daemon: the program fails and does not end.
      log.error('neutron', `Unhandled error: ${new PythonError('KeyError', "'system-id'").lastLine}`);
      await new Promise<never>(() => undefined);
      return 1;
    }
    if (settings['ovn-bridge'] === undefined)
      log.warning(logger, "Can't read ovn-bridge external-id from OVSDB. Using br-int instead.");
    const remotes = config.text('ovn', 'ovn_sb_connection');
    let south = await openIdlForever(context, remotes, 'OVN_Southbound');
    const daemon = config.optional('agent', 'root_helper_daemon');
    const socket = config.text('DEFAULT', 'metadata_proxy_socket');
    try {
      const directory = socket.slice(0, socket.lastIndexOf('/'));
      if (!process.files.exists(directory)) makeDirectories(process, directory, 0o755);
      process.network.listen(`unix:${socket}`, 'http', () => ({
        receive: (request) =>
          daemon === undefined || maySudo(process, 'neutron-rootwrap-daemon', daemon)
            ? answerGuest(context, south, request as HttpMessage)
            : Promise.resolve(plain(503, 'no proxy: sudo: a password is required')),
      }));
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      throw osError(error);
    }
    if (!process.privileged || !maySudo(process, 'neutron-rootwrap', config.text('agent', 'root_helper'))) {
      log.error('oslo.privsep.daemon', 'privsep helper command exited non-zero (1)');
      throw new PythonError('oslo_privsep.daemon.FailedToDropPrivileges', 'privsep helper command exited non-zero (1)');
    }
    while (await register(context, south, chassis)) {
      await Promise.race([aborted(process.signal), aborted(south.closed)]);
      if (process.signal.aborted) break;
      south = await openIdlForever(context, remotes, 'OVN_Southbound', longestBackoff);
    }
    return 0;
  },
};

/** Seconds between two attempts of a connection that was there once (ovs/reconnect.py). */
const longestBackoff = 8;

/**
 * Registers the agent with its chassis, which it waits for, on each connection (neutron's ChassisPrivateCreateEvent, for
 * a database that was made anew). @returns false on SIGTERM
 */
async function register({ process, log }: ServiceContext, south: Connection, chassis: string): Promise<boolean> {
  for (let wait = 1; ; wait = Math.min(180, wait * 2)) {
    const registered = await transact(south, 'OVN_Southbound', (tables) => {
      const row = ovsTable(tables, 'Chassis_Private').get(chassis);
      if (row === undefined) return false;
      row['external_ids'] = { ...mapOf(row, 'external_ids'), 'neutron:ovn-metadata-id': `${chassis}-metadata` };
      return true;
    }).catch((error: unknown) => {
      if (south.closed.aborted) return true;
      throw error;
    });
    if (registered) return true;
    log.error('ovsdbapp.backend.ovs_idl.transaction', `RowNotFound: Cannot find Chassis_Private with name=${chassis}`);
    if (!(await pause(process, wait * 1000))) return false;
  }
}
