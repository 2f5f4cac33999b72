import { type Program, SystemError } from '@openstack-operator/sandbox';
import { rootRow, transact } from '../infrastructure/ovsdb.ts';
import { Messaging } from '../oslo/messaging.ts';
import { PythonError, SystemExit } from '../oslo/python-error.ts';
import { osloProgram } from '../oslo/service.ts';
import { pause, reasonOf, terminated } from '../program-support.ts';
import { startTimes } from '../start-times.ts';
import { serveHttp } from './eventlet-server.ts';
import { demandPaste, networkApi } from './neutron-api.ts';
import { metadataAgent } from './neutron-metadata-agent.ts';
import { createDropGroup, loadPlugin, type NeutronPlugin, openOvn } from './neutron-plugin.ts';
import { followPorts } from './neutron-ports.ts';
import type { ApiContext } from './wsgi-service.ts';

/** A Neutron server: `ERROR: ...` and status 1 for a RuntimeError (neutron.server.boot_server). */
function server(run: (context: ApiContext, plugin: NeutronPlugin) => Promise<number>): Program {
  return osloProgram({
    project: 'neutron',
    run: async (context) => {
      await pause(context.process, startTimes.neutronServer);
      try {
        return await run(context, await loadPlugin(context));
      } catch (error) {
        if (error instanceof PythonError && error.type === 'RuntimeError')
          throw new SystemExit(1, `ERROR: ${error.message}`);
        throw error;
      }
    },
  });
}

async function serveRpc(context: ApiContext): Promise<void> {
  const messaging = new Messaging(context);
  for (const topic of ['q-plugin', 'q-reports-plugin', 'q-server-resource-versions'])
    await messaging.serve(topic, () => Promise.resolve(undefined));
}

/** A worker that fails as it starts is followed by another one, for ever (oslo_service.backend.eventlet.service). */
async function serveRpcForever(context: ApiContext): Promise<void> {
  const { process, log } = context;
  const logger = 'oslo_service.backend.eventlet.service';
  do {
    try {
      return await serveRpc(context);
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      log.exception(logger, `Error starting thread.: ${error.lastLine}`, error);
      log.info(logger, `Child ${process.pid + 1} exited with status 1`);
    }
  } while (await pause(process, 1000));
}

/** The servers of a uwsgi deployment beside the API, and the eventlet server that is all of them in one. */
export const neutronServers: Readonly<Record<string, Program>> = {
  'neutron-rpc-server': server(async (context, { usesOvn }) => {
    const { process, log } = context;
    log.info('neutron.server.rpc_eventlet', 'Eventlet based AMQP RPC server starting...');
    context.config.integer('DEFAULT', 'rpc_workers');
    if (usesOvn) await openOvn(context, 'RpcWorker');
    await Promise.race([serveRpcForever(context), terminated(process)]);
    await terminated(process);
    return 0;
  }),
  'neutron-periodic-workers': server(async ({ process, log }) => {
    log.info('neutron.server.periodic_eventlet', 'Eventlet based periodic workers process starting...');
    await terminated(process);
    return 0;
  }),
  'neutron-ovn-maintenance-worker': server(async (context, { usesOvn }) => {
    const { process, log } = context;
    log.info('neutron.server.ovn_maintenance', 'Eventlet OVN maintenance process starting...');
    if (!usesOvn)
      throw new PythonError('RuntimeError', 'OVN maintenance worker not loaded, ML2/OVN mechanism driver must be used');
    const ovn = await openOvn(context, 'MaintenanceWorker');
    await transact(await ovn.northbound(), 'OVN_Northbound', (tables) => rootRow(tables, 'NB_Global'));
    log.info(
      'neutron.plugins.ml2.drivers.ovn.mech_driver.mech_driver',
      'MaintenanceWorker process has finished the post initialization',
    );
    await terminated(process);
    return 0;
  }),
  'neutron-server': server(async (context, plugin) => {
    const { process, config } = context;
    demandPaste(context);
    if (plugin.usesOvn) await createDropGroup(context);
    const ovn = plugin.usesOvn ? await openOvn(context, 'WorkerService') : undefined;
    const address = {
      host: config.text('DEFAULT', 'bind_host'),
      port: config.integer('DEFAULT', 'bind_port'),
    };
    try {
      serveHttp(process, address, networkApi(context, plugin, ovn));
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      throw new PythonError('RuntimeError', `Could not bind to ${address.host}:${address.port}: ${reasonOf(error)}`);
    }
    if (ovn !== undefined) followPorts(context, plugin.database);
    void serveRpc(context);
    await terminated(process);
    return 0;
  }),
  'neutron-ovn-metadata-agent': metadataAgent,
};
