import { tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { ServiceProgram } from '../../model/program.ts';
import { respawning } from '../../model/rpc-service.ts';
import { Messaging, type RpcHandler } from '../../oslo/messaging.ts';
import type { Notification } from '../../oslo/notifier.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { processOrder } from './barbican-orders.ts';
import { openDatabase } from './barbican-store.ts';

/** `barbican-worker`: the queue's URL is parsed, then the database connected to, then it serves (barbican.cmd.worker). */
export const barbicanWorker: ServiceProgram = {
  takes: startTimes.barbicanServer,
  run: async (context) => {
    const messaging = new Messaging(context);
    const { config } = context;
    const topic = config.text('queue', 'topic');
    const database = await openDatabase(context);
    const handler: RpcHandler = (_method, parameters) =>
      processOrder(context, database, (parameters as { order_id: string }).order_id);
    // One worker is no child of its own (oslo_service.service.launch).
    const isAlone = config.integer('queue', 'asynchronous_workers') <= 1;
    context.log.info('barbican.queue.server', 'Starting the TaskServer');
    return serve(context, isAlone, () => messaging.serve(topic, handler));
  },
};

/**
 * `barbican-keystone-listener`: listens by the URL of RPC for projects that were deleted, and removes what they had. It
 * ends at once, and well, unless it is enabled (barbican.cmd.keystone_listener).
 */
export const barbicanKeystoneListener: ServiceProgram = {
  takes: startTimes.barbicanServer,
  run: async (context) => {
    const { config, log } = context;
    const logger = 'barbican.cmd.keystone_listener';
    log.info(logger, 'Booting up Barbican Keystone listener node...');
    const messaging = new Messaging(context);
    if (!config.boolean('keystone_notifications', 'enable')) {
      log.info(logger, 'Exiting as Barbican Keystone listener is not enabled...');
      return 0;
    }
    const database = await openDatabase(context);
    const forget: RpcHandler = async (event, message) => {
      const { payload } = message as Notification;
      const project = (payload as { resource_info?: string }).resource_info;
      if (!event.toLowerCase().endsWith('.project.deleted') || project === undefined) return;
      await database.transaction('DELETE', (schema) => {
        for (const name of ['secrets', 'orders', 'encrypted_data', 'kek_data'])
          for (const [id, row] of tableOf(schema, name))
            if (row['project'] === project || id === project) tableOf(schema, name).delete(id);
      });
    };
    const topic = config.text('keystone_notifications', 'topic');
    return serve(context, true, () => messaging.serve(`${topic}.info`, forget));
  },
};

/** Serves until SIGTERM. */
async function serve(context: ServiceContext, once: boolean, start: () => Promise<void>): Promise<number> {
  const run = async () => {
    await Promise.race([start(), terminated(context.process)]);
    await terminated(context.process);
  };
  await respawning(context, run, { once });
  return 0;
}
