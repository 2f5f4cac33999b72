import { type Http, jsonApi, patient } from './http.ts';
import { login } from './identity-login.ts';
import type { RecordsWorld } from './run.ts';

/** From here on servers of a cell that does not answer are listed, by their id alone (compute API, microversion 2.69). */
const microversion = '2.69';

/** Servers that are asked for at once: what `[api] max_limit` allows by default. */
const pageSize = 1000;

/** Pages after which "at least" is enough. */
const mostPages = 100;

/** Seconds for which an API that is just starting is waited for. */
const patience = 60;

/** How many servers there are. `atLeast`: counting was ended before the last one. */
export interface ServerCount {
  readonly servers: number;
  readonly atLeast: boolean;
}

/** Exit code of `count-servers` when there are servers. */
export const serversExist = 3;

/**
 * `openstack-operator count-servers`: asks Nova how many servers all projects have, those that are deleted softly and
 * those of cells that are down among them. Takes OS_AUTH_URL, OS_USERNAME, OS_PASSWORD (of a user with role admin on
 * project `service`) and COMPUTE_URL from the environment.
 * @returns the exit code: 0 there is none, 3 there are some (`servers: 3`), 1 nobody can tell, 2 wrong arguments
 */
export async function runCountServers(
  args: readonly string[],
  world: Omit<RecordsWorld, 'read' | 'writeMessage'> & { readonly env: Readonly<Record<string, string | undefined>> },
): Promise<number> {
  const { env, print } = world;
  const [url, username, password, compute] = ['OS_AUTH_URL', 'OS_USERNAME', 'OS_PASSWORD', 'COMPUTE_URL'].map(
    (name) => env[name] ?? '',
  ) as [string, string, string, string];
  if (args.length > 0 || [url, username, password, compute].includes('')) {
    print('usage: OS_AUTH_URL=... OS_USERNAME=... OS_PASSWORD=... COMPUTE_URL=... openstack-operator count-servers');
    return 2;
  }
  try {
    const http = patient(world.http, world.clock, patience, world.signal);
    const who = { username, password, project: 'service', userDomain: 'Default', projectDomain: 'Default' };
    const { servers, atLeast } = await countServers(http, compute, await login(http, url, who));
    print(`servers: ${atLeast ? 'at least ' : ''}${servers}`);
    return servers === 0 ? 0 : serversExist;
  } catch (error) {
    print(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

/**
 * Counts by listing, as Nova offers nothing cheaper. Twice: a list with the filter for soft-deleted servers leaves out
 * those of cells that are down, which Nova can only filter by project.
 */
async function countServers(http: Http, compute: string, token: string): Promise<ServerCount> {
  const headers = { 'x-auth-token': token, 'openstack-api-version': `compute ${microversion}` };
  const api = jsonApi(http, compute, headers);
  const ids = new Set<string>();
  let atLeast = false;
  for (const filter of ['', '&soft_deleted=true']) {
    let marker: string | undefined;
    for (let page = 0; ; page++) {
      const query = `all_tenants=1&limit=${pageSize}${filter}${marker === undefined ? '' : `&marker=${marker}`}`;
      const answer = (await api.call('GET', `/servers?${query}`)) as ServerList | undefined;
      if (!Array.isArray(answer?.servers)) throw new Error(`GET ${compute}/servers: the answer holds no servers`);
      for (const { id } of answer.servers) ids.add(id);
      // Servers of cells that are down follow the others, and none of them can be a marker.
      const last = answer.servers.findLast(({ status }) => status !== 'UNKNOWN')?.id;
      if (answer.servers_links === undefined || last === undefined || last === marker) break;
      if (page >= mostPages) {
        atLeast = true;
        break;
      }
      marker = last;
    }
  }
  return { servers: ids.size, atLeast };
}

interface ServerList {
  readonly servers?: readonly { readonly id: string; readonly status?: string }[];
  /** Where the next page is; absent on the last one. */
  readonly servers_links?: unknown;
}
