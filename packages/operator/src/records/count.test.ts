import { realClock, virtualClock } from '@openstack-operator/kube';
import type { CountPlan } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { runCount } from './count.ts';
import type { HttpAnswer, HttpCall } from './http.ts';

const env = {
  OS_AUTH_URL: 'http://keystone/v3',
  OS_USERNAME: 'nova',
  OS_PASSWORD: 'x',
  API_URL: 'http://nova/v2.1',
};
const servers: CountPlan = {
  counts: [
    {
      of: 'servers',
      lists: ['/servers?all_tenants=1', '/servers?all_tenants=1&soft_deleted=true'],
      headers: { 'openstack-api-version': 'compute 2.69' },
    },
  ],
};
const id = (index: number) => ({ id: `id-${index}`, name: 'n' });
const page = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => id(from + index));

/** Counts against a Nova whose answers follow from the query. */
async function count(
  answer: (query: URLSearchParams) => Partial<HttpAnswer> & { json?: unknown },
  change = {},
  plan: CountPlan = servers,
) {
  const printed: string[] = [];
  const calls: HttpCall[] = [];
  const code = await runCount([JSON.stringify(plan)], {
    env: { ...env, ...change },
    clock: realClock,
    print: (line) => printed.push(line),
    http: (call) => {
      calls.push(call);
      if (call.method === 'POST')
        return Promise.resolve({
          status: 201,
          headers: { 'x-subject-token': 'token' },
          body: JSON.stringify({ token: { project: { id: 'project' } } }),
        });
      const { json, ...rest } = answer(new URL(call.url).searchParams);
      return Promise.resolve({ status: 200, headers: {}, body: JSON.stringify(json), ...rest });
    },
  });
  return { code, printed, calls };
}

test('no server at all: ends with 0, after it asked for all projects, soft-deleted ones and cells that are down', async () => {
  const { code, printed, calls } = await count(() => ({ json: { servers: [] } }));
  expect({ code, printed }).toEqual({ code: 0, printed: ['servers: 0'] });
  const queries = calls.slice(1).map(({ url }) => new URL(url).searchParams);
  expect(queries.map((query) => query.get('all_tenants'))).toEqual(['1', '1']);
  expect(queries.map((query) => query.get('soft_deleted'))).toEqual([null, 'true']);
  for (const { headers } of calls.slice(1)) expect(headers['openstack-api-version']).toBe('compute 2.69');
});

test('servers are counted over all pages, each once; what is soft-deleted, or in a cell that is down, counts', async () => {
  const { code, printed } = await count((query) => {
    if (query.get('marker') === null) return { json: { servers: page(0, 1000), servers_links: [{ rel: 'next' }] } };
    expect(query.get('marker')).toBe('id-999');
    const soft = query.has('soft_deleted') ? [id(7000)] : [{ id: 'down', status: 'UNKNOWN' }];
    return { json: { servers: [...page(1000, 1005), ...soft] } };
  });
  expect({ code, printed }).toEqual({ code: 3, printed: ['servers: 1007'] });
});

test.each([
  ['a link beside the items (Octavia)', { loadbalancers_links: [{ rel: 'next', href: 'x' }] }],
  ['a list of links (Heat)', { links: [{ rel: 'next', href: 'x' }] }],
  ['a map of links (Designate)', { links: { self: 'x', next: 'y' } }],
  ['a link of its own (Glance, Ironic, Magnum, Zun)', { next: 'x' }],
])('pages go on by %s', async (_title, more) => {
  const counts = [{ of: 'load balancers', lists: ['/lbs?limit=2'], items: 'loadbalancers' }];
  const { code, printed } = await count(
    (query) => ({
      json:
        query.get('marker') === null
          ? { loadbalancers: [{ uuid: 'a' }, { uuid: 'b' }], ...more }
          : {
              loadbalancers: [{ uuid: `after ${query.get('marker')}` }],
              loadbalancers_links: [],
              links: {},
              next: null,
            },
    }),
    {},
    { counts },
  );
  expect({ code, printed }).toEqual({ code: 3, printed: ['load balancers: 3'] });
});

test('several sorts are counted, by the project of whoever logs in; it may be the administrator of the cloud', async () => {
  const counts = ['volumes', 'backups'].map((of) => ({ of, lists: [`/${of}`] }));
  const admin = { OS_PROJECT_NAME: 'admin', OS_USER_DOMAIN_NAME: 'a', OS_PROJECT_DOMAIN_NAME: 'b' };
  const { printed, calls } = await count(
    () => ({ json: { volumes: [id(1), id(2)], backups: [id(3)] } }),
    { ...admin, API_URL: 'http://cinder/v3/%(project_id)s' },
    { counts },
  );
  expect(printed).toEqual(['volumes: 2, backups: 1']);
  expect(calls.map(({ url }) => url)).toEqual([
    'http://keystone/v3/auth/tokens',
    'http://cinder/v3/project/volumes',
    'http://cinder/v3/project/backups',
  ]);
  expect(JSON.parse(calls[0]?.body ?? '')).toMatchObject({
    auth: {
      identity: { password: { user: { domain: { name: 'a' } } } },
      scope: { project: { name: 'admin', domain: { name: 'b' } } },
    },
  });
});

