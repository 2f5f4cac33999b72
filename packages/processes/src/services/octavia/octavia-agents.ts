import { SystemError } from '@openstack-operator/sandbox';
import { attempt } from '../../attempt.ts';
import { tableOf } from '../../infrastructure/mysql-protocol.ts';
import { answering } from '../../infrastructure/wire.ts';
import type { ServiceProgram } from '../../model/program.ts';
import { respawning } from '../../model/rpc-service.ts';
import { Database } from '../../oslo/database.ts';
import { httpError, KeystoneSession } from '../../oslo/keystone-session.ts';
import { Messaging, type RpcHandler } from '../../oslo/messaging.ts';
import { openIdlForever } from '../../oslo/ovsdbapp.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause, terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { openProvider, sockets } from './octavia-ovn.ts';
import { octaviaDatabase, settle, type Told } from './octavia-store.ts';

const takes = startTimes.octaviaService;
const seconds = ({ process }: ServiceContext): number => process.clock.now() / 1000;

/** The title of the process that the agent runs the provider's part in. */
const title = 'octavia-driver-agent - provider_agent -- ovn';

/** A program that parses the broker's URL first, as all of them do (octavia.common.rpc). */
function program(run: (context: ServiceContext) => Promise<void>): ServiceProgram {
  return {
    takes,
    run: async (context) => {
      void new Messaging(context);
      await run(context);
      return 0;
    },
  };
}

/** `octavia-driver-agent`: a process for each socket, and one for each provider; each is started anew when it fails. */
async function driverAgent(context: ServiceContext): Promise<void> {
  const { process, config, log } = context;
  const database = new Database(context, octaviaDatabase);
  const accept = () => ({
    receive: answering((told: Told) =>
      database.transaction('UPDATE', (schema) => settle(schema, told, seconds(context))),
    ),
  });
  const listen = async (name: (typeof sockets)[number]): Promise<void> => {
    const path = config.text('driver_agent', `${name}_socket_path`);
    do {
      const problem = attempt(
        SystemError,
        () => void process.network.listen(`unix:${path}`, 'octavia-driver', accept),
        ({ reason }) => reason,
      );
      if (problem === undefined) return;
      log.error(
        'octavia.cmd.driver_agent',
        `${name}_listener raised exception: ${problem}. Restarting ${name}_listener.`,
      );
    } while (await pause(process, 1000));
  };
  const agents = config.list('driver_agent', 'enabled_provider_agents').includes('ovn') ? [process.run([title])] : [];
  await Promise.all([...sockets.map(listen), ...agents, terminated(process)]);
}

/** Follows both databases of OVN (ovn_octavia_provider.agent). */
async function ovnAgent(context: ServiceContext): Promise<number> {
  const { config, log, process } = context;
  await respawning(context, async () => {
    await openProvider(context);
    const remotes = config.text('ovn', 'ovn_sb_connection');
    while (!process.signal.aborted) {
      const southbound = await openIdlForever(context, remotes, 'OVN_Southbound');
      log.info('ovn_octavia_provider.agent', 'OVN provider agent has started.');
      const lost = new Promise((resolve) => southbound.closed.addEventListener('abort', resolve, { once: true }));
      await Promise.race([lost, terminated(process)]);
    }
  });
  return 0;
}

/** Rows of load balancers that were deleted long ago (octavia.controller.housekeeping). */
async function housekeeping(context: ServiceContext): Promise<void> {
  const { config, log, process } = context;
  const database = new Database(context, octaviaDatabase);
  const age = config.integer('house_keeping', 'load_balancer_expiry_age');
  do {
    const clean = database.transaction('DELETE', (schema) => {
      const rows = tableOf(schema, 'load_balancer');
      for (const [id, { provisioning_status: status, updated_at: at }] of rows)
        if (status === 'DELETED' && Number(at) + age < seconds(context)) rows.delete(id);
    });
    await clean.catch((error: unknown) => {
      if (!(error instanceof PythonError)) throw error;
      log.debug('octavia.cmd.house_keeping', `db_cleanup caught the following exception: ${error.message}`);
    });
  } while (await pause(process, config.integer('house_keeping', 'cleanup_interval') * 1000));
}

/** What makes servers of the provider amphora, with who signs their certificates; it never gets further than their image here. */
async function worker(context: ServiceContext): Promise<void> {
  const { config, log } = context;
  const database = new Database(context, octaviaDatabase);
  const handler: RpcHandler = async (method, parameters) => {
    const { balancer } = parameters as { balancer: string };
    const status = await build(context, method).catch((error: unknown) => {
      if (!(error instanceof PythonError)) throw error;
      log.exception('octavia.controller.worker.v2.controller_worker', error.lastLine, error);
      return 'ERROR';
    });
    await database.transaction('UPDATE', (schema) => settle(schema, { balancer, status }, seconds(context)));
  };
  config.text('DEFAULT', 'host');
  await respawning(context, async () => {
    await Promise.race([new Messaging(context).serve('octavia_provisioning_v2', handler), terminated(context.process)]);
    await terminated(context.process);
  });
}

/** What becomes of a load balancer. @throws PythonError */
async function build({ process, config }: ServiceContext, method: string): Promise<string> {
  if (method !== 'create') return method === 'delete' ? 'DELETED' : 'ACTIVE';
  const files = [
    ['certificates', 'ca_certificate'],
    ['certificates', 'ca_private_key'],
    ['haproxy_amphora', 'client_cert'],
    ['haproxy_amphora', 'server_ca'],
    ['controller_worker', 'client_ca'],
  ] as const;
  for (const [group, name] of files)
    if (!process.files.read(config.text(group, name)).startsWith('-----BEGIN '))
      throw new PythonError('octavia.common.exceptions.CertificateGenerationException', `Failed to load ${name}`);
  const session = new KeystoneSession(process, config, 'service_auth');
  const interfaces = [config.text('glance', 'endpoint_type').replace(/URL$/, '')];
  const glance = await session.endpoint({
    type: 'image',
    interfaces,
    region: config.optional('glance', 'region_name'),
  });
  const tag = config.text('controller_worker', 'amp_image_tag');
  const owner = config.text('controller_worker', 'amp_image_owner_id');
  const reply = await session.request('GET', `${glance}/v2/images?tag=${tag}&owner=${owner}&status=active`);
  if (reply.status !== 200) throw httpError(reply, 'octavia');
  // As the program of 2025.1 says it of no image at all.
  throw new PythonError('octavia.common.exceptions.ImageGetException', `Failed to retrieve image with ${tag} tag.`);
}

/** Servers' heartbeats are UDP, which hosts here do not have (octavia.cmd.health_manager). */
async function healthManager({ process, config }: ServiceContext): Promise<void> {
  config.text('health_manager', 'bind_ip');
  config.integer('health_manager', 'bind_port');
  config.text('health_manager', 'heartbeat_key');
  await terminated(process);
}

/** All programs beside the API and the commands. */
export const octaviaAgents: Readonly<Record<string, ServiceProgram>> = {
  'octavia-driver-agent': program(driverAgent),
  [title]: { takes: 0, run: ovnAgent },
  'octavia-housekeeping': program(housekeeping),
  'octavia-worker': program(worker),
  'octavia-health-manager': program(healthManager),
};
