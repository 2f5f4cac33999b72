import { jsonApi, patient } from './http.ts';
import { login } from './identity-login.ts';
import type { RecordsWorld } from './run.ts';

/** Volumes that are asked for at once: what `osapi_max_limit` allows by default. */
const pageSize = 1000;

/** Seconds for which an API that is just starting is waited for. */
const patience = 60;

/** Exit code of `count-volumes` when there are volumes. */
export const volumesExist = 3;

/**
 * `openstack-operator count-volumes HOST...`: asks Cinder whether volumes of any project are recorded under backends, each
 * as `host@backend`. Takes OS_AUTH_URL, OS_USERNAME, OS_PASSWORD (of a user with role admin on project `service`) and
 * VOLUME_URL from the environment.
 * @returns the exit code: 0 there is none, 3 there are some (`volumes: 3 of cinder@fast`), 1 nobody can tell, 2 wrong arguments
 */
export async function runCountVolumes(
  hosts: readonly string[],
  world: Omit<RecordsWorld, 'read' | 'writeMessage'> & { readonly env: Readonly<Record<string, string | undefined>> },
): Promise<number> {
  const { env, print } = world;
  const [url, username, password, volumes] = ['OS_AUTH_URL', 'OS_USERNAME', 'OS_PASSWORD', 'VOLUME_URL'].map(
    (name) => env[name] ?? '',
  ) as [string, string, string, string];
  if (hosts.length === 0 || [url, username, password, volumes].includes('')) {
    print(
      'usage: OS_AUTH_URL=... OS_USERNAME=... OS_PASSWORD=... VOLUME_URL=... openstack-operator count-volumes HOST...',
    );
    return 2;
  }
  try {
    const http = patient(world.http, world.clock, patience, world.signal);
    const who = { username, password, project: 'service', userDomain: 'Default', projectDomain: 'Default' };
    const api = jsonApi(http, volumes, { 'x-auth-token': await login(http, url, who) });
    const found: string[] = [];
    for (const host of hosts) {
      const query = `all_tenants=1&limit=${pageSize}&host=${encodeURIComponent(host)}`;
      const answer = (await api.call('GET', `/volumes?${query}`)) as { volumes?: unknown[] } | undefined;
      if (!Array.isArray(answer?.volumes)) throw new Error(`GET ${volumes}/volumes: the answer holds no volumes`);
      const { length } = answer.volumes;
      if (length > 0) found.push(`${length < pageSize ? '' : 'at least '}${length} of ${host}`);
    }
    print(`volumes: ${found.length === 0 ? '0' : found.join(', ')}`);
    return found.length === 0 ? 0 : volumesExist;
  } catch (error) {
    print(error instanceof Error ? error.message : String(error));
    return 1;
  }
}
