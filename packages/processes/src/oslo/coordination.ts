import { SystemError } from '@openstack-operator/sandbox';
import { PythonError } from './python-error.ts';
import type { ServiceContext } from './service-context.ts';

/**
 * Tooz, as far as it can break its user: it joins when a process starts. Of `memcached://host:port` the server has to be
 * there; files lie on the process's own disk.
 * @throws PythonError ToozConnectionError, and for an URL of another driver
 */
export async function joinCoordination(
  { process, config }: ServiceContext,
  url = config.text('coordination', 'backend_url'),
): Promise<void> {
  if (url.startsWith('file://')) return;
  const [, host = '', port = '11211'] = /^memcached:\/\/(\[[^\]]+\]|[^/:]*)(?::(\d+))?/.exec(url) ?? [];
  if (host === '')
    throw new PythonError('tooz.NotImplemented', `this simulated tooz does not know ${url.split(':', 1)[0]}`);
  try {
    (await process.network.connect(host, Number(port), 'memcached')).close();
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    throw new PythonError('tooz.coordination.ToozConnectionError', `[Errno 111] ${error.message}`);
  }
}
