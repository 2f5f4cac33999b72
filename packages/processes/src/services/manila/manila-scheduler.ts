import { type Row, type Schema, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { ServiceProgram } from '../../model/program.ts';
import { respawning } from '../../model/rpc-service.ts';
import { hostOf, isEnabled, isUp } from '../../model/service-rows.ts';
import { Database } from '../../oslo/database.ts';
import { Messaging, type RpcHandler } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { startTimes } from '../../start-times.ts';
import { serve } from './manila-service.ts';
import { manilaDatabase, queueOf, saveShare } from './manila-store.ts';
import type { Message } from './manila-tasks.ts';
import { satisfies } from './manila-types.ts';

/** `manila-scheduler`: hands a new share to a backend of its type that is up, or gives it up. */
export const manilaScheduler: ServiceProgram = {
  takes: startTimes.manilaService,
  run: async (context) => {
    const messaging = new Messaging(context);
    const database = new Database(context, manilaDatabase);
    const handler: RpcHandler = (method, parameters) =>
      schedules[method]?.({ context, messaging, database }, parameters as Message) ??
      Promise.reject(new PythonError('NotImplementedError', `no model knows ${method}`));
    const served = { host: hostOf(context), binary: 'manila-scheduler', database, messaging, handler };
    await respawning(context, () => serve(context, { ...served, coordinates: true }), { once: true });
    return 0;
  },
};

interface Scheduling {
  readonly context: ServiceContext;
  readonly messaging: Messaging;
  readonly database: Database;
}

/** What the scheduler is asked for (manila.scheduler.manager). */
const schedules: Readonly<Record<string, (use: Scheduling, message: Message) => Promise<void>>> = {
  create_share_instance: place,
  extend_share: extend,
};

/** Whether a process can have shares of a type now. */
function fits(context: ServiceContext, schema: Schema, row: Row, share: Row | undefined): boolean {
  const type = tableOf(schema, 'share_types').get(String(share?.['share_type_id']));
  // Without a type there are no servers of shares (manila.share.api).
  const specs = { driver_handles_share_servers: 'False', ...((type?.['extra_specs'] ?? {}) as Row) };
  const isSuch = row['binary'] === 'manila-share' && satisfies((row['capabilities'] ?? {}) as Row, specs);
  return isSuch && isEnabled(row) && isUp(context, row);
}

function noHost({ log }: ServiceContext, method: string): void {
  log.error(
    'manila.scheduler.manager',
    `Failed to schedule ${method}: No valid host was found. Failed to find a weighted host, the last executed filter was CapabilitiesFilter.`,
  );
}

async function place({ context, messaging, database }: Scheduling, { share: id }: Message): Promise<void> {
  const host = await database.transaction('UPDATE', (schema) => {
    const share = tableOf(schema, 'shares').get(id);
    const backend = [...tableOf(schema, 'services').values()].find((row) => fits(context, schema, row, share));
    const pool = String((backend?.['capabilities'] as Row | undefined)?.['pool']);
    saveShare(schema, id, backend === undefined ? { status: 'error' } : { host: `${String(backend['host'])}#${pool}` });
    return backend?.['host'];
  });
  if (typeof host === 'string') return messaging.cast(`manila-share.${host}`, 'create_share_instance', { share: id });
  noHost(context, 'create_share');
}

/** A share grows where it is, if its backend passes still; else it is as it was. */
async function extend({ context, messaging, database }: Scheduling, message: Message): Promise<void> {
  const queue = await database.transaction('UPDATE', (schema) => {
    const share = tableOf(schema, 'shares').get(message.share);
    const [host] = String(share?.['host']).split('#');
    const row = tableOf(schema, 'services').get(`${host}/manila-share`);
    if (row !== undefined && fits(context, schema, row, share)) return queueOf(share ?? {});
    saveShare(schema, message.share, { status: 'available' });
    return undefined;
  });
  if (queue !== undefined) return messaging.cast(queue, 'extend_share', message);
  noHost(context, 'extend_share');
}
