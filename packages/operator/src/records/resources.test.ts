import { seededRandom } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import type { Http, HttpAnswer } from './http.ts';
import { keepResourceRecords, type ResourceRecords, removeResourceRecords } from './resources.ts';

type Network = Record<string, unknown> & { id: string };

/** Keystone and an API of networks; answers come in an order that the seed decides. */
function cloud(seed: number, types = ['network']) {
  const random = seededRandom(seed);
  const networks = new Map<string, Network>();
  const answer = (status: number, value?: unknown, headers = {}): HttpAnswer => ({
    status,
    headers,
    body: value === undefined ? '' : JSON.stringify(value),
  });
  const versions = new Set<string | undefined>();
  const http: Http = async ({ method, url, headers, body = '{}' }) => {
    for (let turns = Math.floor(random.next() * 20); turns > 0; turns--) await Promise.resolve();
    const { pathname, searchParams } = new URL(url);
    if (pathname === '/v3/auth/tokens') {
      const endpoints = [{ interface: 'internal', region_id: 'RegionOne', url: 'http://network' }];
      const catalog = types.map((type) => ({ type, endpoints }));
      return answer(201, { token: { project: { id: 'mine' }, catalog } }, { 'x-subject-token': 't' });
    }
    versions.add(headers?.['x-version']);
    const [, , id = ''] = pathname.split('/');
    const { network = {} } = JSON.parse(body) as { network?: object };
    if (method === 'POST') {
      const made: Network = { id: Math.floor(random.next() * 2 ** 40).toString(16), project_id: 'mine', ...network };
      networks.set(made.id, made);
      return answer(201, { network: made });
    }
    if (method === 'DELETE') return answer(networks.delete(id) ? 204 : 404);
    if (method === 'PUT') Object.assign(networks.get(id) ?? {}, network);
    const found = [...networks.values()].filter((one) => [...searchParams].every(([key, value]) => one[key] === value));
    return answer(200, { networks: found });
  };
  return { http, networks, versions };
}

const records: ResourceRecords = {
  url: 'http://keystone/v3',
  username: 'bell',
  password: 'secret',
  project: 'service',
  userDomain: 'Default',
  projectDomain: 'Default',
  region: 'RegionOne',
  resources: [
    {
      kind: 'network',
      name: 'bells',
      type: 'network',
      api: { path: '/networks', item: 'network', owned: true, change: 'PUT' },
      attributes: { mtu: 1400 },
    },
  ],
};

test('of two runs at once, the one that sees that it was second takes back what it made', async () => {
  let collisions = 0;
  let doubled = 0;
  for (let seed = 1; seed <= 200; seed++) {
    const { http, networks } = cloud(seed);
    const changes = await Promise.all([keepResourceRecords(records, http), keepResourceRecords(records, http)]);
    if (changes.flat().length === 2) collisions++;
    if (networks.size === 2) doubled++;
    expect([1, 2], `seed ${seed}`).toContain(networks.size);
    expect(await keepResourceRecords(records, http), `seed ${seed}`).toEqual([]);
  }
  expect(collisions).toBeGreaterThan(50);
  expect(doubled, 'where the first one had looked before').toBeLessThan(collisions / 3);
});

test('an API that has versions is asked in the one that the records say', async () => {
  const { http, versions } = cloud(1);
  const resources = records.resources.map((one) => ({ ...one, api: { ...one.api, headers: { 'x-version': '2.65' } } }));
  await keepResourceRecords({ ...records, resources }, http);
  expect([...versions]).toEqual(['2.65']);
});

test('what another project has of the same name stays as it is', async () => {
  const { http, networks } = cloud(1);
  const theirs = { id: '0', name: 'bells', project_id: 'theirs', mtu: 1500 };
  networks.set('0', { ...theirs });
  expect(await keepResourceRecords(records, http)).toEqual(['created network bells']);
  expect(await removeResourceRecords(records, http)).toEqual(['removed network bells']);
  expect([...networks.values()]).toEqual([theirs]);
});

test('a service that is not in the catalogue has nothing to remove, and cannot be given anything', async () => {
  const { http } = cloud(1, []);
  await expect(keepResourceRecords(records, http)).rejects.toThrow(
    'the catalogue has no service of type network in RegionOne',
  );
  expect(await removeResourceRecords(records, http)).toEqual([]);
});

