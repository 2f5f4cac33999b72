import { rootRow, transact } from '../../infrastructure/ovsdb.ts';
import type { ServiceProgram } from '../../model/program.ts';
import { respawning } from '../../model/rpc-service.ts';
import { Messaging } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { booted, loadPlugin, openOvn } from './neutron-plugin.ts';

/** A Neutron server, with its plugin loaded. */
function server(run: (context: ServiceContext, usesOvn: boolean) => Promise<void>): ServiceProgram {
  return {
    takes: startTimes.neutronServer,
    run: (context) =>
      booted(async () => {
        await run(context, await loadPlugin(context));
        await terminated(context.process);
        return 0;
      }),
  };
}

async function serveRpc(context: ServiceContext): Promise<void> {
  const messaging = new Messaging(context);
  for (const topic of ['q-plugin', 'q-reports-plugin', 'q-server-resource-versions'])
    await messaging.serve(topic, () => Promise.resolve(undefined));
}

/** The servers of a uwsgi deployment beside the API. */
export const neutronServers: Readonly<Record<string, ServiceProgram>> = {
  // Earlier operators run it.
  'neutron-rpc-server': server(async (context, usesOvn) => {
    const { process, log } = context;
    log.info('neutron.server.rpc_eventlet', 'Eventlet based AMQP RPC server starting...');
    if (usesOvn) await openOvn(context, 'RpcWorker');
    await Promise.race([respawning(context, () => serveRpc(context)), terminated(process)]);
  }),
  'neutron-periodic-workers': server(({ log }) => {
    log.info('neutron.server.periodic_eventlet', 'Eventlet based periodic workers process starting...');
    return Promise.resolve();
  }),
  'neutron-ovn-maintenance-worker': server(async (context, usesOvn) => {
    const { log } = context;
    log.info('neutron.server.ovn_maintenance', 'Eventlet OVN maintenance process starting...');
    if (!usesOvn)
      throw new PythonError('RuntimeError', 'OVN maintenance worker not loaded, ML2/OVN mechanism driver must be used');
    const ovn = await openOvn(context, 'MaintenanceWorker');
    await transact(await ovn.northbound(), 'OVN_Northbound', (tables) => rootRow(tables));
    log.info(
      'neutron.plugins.ml2.drivers.ovn.mech_driver.mech_driver',
      'MaintenanceWorker process has finished the post initialization',
    );
  }),
};
