import type { Messaging } from '../oslo/messaging.ts';
import { PythonError, SystemExit } from '../oslo/python-error.ts';
import type { ServiceContext } from '../oslo/service-context.ts';
import { pause } from '../program-support.ts';

const logger = 'oslo_service.backend.eventlet.service';

/**
 * Runs a worker: one that fails as it starts is followed by another one, for ever; without workers (`once`) the service ends
 * and says that all is well (oslo_service.backend.eventlet.service). @returns undefined on SIGTERM
 */
export async function respawning<T>(
  { process, log }: ServiceContext,
  run: () => Promise<T>,
  { once = false }: { once?: boolean } = {},
): Promise<T | undefined> {
  do {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      log.exception(logger, `Error starting thread.: ${error.lastLine}`, error);
      if (once) return undefined;
      log.info(logger, `Child ${process.pid + 1} exited with status 1`);
    }
  } while (await pause(process, 1000));
  return undefined;
}

/**
 * After SIGTERM: brings to its end what was taken from the broker. It does not get there while it looks for a broker that is
 * away: then it ends when `graceful_shutdown_timeout` is over (0: never).
 * @throws SystemExit with 1 when it is (oslo_service.backend.eventlet.service, _on_alarm_exit)
 */
export async function drained({ process, config, log }: ServiceContext, messaging: Messaging): Promise<void> {
  const seconds = config.integer('DEFAULT', 'graceful_shutdown_timeout');
  const { promise: late, resolve: expire } = Promise.withResolvers<'late'>();
  const alarm = seconds === 0 ? undefined : process.clock.after(seconds * 1000, () => expire('late'));
  const end = await Promise.race([messaging.drain(), late]);
  alarm?.cancel();
  if (end !== 'late') return;
  log.info(logger, 'Graceful shutdown timeout exceeded, instantaneous exiting');
  throw new SystemExit(1);
}