test('of an attribute that is a map the keys count that the records name', async () => {
  const { http, networks } = cloud(1);
  const [network] = records.resources;
  if (network === undefined) throw new Error('no network');
  const { change: _change, ...api } = network.api;
  const tagged = { ...records, resources: [{ ...network, api, attributes: { tags: { of: 'bells' } } }] };
  await keepResourceRecords(tagged, http);
  const [made] = networks.values();
  Object.assign(made ?? {}, { tags: { of: 'bells', more: 'by hand' } });
  expect(await keepResourceRecords(tagged, http)).toEqual([]);
  Object.assign(made ?? {}, { tags: { of: 'others', more: 'by hand' } });
  await expect(keepResourceRecords(tagged, http)).rejects.toThrow('cannot be changed');
});

test('what is the own of a service goes with its data', async () => {
  const { http, networks } = cloud(1);
  const own = { ...records, resources: records.resources.map((one) => ({ ...one, own: true })) };
  expect(await keepResourceRecords(own, http)).toEqual(['created network bells']);
  expect(await removeResourceRecords(own, http)).toEqual([]);
  expect(networks.size).toBe(1);
});

/** An API of types: extra specs, QoS specs and encryption are written apart, and the last is shown apart. */
function types(refuses: (call: string) => boolean = () => false) {
  const calls: string[] = [];
  const type: Record<string, unknown> = { id: 'one' };
  let encryption: object = {};
  const http: Http = ({ method, url, body = '{}' }) => {
    const { pathname, search } = new URL(url);
    const answer = (value: unknown, headers = {}) =>
      Promise.resolve({ status: 201, headers, body: JSON.stringify(value) });
    if (pathname === '/v3/auth/tokens') {
      const endpoints = [{ interface: 'internal', region_id: 'RegionOne', url: 'http://types' }];
      const token = { project: { id: 'mine' }, catalog: [{ type: 'types', endpoints }] };
      return answer({ token }, { 'x-subject-token': 't' });
    }
    if (method !== 'GET' || search !== '') calls.push(`${method} ${pathname}${search} ${method === 'GET' ? '' : body}`);
    if (refuses(`${method} ${pathname}`)) return Promise.resolve({ status: 500, headers: {}, body: '{}' });
    const given = JSON.parse(body) as Record<string, Record<string, unknown>>;
    if (pathname === '/types/one/encryption') {
      if (method === 'POST') encryption = given['encryption'] ?? {};
      return answer(encryption);
    }
    if (pathname === '/qos/two/associate') type['qos'] = 'two';
    else if (method === 'POST') {
      const { public: isPublic, ...others } = given['type'] ?? {};
      Object.assign(
        type,
        given['specs'] === undefined ? { ...others, is_public: isPublic } : { specs: given['specs'] },
      );
    } else if (method === 'PUT') Object.assign(type, given['type']);
    return answer(method === 'POST' ? { type } : { all: type['name'] === undefined ? [] : [type] });
  };
  return { http, calls };
}

const typeOf = (attributes: Readonly<Record<string, unknown>>): ResourceRecords => ({
  ...records,
  resources: [
    {
      kind: 'type',
      name: 'gold',
      type: 'types',
      api: {
        path: '/types',
        item: 'type',
        items: 'all',
        change: 'PUT',
        madeAs: { is_public: 'public' },
        meanwhile: { is_public: false },
        writes: {
          specs: { method: 'POST', path: '/types/{id}/specs' },
          qos: { method: 'GET', path: '/qos/{value}/associate?type={id}', later: true },
          encryption: { method: 'POST', path: '/types/{id}/encryption', shown: '/types/{id}/encryption', later: true },
        },
      },
      attributes,
    },
  ],
});

test('attributes that have ways of their own are written by them, when one is made and when it differs', async () => {
  const { http, calls } = types();
  const made = { is_public: false, specs: { a: '1' }, qos: 'two', encryption: { provider: 'luks' } };
  expect(await keepResourceRecords(typeOf(made), http)).toEqual(['created type gold']);
  expect(calls).toEqual([
    'POST /types {"type":{"name":"gold","public":false,"specs":{"a":"1"}}}',
    'GET /qos/two/associate?type=one ',
    'POST /types/one/encryption {"encryption":{"provider":"luks"}}',
  ]);
  expect(await keepResourceRecords(typeOf(made), http)).toEqual([]);
  calls.length = 0;
  const changed = { ...made, is_public: true, specs: { a: '2' } };
  expect(await keepResourceRecords(typeOf(changed), http)).toEqual(['changed is_public, specs of type gold']);
  expect(calls).toEqual(['POST /types/one/specs {"specs":{"a":"2"}}', 'PUT /types/one {"type":{"is_public":true}}']);
  await expect(keepResourceRecords(typeOf({ encryption: { provider: 'plain' } }), http)).rejects.toThrow(
    'type gold: encryption is {"provider":"luks"}, not {"provider":"plain"}, and cannot be changed',
  );
});

