import { parseTimestamp } from '@openstack-operator/kube';
import type { Row } from '../../infrastructure/mysql-protocol.ts';
import { drained, respawning } from '../../model/rpc-service.ts';
import type { Messaging, RpcHandler } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause, terminated } from '../../program-support.ts';
import { gather } from './nova-cells.ts';
import { type NovaObjects, serviceVersion } from './nova-objects.ts';

/** `[DEFAULT] host`: the host name unless it is set. */
export function hostOf({ process, config }: ServiceContext): string {
  return config.text('DEFAULT', 'host') || process.pod.hostname;
}

/** Whether a service has reported lately (`service_down_time`). */
export function isUp({ process, config }: ServiceContext, row: Row): boolean {
  const seen = parseTimestamp(String(row['last_seen_up'] ?? row['created_at']));
  return process.clock.now() - seen <= config.integer('DEFAULT', 'service_down_time') * 1000;
}

/** Wait for a conductor, for ever: ten times with a short time-out, then with the usual one (nova.conductor.api). */
export async function waitForConductor({ process, log }: ServiceContext, objects: NovaObjects): Promise<void> {
  const logger = 'nova.conductor.api';
  for (let late = false; ; late = true) {
    try {
      await objects.run('ping', { arg: '1.21 GigaWatts' });
      if (late) log.info(logger, 'nova-conductor connection established successfully');
      return;
    } catch (error) {
      if (!(error instanceof PythonError) || !error.type.endsWith('MessagingTimeout')) throw error;
      if (process.signal.aborted) return;
      log.warning(
        logger,
        'Timed out waiting for nova-conductor.  Is it running? Or did this service start before nova-conductor?  Reattempting establishment of nova-conductor connection...',
      );
    }
  }
}

/**
 * The oldest nova-compute that is registered: with `[api_database]` in all cells, else in the own one. A cell that
 * does not answer is only warned of; an API database that is not there ends the service.
 */
export async function checkComputeVersions(context: ServiceContext, objects: NovaObjects): Promise<void> {
  if (!context.config.text('api_database', 'connection')) {
    await objects.run('service_minimum_version', { binary: 'nova-compute' });
    return;
  }
  await gather(
    context,
    (schema) => [...(schema.tables.get('services')?.values() ?? [])],
    ({ uuid }) => context.log.warning('nova.objects.service', `Failed to get minimum service version for cell ${uuid}`),
  );
}

/** The row of a service: found, brought up to date, or made. */
export async function registerService(
  { log }: ServiceContext,
  objects: NovaObjects,
  identity: { host: string; binary: string; topic: string | null },
  found: Row | undefined,
): Promise<Row> {
  if (found === undefined) return objects.run<Row>('service_create', identity);
  if (found['version'] === serviceVersion) return found;
  log.info(
    'nova.service',
    `Updating service version for ${identity.binary} on ${identity.host} from ${String(found['version'])} to ${serviceVersion}`,
  );
  return objects.run<Row>('service_save', { ...identity, version: serviceVersion });
}

/** A service with an RPC server: conductor, scheduler, compute. */
export interface RpcService {
  readonly binary: string;
  readonly topic: string;
  readonly objects: NovaObjects;
  readonly messaging: Messaging;
  readonly handler: RpcHandler;
  /** How many workers it forks, NaN for one a processor, where it looks for old computes itself; a nova-compute asks its conductor. */
  readonly workers?: number;
  /** Between finding the service's row and writing it. */
  readonly initHost?: (row: Row | undefined) => Promise<void>;
  /** After the row is there and before the service is reachable. */
  readonly preStart?: (row: Row) => Promise<void>;
  /** Every `spacing` seconds, and at once. */
  readonly periodic?: { readonly spacing: number; readonly run: () => Promise<void> };
}

/** Runs a service until SIGTERM. */
export async function runService(context: ServiceContext, service: RpcService): Promise<number> {
  if (service.workers !== undefined) await checkComputeVersions(context, service.objects);
  // One is the process itself.
  await respawning(context, () => runWorker(context, service), { once: (service.workers ?? 1) === 1 });
  return 0;
}

async function runWorker(context: ServiceContext, service: RpcService): Promise<void> {
  const { process, config, log } = context;
  const { binary, topic, objects, messaging, handler, initHost, preStart, periodic } = service;
  const host = hostOf(context);
  log.info('nova.service', `Starting ${topic} node (version 31.0.1)`);
  const found = await objects.run<Row | undefined>('service_get', { host, binary });
  await initHost?.(found);
  const row = await registerService(context, objects, { host, binary, topic }, found);
  await preStart?.(row);
  const served = (async () => {
    await messaging.serve(topic, handler);
    await messaging.serve(`${topic}.${host}`, handler);
  })();
  await Promise.race([served, terminated(process)]);
  if (process.signal.aborted) return;
  const interval = config.integer('DEFAULT', 'report_interval') * 1000;
  await Promise.race([
    terminated(process),
    reportForever(context, objects, { ...row, host, binary }, interval),
    ...(periodic === undefined ? [] : [repeat(context, periodic.spacing * 1000, periodic.run)]),
  ]);
  await drained(context, messaging);
}

async function reportForever({ process, log }: ServiceContext, objects: NovaObjects, row: Row, interval: number) {
  const logger = 'nova.servicegroup.drivers.db';
  let count = Number(row['report_count'] ?? 0);
  let disconnected = false;
  do {
    try {
      count += 1;
      const { host, binary, id } = row;
      await objects.run('service_save', { host, binary, id, report_count: count });
      if (disconnected) log.info(logger, 'Recovered from being unable to report status.');
      disconnected = false;
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      if (error.type.includes('MessagingTimeout')) {
        if (!disconnected) log.warning(logger, 'Lost connection to nova-conductor for reporting service status.');
      } else if (error.type.includes('ServiceNotFound')) {
        log.error(
          logger,
          `The services table record for the ${String(row['binary'])} service on host ${String(row['host'])} is gone. You either need to stop this service if it should be deleted or restart it to recreate the record in the database.`,
        );
      } else log.exception(logger, 'Unexpected error while reporting service status', error);
      disconnected = true;
    }
  } while (await pause(process, interval));
}

async function repeat({ process, log }: ServiceContext, spacing: number, run: () => Promise<void>): Promise<void> {
  do {
    try {
      await run();
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      log.exception('oslo_service.periodic_task', 'Error during periodic task', error);
    }
  } while (await pause(process, spacing));
  await terminated(process);
}