test('only servers of a cell that is down: they are servers', async () => {
  const { code, printed } = await count((query) => ({
    json: { servers: query.has('soft_deleted') ? [] : [{ id: 'a', status: 'UNKNOWN' }] },
  }));
  expect({ code, printed }).toEqual({ code: 3, printed: ['servers: 1'] });
});

test.each([
  ['an answer of another kind', () => ({ json: { error: 'x' } }), /the answer holds no servers/],
  [
    'a refusal',
    () => ({ status: 403, json: { forbidden: { message: 'no' } } }),
    /^GET http:\/\/nova\/v2\.1\/servers.*403/,
  ],
])('%s is no count', async (_title, answer, words) => {
  const { code, printed } = await count(answer);
  expect(code).toBe(1);
  expect(printed.join('\n')).toMatch(words);
});

/** A backend of volumes, as a simulated API keeps it: how many lie there, and its row among the processes. */
interface Backend {
  volumes: number;
  status?: string;
  disabled_reason?: string | null;
}

/** Counts the volumes of backends that go, and takes back those that are stated again. */
async function countVolumes(
  backends: Record<string, Backend>,
  { gone = Object.keys(backends), back = [] }: { gone?: string[]; back?: string[] } = {},
  later: () => void = () => undefined,
) {
  const printed: string[] = [];
  const calls: string[] = [];
  const plan: CountPlan = {
    counts: [{ of: 'volumes', lists: ['/volumes?all_tenants=1&host={host}'], host: 'host' }],
    backends: {
      scheduling: { path: '/os-services', disable: 'disable-log-reason' },
      binary: 'cinder-volume',
      reason: 'it goes',
      gone,
      back,
    },
  };
  const clock = virtualClock();
  const done = runCount([JSON.stringify(plan)], {
    env,
    clock,
    print: (line) => printed.push(line),
    http: ({ method, url, body = '{}' }) => {
      const { pathname, searchParams } = new URL(url);
      const host = searchParams.get('host') ?? '';
      const answer = (json: object) => Promise.resolve({ status: 200, headers: {}, body: JSON.stringify(json) });
      if (method === 'POST')
        return Promise.resolve({ status: 201, headers: { 'x-subject-token': 'token' }, body: '{}' });
      if (method === 'PUT') {
        const { host, ...more } = JSON.parse(body) as { host: string; disabled_reason?: string };
        calls.push(`${pathname} ${host}`);
        const status = pathname.endsWith('/enable') ? 'enabled' : 'disabled';
        Object.assign(backends[host] ?? {}, { status, disabled_reason: more.disabled_reason ?? null });
        return answer({});
      }
      const { volumes = 0, status = '', disabled_reason = null } = backends[host] ?? {};
      if (pathname.endsWith('/os-services'))
        return answer({ services: status === '' ? [] : [{ host, binary: 'cinder-volume', status, disabled_reason }] });
      calls.push(`count ${host}`);
      const all = Array.from({ length: volumes }, (_, index) => ({ id: `${index}`, host: `${host}#pool` }));
      return answer({ volumes: [...all, { id: 'other', host: `${host}-too#pool` }] });
    },
  });
  await clock.advance(0);
  later();
  await clock.advance(60_000);
  return { code: await done, printed, calls };
}

test('a backend that goes gets nothing new before it is counted, and is counted again a minute later', async () => {
  const backends = { 'a@fast': { volumes: 0, status: 'enabled' }, 'a@never': { volumes: 0 } };
  const { code, printed, calls } = await countVolumes(backends);
  expect({ code, printed }).toEqual({ code: 0, printed: ['volumes: 0'] });
  expect(calls).toEqual([
    '/v2.1/os-services/disable-log-reason a@fast',
    'count a@fast',
    'count a@never',
    'count a@fast',
    'count a@never',
  ]);
  expect(backends['a@fast']).toMatchObject({ status: 'disabled', disabled_reason: 'it goes' });
});

test('what was on its way to a backend when it was disabled counts', async () => {
  const fast = { volumes: 0, status: 'enabled' };
  const { code, printed } = await countVolumes({ 'a@fast': fast }, {}, () => {
    fast.volumes = 1;
  });
  expect({ code, printed }).toEqual({ code: 3, printed: ['volumes: 1 of a@fast'] });
});

test('a backend that is back is enabled again, unless somebody else has disabled it', async () => {
  const backends = {
    'a@ours': { volumes: 2, status: 'disabled', disabled_reason: 'it goes' },
    'a@theirs': { volumes: 0, status: 'disabled', disabled_reason: 'its disks are replaced' },
  };
  const back = Object.keys(backends);
  expect(await countVolumes(backends, { gone: [], back })).toMatchObject({
    code: 0,
    calls: ['/v2.1/os-services/enable a@ours'],
  });
  const gone = await countVolumes({ 'a@theirs': backends['a@theirs'] });
  expect(gone.calls).toEqual(['count a@theirs', 'count a@theirs']);
});

test('what it lacks it asks for', async () => {
  expect((await count(() => ({ json: {} }), { OS_PASSWORD: undefined })).code).toBe(2);
});
