import { type Listener, type Process, SystemError } from '@openstack-operator/sandbox';
import { osError, PythonError } from '../oslo/python-error.ts';
import { pause } from '../program-support.ts';
import type { WsgiHandler } from './uwsgi.ts';

/**
 * An HTTP server of eventlet; answers within some milliseconds.
 * @throws SystemError as `listen` does
 */
export function serveHttp(process: Process, address: { host: string; port: number }, handler: WsgiHandler): Listener {
  const { host, port } = address;
  return process.network.listen(
    port,
    'http',
    () => ({
      receive: async (message) => {
        await pause(process, 5);
        return handler(message as Parameters<WsgiHandler>[0]);
      },
    }),
    { ...(host !== '0.0.0.0' && host !== '::' && { host }) },
  );
}

/** Binds as Glance and oslo.service do: tries for 30 s while the address is in use. @throws PythonError */
export async function bindPatiently(
  process: Process,
  address: { host: string; port: number },
  handler: WsgiHandler,
): Promise<Listener> {
  for (let waited = 0; ; waited += 100) {
    try {
      return serveHttp(process, address, handler);
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      if (error.code !== 'EADDRINUSE') throw osError(error);
      const { host, port } = address;
      if (waited >= 30_000)
        throw new PythonError('RuntimeError', `Could not bind to ${host}:${port} after trying for 30 seconds`);
      await pause(process, 100);
    }
  }
}
