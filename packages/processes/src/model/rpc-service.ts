import { PythonError } from '../oslo/python-error.ts';
import type { ServiceContext } from '../oslo/service-context.ts';
import { pause } from '../program-support.ts';

/**
 * Runs a worker: one that fails as it starts is followed by another one, for ever; without workers (`once`) the service ends
 * and says that all is well (oslo_service.backend.eventlet.service). @returns undefined on SIGTERM
 */
export async function respawning<T>(
  { process, log }: ServiceContext,
  run: () => Promise<T>,
  { once = false }: { once?: boolean } = {},
): Promise<T | undefined> {
  const logger = 'oslo_service.backend.eventlet.service';
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
