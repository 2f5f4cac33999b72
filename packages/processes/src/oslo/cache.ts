import type { Process } from '@openstack-operator/sandbox';
import { worded } from '../attempt.ts';
import type { MemcachedRequest } from '../infrastructure/memcached.ts';
import type { Config } from './config.ts';
import { osError, PythonError } from './python-error.ts';

/** oslo.cache, as far as it can break its user: `[cache]` of a service that keeps answers in memcached. */
export class Cache {
  readonly #process: Process;
  readonly #servers: readonly string[];
  /** dogpile's pymemcache backend raises what the socket raises; the pools take a dead server for a miss. */
  readonly #strict: boolean;

  /** @throws PythonError for a backend that does not exist */
  constructor(process: Process, config: Config) {
    this.#process = process;
    const backend = config.text('cache', 'backend');
    const enabled = config.boolean('cache', 'enabled');
    this.#servers = enabled ? config.list('cache', 'memcache_servers') : [];
    this.#strict = enabled && backend === 'dogpile.cache.pymemcache';
  }

  /** Looks something up, which every request does. @throws PythonError when the server is not there and the backend minds */
  async touch(key: string): Promise<void> {
    if (!this.#strict) return;
    const index =
      Array.from(key).reduce((sum, char) => sum + (char.codePointAt(0) ?? 0), 0) % Math.max(1, this.#servers.length);
    const [host = 'localhost', port = '11211'] = (this.#servers[index] ?? '')
      .replace(/^inet6?:/, '')
      .split(/:(?=\d+$)/);
    await worded(
      async () => {
        const connection = await this.#process.network.connect(host, Number(port), 'memcached');
        await connection.call({ type: 'get', key } satisfies MemcachedRequest);
        connection.close();
      },
      (error) =>
        error.code === 'EPROTO'
          ? new PythonError('pymemcache.exceptions.MemcacheUnknownError', error.message)
          : osError(error),
    );
  }
}
