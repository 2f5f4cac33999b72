import { overNetwork } from '@openstack-operator/cli';
import { sleep } from '@openstack-operator/kube';
import type { HttpAnswer } from '@openstack-operator/operator';
import type { Image, Process } from '@openstack-operator/sandbox';

/** What answers to a user with a token at each kind of endpoint, and what it asks of the service behind. */
const asked: Readonly<Record<string, string>> = {
  identity: '/users',
  image: '/v2/images',
  placement: '/resource_providers',
  network: '/v2.0/networks',
  compute: '/servers',
};

/**
 * A user's own pod: logs in with the administrator's password, reads the catalogue, and asks every service in it
 * something that only a valid token opens. Exit code 1 with what went wrong.
 */
export const clientImage: Image = {
  matches: (reference) => reference === 'client',
  user: 1000,
  programs: {
    client: use,
    late: async ({ clock, signal }) => {
      await sleep(clock, 60_000, signal);
      return 0;
    },
  },
};

async function use(process: Process): Promise<number> {
  const { IDENTITY_URL = '', PASSWORD = '' } = process.env;
  try {
    const { token, catalog } = await login(process, IDENTITY_URL, PASSWORD);
    for (const { type, endpoints } of catalog) {
      for (const { interface: side, url } of endpoints) {
        const path = side === 'internal' ? (asked[type] ?? '/') : '/';
        const answer = await get(process, `${url}${path}`, token);
        if (side === 'internal' ? answer.status !== 200 : answer.status >= 400) {
          throw new Error(`GET ${url}${path} (${type}, ${side}): ${answer.status} ${answer.body.slice(0, 200)}`);
        }
      }
    }
    return 0;
  } catch (error) {
    process.stderr(`${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

interface Login {
  readonly token: string;
  readonly catalog: readonly { type: string; endpoints: readonly { interface: string; url: string }[] }[];
}

async function login(process: Process, url: string, password: string): Promise<Login> {
  const domain = { name: 'Default' };
  const answer = await overNetwork(process, {
    method: 'POST',
    url: `${url}/auth/tokens`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      auth: {
        identity: { methods: ['password'], password: { user: { name: 'admin', domain, password } } },
        scope: { project: { name: 'admin', domain } },
      },
    }),
  });
  if (answer.status !== 201) throw new Error(`POST ${url}/auth/tokens: ${answer.status} ${answer.body.slice(0, 200)}`);
  const { token } = JSON.parse(answer.body) as { token: { catalog: Login['catalog'] } };
  return { token: answer.headers['x-subject-token'] ?? '', catalog: token.catalog };
}

function get(process: Process, url: string, token: string): Promise<HttpAnswer> {
  const headers = { 'x-auth-token': token, 'openstack-api-version': 'placement 1.39' };
  return overNetwork(process, { method: 'GET', url, headers });
}
