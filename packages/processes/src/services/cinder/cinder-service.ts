import type { Row } from '../../infrastructure/mysql-protocol.ts';
import { drained, respawning } from '../../model/rpc-service.ts';
import { report } from '../../model/service-rows.ts';
import { joinCoordination } from '../../oslo/coordination.ts';
import type { Database } from '../../oslo/database.ts';
import type { Messaging, RpcHandler } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause, terminated } from '../../program-support.ts';

/** A service with an RPC server: scheduler, volume, backup (cinder.service.Service). */
export interface CinderService {
  readonly host: string;
  readonly binary: string;
  readonly database: Database;
  readonly messaging: Messaging;
  readonly handler: RpcHandler;
  /** Whether it locks across processes. */
  readonly coordinates?: boolean;
  /** Whether it is a child of a launcher, which makes it anew when it fails. */
  readonly isChild?: boolean;
  /** Before it is reachable: gives what it can do, then and later; undefined when it can do nothing, and says nothing of itself. */
  readonly initHost?: () => Promise<(() => Row) | undefined>;
}

/** Runs a service until SIGTERM. Its row is written before it is a child. @throws PythonError of the database */
export async function runService(context: ServiceContext, service: CinderService): Promise<void> {
  const { host, binary, database, isChild = false } = service;
  await database.transaction('INSERT', (schema) => report(context, schema, host, binary));
  await respawning(context, () => runWorker(context, service), { once: !isChild });
}

async function runWorker(context: ServiceContext, service: CinderService): Promise<void> {
  const { process, config, log } = context;
  const { host, binary, database, messaging, coordinates, initHost } = service;
  log.info('cinder.service', `Starting ${binary} node (version 26.0.0)`);
  if (coordinates === true) await joinCoordination(context);
  const capabilities = initHost === undefined ? (): Row => ({}) : await initHost();
  const served = (async () => {
    await messaging.serve(binary, service.handler);
    await messaging.serve(`${binary}.${host}`, service.handler);
  })();
  await Promise.race([served, terminated(process)]);
  const interval = config.integer('DEFAULT', 'report_interval') * 1000;
  for (let isFirst = true; !process.signal.aborted; isFirst = false) {
    if (!isFirst && capabilities === undefined)
      log.error(
        'cinder.service',
        `Manager for service ${binary} ${host} is reporting problems, not sending heartbeat. Service will appear "down".`,
      );
    else if (capabilities !== undefined)
      try {
        await database.transaction('UPDATE', (schema) =>
          report(context, schema, host, binary, { capabilities: capabilities() }),
        );
      } catch (error) {
        if (!(error instanceof PythonError)) throw error;
        log.exception('cinder.service', 'Exception encountered: ', error);
      }
    if (!(await pause(process, interval))) break;
  }
  await drained(context, messaging);
}
