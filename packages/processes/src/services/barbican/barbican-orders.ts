import { type Random, uuid } from '@openstack-operator/kube';
import { tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { Database } from '../../oslo/database.ts';
import type { Messaging } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { encrypt, invalidToken, masterKeys } from './barbican-store.ts';

const logger = 'barbican.tasks.resources';

/** Makes the key that an order asks for; what goes wrong stands in the order, and in the log. @throws PythonError */
export async function processOrder(context: ServiceContext, database: Database, id: string): Promise<void> {
  const { config, log, process } = context;
  log.info('barbican.queue.server', `Processing type order: order ID is '${id}'`);
  let failure: PythonError | undefined;
  try {
    const keys = masterKeys(config);
    const isMade = await database.transaction('INSERT', (schema) => {
      const order = tableOf(schema, 'orders').get(id);
      if (order === undefined) return true;
      const { name = null } = order['meta'] as { name?: string };
      const secret = { id: uuid(process.random), name, secret_type: 'symmetric', project: order['project'] };
      if (!encrypt(schema, keys, secret, keyOf(process.random))) return false;
      tableOf(schema, 'secrets').set(secret.id, { ...secret, status: 'ACTIVE' });
      Object.assign(order, { status: 'ACTIVE', secret_id: secret.id });
      return true;
    });
    if (!isMade) failure = invalidToken;
  } catch (error) {
    if (!(error instanceof PythonError) || error.type !== 'ValueError') throw error;
    failure = error;
  }
  if (failure === undefined) return;
  log.exception(logger, "Could not perform processing for task 'Process TypeOrder'.", failure);
  const error_reason = 'Process TypeOrder failure seen - please contact site administrator.';
  await database.transaction('UPDATE', (schema) => {
    const order = tableOf(schema, 'orders').get(id);
    if (order !== undefined) Object.assign(order, { status: 'ERROR', error_status_code: '500', error_reason });
  });
}

const keyOf = (random: Random): string => Buffer.from(random.bytes(32)).toString('base64');

/** Hands an order to a worker, or processes it at once where there is no queue (barbican.queue.client). */
export function orderQueue(
  context: ServiceContext,
  database: Database,
  messaging: Messaging,
): (id: string) => Promise<void> {
  const { config } = context;
  if (!config.boolean('queue', 'enable')) return (id) => processOrder(context, database, id);
  const topic = config.text('queue', 'topic');
  return (id) => {
    messaging.cast(topic, 'process_type_order', { order_id: id });
    return Promise.resolve();
  };
}
