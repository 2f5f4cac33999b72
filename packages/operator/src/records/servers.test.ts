import { realClock } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import type { HttpAnswer, HttpCall } from './http.ts';
import { runCountServers } from './servers.ts';

const env = {
  OS_AUTH_URL: 'http://keystone/v3',
  OS_USERNAME: 'nova',
  OS_PASSWORD: 'x',
  COMPUTE_URL: 'http://nova/v2.1',
};
const id = (index: number) => ({ id: `id-${index}`, name: 'n' });
const page = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => id(from + index));

/** Counts against a Nova whose answers follow from the query. */
async function count(answer: (query: URLSearchParams) => Partial<HttpAnswer> & { json?: unknown }, change = {}) {
  const printed: string[] = [];
  const calls: HttpCall[] = [];
  const code = await runCountServers([], {
    env: { ...env, ...change },
    clock: realClock,
    print: (line) => printed.push(line),
    http: (call) => {
      calls.push(call);
      if (call.method === 'POST')
        return Promise.resolve({ status: 201, headers: { 'x-subject-token': 'token' }, body: '{}' });
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

test('what it lacks it asks for', async () => {
  expect((await count(() => ({ json: {} }), { OS_PASSWORD: undefined })).code).toBe(2);
});
