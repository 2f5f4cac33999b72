import type { Row } from '../../infrastructure/mysql-protocol.ts';
import type { ServiceProgram } from '../../model/program.ts';
import { respawning } from '../../model/rpc-service.ts';
import { hostOf } from '../../model/service-rows.ts';
import { joinCoordination } from '../../oslo/coordination.ts';
import { Database } from '../../oslo/database.ts';
import { Messaging, type RpcHandler } from '../../oslo/messaging.ts';
import { PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';
import { pause } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { type ShareDriver, shareDrivers } from './manila-drivers.ts';
import { type Served, serve } from './manila-service.ts';
import { isTrue, manilaDatabase } from './manila-store.ts';
import { ensureShares, finishCopies, type Message, runTask, type Work } from './manila-tasks.ts';

const takes = startTimes.manilaService;

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
    const made = backends.map((backend) => ({ ...backend, driver: driverOf(context, backend.section) }));
    await joinCoordination(context);
    const messaging = new Messaging(context);
    const running = made.map((backend) => respawning(context, () => serveBackend(context, { ...backend, messaging })));
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
  readonly driver: ShareDriver;
}

async function serveBackend(context: ServiceContext, backend: BackendProcess): Promise<void> {
  const { config, process, log } = context;
  const { host, section, messaging, driver } = backend;
  const database = new Database(context, manilaDatabase);
  const work: Work = { context, database, driver, host, section };
  const name = config.text(section, 'share_driver', 'GenericShareDriver').split('.').at(-1) ?? '';
  const logger = 'manila.share.manager';
  /** Looks for what it needs for as long as it takes; undefined on SIGTERM. */
  const setUp = async (): Promise<string | undefined> => {
    for (let wait = 2000; ; wait = Math.min(2 * wait, 600_000)) {
      try {
        return driver.setUp(process, config, section);
      } catch (error) {
        if (!(error instanceof PythonError)) throw error;
        const words = `Error encountered during initialization of driver ${name}@${host}`;
        if (error.cause instanceof PythonError) log.exception(logger, words, error.cause);
        log.exception(logger, words, error);
      }
      if (!(await pause(process, wait))) return undefined;
    }
  };
  const initHost = async (): Promise<Row | undefined> => {
    const pool = await setUp();
    if (pool === undefined) return undefined;
    await ensureShares(work);
    log.info(logger, `Finished initialization of driver: '${name}@${host}'`);
    const servers = isTrue(config.text(section, 'driver_handles_share_servers'));
    const label = config.text(section, 'share_backend_name', section);
    return { ...snapshots, share_backend_name: label, driver_handles_share_servers: servers, pool };
  };
  const handler: RpcHandler = (method, parameters) => runTask(work, method, parameters as Message);
  const ended = new AbortController();
  const copies = async () => {
    while (!ended.signal.aborted && (await pause(process, config.integer('DEFAULT', 'periodic_interval') * 1000)))
      await finishCopies(work).catch((error: unknown) => {
        if (!(error instanceof PythonError)) throw error;
        log.exception(logger, 'Error during ShareManager.periodic_share_status_update', error);
      });
  };
  void copies();
  try {
    await serve(context, { host, binary: 'manila-share', database, messaging, handler, initHost });
  } finally {
    ended.abort();
  }
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
