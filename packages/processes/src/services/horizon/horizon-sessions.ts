import { uuid } from '@openstack-operator/kube';
import type { Process } from '@openstack-operator/sandbox';
import { worded } from '../../attempt.ts';
import type { MemcachedRequest } from '../../infrastructure/memcached.ts';
import type { Catalog } from '../../oslo/keystone-session.ts';
import { osError } from '../../oslo/python-error.ts';
import type { Settings } from './django-settings.ts';

/** Who has logged in: his token, and the catalogue that came with it. */
export interface Login {
  readonly token: string;
  readonly catalog: Catalog;
}

/** Keeps a login under the key of a cookie. @throws PythonError when the cache is not there */
export async function keep(process: Process, settings: Settings, value: Login): Promise<string> {
  const key = uuid(process.random).replaceAll('-', '');
  await ask(process, settings, { type: 'set', key, value });
  return key;
}

/** The login of a cookie. @throws PythonError when the cache is not there */
export async function find(process: Process, settings: Settings, key: string): Promise<Login | undefined> {
  return (await ask(process, settings, { type: 'get', key })) as Login | undefined;
}

/** What is no memcached is a cache of each process, and the next request has another process. */
async function ask(
  process: Process,
  { CACHES, SESSION_ENGINE }: Settings,
  request: MemcachedRequest,
): Promise<unknown> {
  const { BACKEND = '', LOCATION = [] } = CACHES?.default ?? {};
  const isShared = SESSION_ENGINE === 'django.contrib.sessions.backends.cache' && BACKEND.endsWith('.PyMemcacheCache');
  const [host = '', port = '11211'] = (LOCATION[0] ?? '').split(/:(?=\d+$)/u);
  if (!isShared) return undefined;
  return worded(
    async () => {
      const connection = await process.network.connect(host, Number(port), 'memcached');
      const answer = await connection.call(request);
      connection.close();
      return answer;
    },
    (error) => osError(error),
  );
}