test('nobody may use what is not whole: it becomes public when all of it is written, also after a failure in between', async () => {
  let fails = true;
  const { http, calls } = types((call) => fails && call === 'POST /types/one/encryption');
  const safe = typeOf({ is_public: true, encryption: { provider: 'luks' } });
  await expect(keepResourceRecords(safe, http)).rejects.toThrow('/types/one/encryption: 500');
  fails = false;
  expect(await keepResourceRecords(safe, http)).toEqual(['changed is_public, encryption of type gold']);
  const encrypted = 'POST /types/one/encryption {"encryption":{"provider":"luks"}}';
  expect(calls).toEqual([
    'POST /types {"type":{"name":"gold","public":false}}',
    encrypted,
    encrypted,
    'PUT /types/one {"type":{"is_public":true}}',
  ]);
  const whole = types();
  await keepResourceRecords(safe, whole.http);
  expect(whole.calls.at(-1)).toBe('PUT /types/one {"type":{"is_public":true}}');
  const plain = types();
  await keepResourceRecords(typeOf({ is_public: true }), plain.http);
  expect(plain.calls).toEqual(['POST /types {"type":{"name":"gold","public":true}}']);
});

test('an identifier is told where somebody asks, made or found; what there is one of is changed, and never made', async () => {
  const { http, networks } = cloud(1);
  const [network] = records.resources;
  if (network === undefined) throw new Error('no network');
  const of = { idOf: 'network/bells' };
  const shape = { ...network, kind: 'shape', of, attributes: { mtu: 1300 } };
  const both = { ...records, resources: [{ ...network, told: true, attributes: {} }, shape] };
  const told: string[] = [];
  // The API of the test lists whatever it is asked for: the only one is shown where one is.
  const one: Http = async (request) => {
    const answer = await http(request);
    const id = /\/networks\/([0-9a-f]+)$/.exec(request.url)?.[1];
    return request.method === 'GET' && id !== undefined
      ? { ...answer, body: JSON.stringify({ network: networks.get(id) }) }
      : answer;
  };
  const keep = () => keepResourceRecords(both, one, (line) => told.push(line));
  expect(await keep()).toEqual(['created network bells', 'changed mtu of shape bells']);
  expect(await keep()).toEqual([]);
  const [made] = networks.values();
  expect(made).toMatchObject({ mtu: 1300 });
  expect(told).toEqual([`{network bells: ${made?.id}}`, `{network bells: ${made?.id}}`]);
  expect(networks.size).toBe(1);
  expect(await removeResourceRecords(both, one)).toEqual(['removed network bells']);
});

test("one that does not bear the mark is somebody else's: nothing is changed or told of it, and none is removed", async () => {
  const { http, networks } = cloud(1);
  const marked = {
    ...records,
    resources: records.resources.map((one) => ({
      ...one,
      api: { ...one.api, mark: 'description' },
      attributes: { mtu: 1400, description: 'of bells' },
      told: true,
    })),
  };
  const theirs = { id: '0', name: 'bells', project_id: 'mine', mtu: 1500, description: 'of theirs' };
  networks.set('0', { ...theirs });
  const told: string[] = [];
  await expect(keepResourceRecords(marked, http, (line) => told.push(line))).rejects.toThrow(
    'network bells is there already and is not the operator\'s: its description is "of theirs", not "of bells"; rename it',
  );
  expect(told).toEqual([]);
  expect([...networks.values()]).toEqual([theirs]);
  networks.set('0', { ...theirs, description: 'of bells' });
  expect(await keepResourceRecords(marked, http)).toEqual(['changed mtu of network bells']);
  expect(await removeResourceRecords(marked, http)).toEqual([]);
  expect(networks.size).toBe(1);
});
