import { type Row, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { ServiceProgram } from '../../model/program.ts';
import { respawning } from '../../model/rpc-service.ts';
import { hostOf, isEnabled, isUp, report } from '../../model/service-rows.ts';
import { joinCoordination } from '../../oslo/coordination.ts';
import { Database } from '../../oslo/database.ts';
import { Messaging, type RpcHandler } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause, terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { type ShareDriver, shareDrivers } from './manila-drivers.ts';
import { isTrue, manilaDatabase, saveShare } from './manila-store.ts';
import { satisfies } from './manila-types.ts';

const takes = startTimes.manilaService;

/** A service with an RPC server (manila.service.Service). */
interface Served {
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

async function serve(context: ServiceContext, served: Served): Promise<void> {
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

const shareOf = (parameters: unknown): string => (parameters as { share: string }).share;

/** `manila-scheduler`: hands a new share to a backend of its type that is up, or gives it up. */
export const manilaScheduler: ServiceProgram = {
  takes,
  run: async (context) => {
    const messaging = new Messaging(context);
    const database = new Database(context, manilaDatabase);
    const handler: RpcHandler = (_method, parameters) => schedule(context, messaging, database, shareOf(parameters));
    const served = { host: hostOf(context), binary: 'manila-scheduler', database, messaging, handler };
    await respawning(context, () => serve(context, { ...served, coordinates: true }), { once: true });
    return 0;
  },
};

async function schedule(context: ServiceContext, messaging: Messaging, database: Database, id: string): Promise<void> {
  const host = await database.transaction('UPDATE', (schema) => {
    const type = tableOf(schema, 'share_types').get(String(tableOf(schema, 'shares').get(id)?.['share_type_id']));
    // Without a type there are no servers of shares (manila.share.api).
    const specs = { driver_handles_share_servers: 'False', ...((type?.['extra_specs'] ?? {}) as Row) };
    const backend = [...tableOf(schema, 'services').values()].find((row) => {
      const fits = row['binary'] === 'manila-share' && satisfies((row['capabilities'] ?? {}) as Row, specs);
      return fits && isEnabled(row) && isUp(context, row);
    });
    const pool = String((backend?.['capabilities'] as Row | undefined)?.['pool']);
    const place = backend === undefined ? { status: 'error' } : { host: `${String(backend['host'])}#${pool}` };
    saveShare(schema, id, place);
    return backend?.['host'];
  });
  if (typeof host === 'string') return messaging.cast(`manila-share.${host}`, 'create_share_instance', { share: id });
  context.log.error(
    'manila.scheduler.manager',
    'Failed to schedule create_share: No valid host was found. Failed to find a weighted host, the last executed filter was CapabilitiesFilter.',
  );
}

/**
 * `manila-share`: a process for each of `enabled_share_backends`. Drivers are made before, and what they cannot be ends
 * the program; what they do not find is looked for for ever, and until then nobody reaches the process (manila.cmd.share,
 * manila.share.manager).
 */
export const manilaShare: ServiceProgram = {
  takes,
  run: async (context) => {
    const names = context.config.list('DEFAULT', 'enabled_share_backends');
    const backends = names.length === 0 ? [{ host: hostOf(context), section: 'DEFAULT' }] : [];
    for (const section of names) backends.push({ host: `${hostOf(context)}@${section}`, section });
    const drivers = backends.map(({ section }) => driverOf(context, section));
    await joinCoordination(context);
    const messaging = new Messaging(context);
    const running = backends.map(({ host, section }, index) =>
      respawning(context, () => serveBackend(context, { host, section, messaging, driver: drivers[index] })),
    );
    await Promise.all(running);
    return 0;
  },
};

/** @throws PythonError for a class that there is not, and for a mode that it does not have */
function driverOf({ config }: ServiceContext, section: string): ShareDriver {
  const name = config.text(section, 'share_driver', 'manila.share.drivers.generic.GenericShareDriver');
  const driver = shareDrivers[name];
  if (driver === undefined) throw new PythonError('ImportError', `Class ${name} cannot be found`);
  const servers = config.optional(section, 'driver_handles_share_servers');
  if (servers === undefined)
    throw new PythonError(
      'manila.exception.ManilaException',
      "Config opt 'driver_handles_share_servers' has improper value - 'None'. Please define it as boolean.",
    );
  if (!driver.servers.includes(isTrue(servers)))
    throw new PythonError(
      'manila.exception.ManilaException',
      `Driver does not support mode 'driver_handles_share_servers=${isTrue(servers) ? 'True' : 'False'}'. It can be used only with value '(${driver.servers.map((one) => (one ? 'True' : 'False')).join(', ')},)'.`,
    );
  return driver;
}

/** What drivers do with snapshots: all that this Manila knows copy them (manila.share.drivers.cephfs.driver). */
const snapshots = {
  snapshot_support: true,
  create_share_from_snapshot_support: true,
  revert_to_snapshot_support: false,
  mount_snapshot_support: false,
};

interface BackendProcess {
  readonly host: string;
  readonly section: string;
  readonly messaging: Messaging;
  readonly driver: ShareDriver | undefined;
}

async function serveBackend(context: ServiceContext, backend: BackendProcess): Promise<void> {
  const { config, process, log } = context;
  const { host, section, messaging, driver } = backend;
  const database = new Database(context, manilaDatabase);
  const name = config.text(section, 'share_driver', 'GenericShareDriver').split('.').at(-1) ?? '';
  const logger = 'manila.share.manager';
  const initHost = async (): Promise<Row | undefined> => {
    for (let wait = 2000; ; wait = Math.min(2 * wait, 600_000)) {
      try {
        const pool = driver?.setUp(process, config, section);
        log.info(logger, `Finished initialization of driver: '${name}@${host}'`);
        const servers = isTrue(config.text(section, 'driver_handles_share_servers'));
        const label = config.text(section, 'share_backend_name', section);
        return { ...snapshots, share_backend_name: label, driver_handles_share_servers: servers, pool };
      } catch (error) {
        if (!(error instanceof PythonError)) throw error;
        const words = `Error encountered during initialization of driver ${name}@${host}`;
        if (error.cause instanceof PythonError) log.exception(logger, words, error.cause);
        log.exception(logger, words, error);
      }
      if (!(await pause(process, wait))) return undefined;
    }
  };
  const handler: RpcHandler = async (method, parameters) => {
    const id = shareOf(parameters);
    await pause(process, startTimes.manilaShare);
    await database.transaction('UPDATE', (schema) => {
      if (method === 'delete_share_instance') tableOf(schema, 'shares').delete(id);
      else saveShare(schema, id, { status: 'available' });
    });
    log.info(logger, `Share ${method === 'delete_share_instance' ? 'deleted' : 'created'} successfully.`);
  };
  await serve(context, { host, binary: 'manila-share', database, messaging, handler, initHost });
}

/** `manila-data`: what it is asked for no model knows yet. */
export const manilaData: ServiceProgram = {
  takes,
  run: async (context) => {
    const served: Served = {
      host: hostOf(context),
      binary: 'manila-data',
      database: new Database(context, manilaDatabase),
      messaging: new Messaging(context),
      handler: (method) => Promise.reject(new PythonError('NotImplementedError', `no model knows ${method}`)),
    };
    await respawning(context, () => serve(context, served), { once: true });
    return 0;
  },
};
