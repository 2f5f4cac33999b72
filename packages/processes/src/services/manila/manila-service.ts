import { type Row, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { report } from '../../model/service-rows.ts';
import { joinCoordination } from '../../oslo/coordination.ts';
import type { Database } from '../../oslo/database.ts';
import type { Messaging, RpcHandler } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause, terminated } from '../../program-support.ts';

/** A service with an RPC server (manila.service.Service). */
export interface Served {
  readonly host: string;
  readonly binary: string;
  readonly database: Database;
  readonly messaging: Messaging;
  readonly handler: RpcHandler;
  /** Before anybody reaches it: gives what it can do; undefined on SIGTERM. */
  readonly initHost?: () => Promise<Row | undefined>;
  /** Whether it locks across processes, and joins only when it can work. */
  readonly coordinates?: boolean;
}

/** Runs a service until SIGTERM. @throws PythonError of the database */
export async function serve(context: ServiceContext, served: Served): Promise<void> {
  const { process, config, log } = context;
  const { host, binary, database, messaging, handler, initHost, coordinates } = served;
  log.info('manila.service', `Starting ${binary} node (version 20.0.0)`);
  const write = (more: Row) => database.transaction('UPDATE', (schema) => report(context, schema, host, binary, more));
  await database.transaction('UPDATE', (schema) => {
    const isNew = !tableOf(schema, 'services').has(`${host}/${binary}`);
    report(context, schema, host, binary, { state: isNew ? 'up' : 'down' });
  });
  const capabilities = initHost === undefined ? {} : await initHost();
  if (capabilities === undefined) return;
  if (coordinates === true) await joinCoordination(context);
  const reached = (async () => {
    await messaging.serve(binary, handler);
    await messaging.serve(`${binary}.${host}`, handler);
  })();
  await Promise.race([reached, terminated(process)]);
  await write({ capabilities });
  while (await pause(process, config.integer('DEFAULT', 'report_interval') * 1000)) {
    try {
      await write({ state: 'up', capabilities });
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      log.exception('manila.service', 'model server went away', error);
    }
  }
  await write({ state: 'stopped' }).catch(() => undefined);
}
