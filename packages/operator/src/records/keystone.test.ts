import { seededRandom } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import type { Http, HttpAnswer } from './http.ts';
import { type IdentityRecords, keepIdentityRecords, removeIdentityRecords } from './keystone.ts';

type Entity = Record<string, unknown> & { id: string };

/** What Keystone holds unique: nothing of services and endpoints. */
const unique = ['domains', 'projects', 'roles', 'users', 'regions'];

/** As much of Keystone as the records need. Answers come in an order that the seed decides. */
function identity(seed: number) {
  const random = seededRandom(seed);
  const collections = new Map<string, Map<string, Entity>>();
  const grants = new Set<string>();
  /** Registered limits that projects have limits of their own for. */
  const held = new Set<string>();
  const of = (name: string) => collections.get(name) ?? collections.set(name, new Map()).get(name) ?? new Map();
  const passwords = new Map<string, string>([['admin', 'secret']]);
  const answer = (status: number, value?: unknown, headers = {}): HttpAnswer => ({
    status,
    headers,
    body: value === undefined ? '' : JSON.stringify(value),
  });
  const collection = (method: string, name: string, id: string | undefined, query: URLSearchParams, body: object) => {
    const entities: Map<string, Entity> = of(name);
    const item = name.slice(0, -1);
    const [first] = (body as Record<string, Record<string, unknown>[]>)[name] ?? [];
    const given = (body as Record<string, Record<string, unknown>>)[item] ?? first ?? {};
    if (method === 'POST') {
      const same = (other: Entity) => (name === 'regions' ? other.id === given['id'] : other['name'] === given['name']);
      if (unique.includes(name) && [...entities.values()].some(same))
        return answer(409, { error: { message: 'Conflict' } });
      if (name === 'endpoints' && !of('services').has(String(given['service_id'])))
        return answer(400, { error: { message: `Could not find service: ${String(given['service_id'])}` } });
      const entity = { id: Math.floor(random.next() * 2 ** 40).toString(16), ...given } as Entity;
      entities.set(entity.id, entity);
      if (typeof given['password'] === 'string') passwords.set(String(given['name']), given['password']);
      return answer(201, { [item]: entity });
    }
    if (id === undefined) {
      const found = [...entities.values()].filter((one) => [...query].every(([key, value]) => one[key] === value));
      return answer(200, { [name]: found });
    }
    const entity = entities.get(id);
    if (entity === undefined) return answer(404, { error: { message: 'Not Found' } });
    if (held.has(id)) return answer(403, { error: { message: 'Unable to update or delete.' } });
    if (method === 'DELETE') {
      if (name === 'services' && [...of('registered_limits').values()].some((one) => one['service_id'] === id))
        return answer(500, { error: { message: 'An unexpected error' } });
      entities.delete(id);
      for (const [key, one] of of('endpoints')) if (one['service_id'] === id) of('endpoints').delete(key);
      return answer(204);
    }
    if (method === 'PATCH') Object.assign(entity, given);
    return answer(200, { [item]: entity });
  };
  const http: Http = async ({ method, url, body = '{}' }) => {
    for (let turns = Math.floor(random.next() * 20); turns > 0; turns--) await Promise.resolve();
    const { pathname, searchParams } = new URL(url);
    const path = pathname.replace('/v3/', '').split('/');
    if (path[0] === 'auth') {
      const { user } = (
        JSON.parse(body) as { auth: { identity: { password: { user: { name: string; password: string } } } } }
      ).auth.identity.password;
      return passwords.get(user.name) === user.password ? answer(201, {}, { 'x-subject-token': 't' }) : answer(401);
    }
    if (path.length > 2) {
      if (method === 'HEAD') return answer(grants.has(pathname) ? 204 : 404);
      grants.add(pathname);
      return answer(204);
    }
    const [name = '', id] = path;
    return collection(method, name, id, searchParams, JSON.parse(body) as object);
  };
  return { http, list: (name: string): Entity[] => [...of(name).values()], of, grants, held };
}

const url = (kind: string) => `http://${kind}:9292`;
const records: IdentityRecords = {
  url: 'http://keystone:5000/v3',
  username: 'admin',
  password: 'secret',
  project: 'admin',
  userDomain: 'Default',
  projectDomain: 'Default',
  projects: [{ name: 'service', description: '' }],
  roles: [{ name: 'admin' }, { name: 'service' }],
  users: [{ name: 'glance', password: 'one', project: 'service', roles: ['admin', 'service'] }],
  services: [
    {
      type: 'image',
      name: 'glance',
      description: '',
      endpoints: { region: 'RegionOne', internal: url('internal'), public: url('public'), admin: url('internal') },
    },
  ],
};

/** Runs until it succeeds, as its Job does; the number of runs is bounded. */
async function job(http: Http): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await keepIdentityRecords(records, http);
      return;
    } catch (error) {
      if (attempt === 7) throw error;
    }
  }
}

test('two runs at once end with one of each, whatever the order of the answers', async () => {
  let collisions = 0;
  for (let seed = 1; seed <= 300; seed++) {
    const { http, list } = identity(seed);
    let created = 0;
    const counted: Http = (call) => {
      if (call.method === 'POST' && call.url.endsWith('/endpoints')) created++;
      return http(call);
    };
    await Promise.all([job(counted), job(counted)]);
    // What both have made and neither has seen yet is settled by the next run of any of them.
    await job(http);
    const title = `seed ${seed}`;
    for (const [name, count] of [
      ['projects', 1],
      ['users', 1],
      ['services', 1],
      ['endpoints', 3],
    ] as const)
      expect(list(name), `${title}: ${name}`).toHaveLength(count);
    expect(
      list('endpoints').map((one) => one['service_id']),
      title,
    ).toEqual(list('endpoints').map(() => list('services')[0]?.id));
    if (created > 3) collisions++;
    expect(await keepIdentityRecords(records, http), title).toEqual([]);
  }
  expect(collisions).toBeGreaterThan(50);
});

test('endpoints of others stay: another region, another service of the name that serves it', async () => {
  const { http, list, of } = identity(1);
  await job(http);
  const [own] = list('services');
  const foreign: Entity[] = [
    { id: '0', service_id: own?.id, interface: 'public', region_id: 'Elsewhere', url: 'http://elsewhere' },
    { id: '1', service_id: own?.id, interface: 'public', region_id: 'RegionOne', url: 'http://by-hand' },
    { id: '2', service_id: 'zz', interface: 'public', region_id: 'Elsewhere', url: 'http://third' },
  ];
  of('services').set('zz', { id: 'zz', type: 'image', name: 'glance' });
  for (const one of foreign) of('endpoints').set(one.id, one);
  expect(await keepIdentityRecords(records, http)).toEqual([]);
  expect(list('services').map(({ id }) => id)).toContain('zz');
  expect(list('endpoints')).toEqual(expect.arrayContaining(foreign));
});

test('what was disabled is enabled again; a service without endpoints of others is not kept twice', async () => {
  const { http, list, of } = identity(2);
  await job(http);
  for (const name of ['projects', 'users', 'services', 'endpoints'])
    for (const one of list(name)) of(name).set(one.id, { ...one, enabled: false });
  of('services').set('zz', { id: 'zz', type: 'image', name: 'glance' });
  const changes = await keepIdentityRecords(records, http);
  expect(changes).toEqual([
    'enabled project service',
    'set the password of user glance',
    'removed a second service glance',
    'enabled service glance',
    `changed internal endpoint of glance in RegionOne: ${url('internal')}`,
    `changed public endpoint of glance in RegionOne: ${url('public')}`,
    `changed admin endpoint of glance in RegionOne: ${url('internal')}`,
  ]);
  expect(list('services').map((one) => one['enabled'])).toEqual([true]);
});

test('a domain with its administrator, and a role that implies another one, are kept, and disabled when they are taken back', async () => {
  const { http, list, of, grants } = identity(3);
  const stacks = { name: 'stacks', description: 'Users of stacks' };
  const own: IdentityRecords = {
    ...records,
    domains: [stacks],
    impliedRoles: [{ role: 'admin', implies: 'owner' }],
    users: [...records.users, { name: 'stack-admin', password: 'two', domain: 'stacks', roles: ['admin'] }],
  };
  await keepIdentityRecords(own, http);
  const idOf = (name: string, one: string) => list(name).find((entity) => entity['name'] === one)?.id ?? '';
  const [domain, admin, owner] = [idOf('domains', 'stacks'), idOf('roles', 'admin'), idOf('roles', 'owner')];
  const user = idOf('users', 'stack-admin');
  expect(of('users').get(user)).toMatchObject({ domain_id: domain });
  const granted = [`/v3/domains/${domain}/users/${user}/roles/${admin}`, `/v3/roles/${admin}/implies/${owner}`];
  for (const path of granted) expect(grants.delete(path), path).toBe(true);
  of('domains').set(domain, { id: domain, ...stacks, enabled: false });
  expect(await keepIdentityRecords(own, http)).toEqual([
    'enabled domain stacks',
    'made role admin imply owner',
    'granted stack-admin admin on domain stacks',
  ]);
  expect(await removeIdentityRecords(own, http)).toEqual(
    expect.arrayContaining(['disabled user glance', 'disabled user stack-admin', 'disabled domain stacks']),
  );
  expect(await removeIdentityRecords(own, http)).toEqual([]);
});

const limited: IdentityRecords = {
  ...records,
  users: records.users.map((one) => ({ ...one, systemRoles: ['reader'] })),
  services: records.services.map((one) => ({ ...one, limits: { image_count_total: 3, image_size_total: 5 } })),
};

test('limits are registered, and set back; what finds them is told, and a role on the system is granted', async () => {
  const { http, list, grants } = identity(5);
  const told: string[] = [];
  const keep = () => keepIdentityRecords(limited, http, (line) => told.push(line));
  expect(await keep()).toEqual(
    expect.arrayContaining([
      'granted glance reader on the system',
      'created registered limit image_count_total of glance in RegionOne: 3',
      'created registered limit image_size_total of glance in RegionOne: 5',
    ]),
  );
  const [user, reader] = [list('users')[0]?.id, list('roles').find((one) => one['name'] === 'reader')?.id];
  expect([...grants]).toContain(`/v3/system/users/${user}/roles/${reader}`);
  const place = { service_id: list('services')[0]?.id, region_id: 'RegionOne' };
  expect(list('registered_limits')).toMatchObject([
    { ...place, resource_name: 'image_count_total', default_limit: 3 },
    { ...place, resource_name: 'image_size_total', default_limit: 5 },
  ]);
  for (const one of list('registered_limits')) one['default_limit'] = 7;
  expect(await keep()).toEqual([
    'changed registered limit image_count_total of glance in RegionOne: 3',
    'changed registered limit image_size_total of glance in RegionOne: 5',
  ]);
  const internal = list('endpoints').find((one) => one['interface'] === 'internal')?.id;
  expect(told).toEqual([1, 2].map(() => `{endpoint image: ${internal}}`));
});

test('a limit that Keystone holds stays, others are set, and the service is not removed with it', async () => {
  const { http, list, held } = identity(6);
  await keepIdentityRecords(limited, http);
  const [count] = list('registered_limits');
  for (const one of list('registered_limits')) one['default_limit'] = 7;
  held.add(count?.id ?? '');
  await expect(keepIdentityRecords(limited, http)).rejects.toThrow(
    'registered limit image_count_total of glance in RegionOne stays 7, and does not become 3: Unable to update or delete. State 7, or delete those (openstack limit list --resource-name image_count_total)',
  );
  expect(list('registered_limits').map((one) => one['default_limit'])).toEqual([7, 5]);
  await removeIdentityRecords(limited, http);
  expect([list('endpoints'), list('services').length, list('registered_limits')]).toEqual([[], 1, [count]]);
  held.clear();
  await keepIdentityRecords(limited, http);
  expect(await removeIdentityRecords(limited, http)).toContain('removed service glance');
  expect([...list('services'), ...list('registered_limits')]).toEqual([]);
});

test.each([
  ['the user that keeps them', { users: [{ name: 'Admin', password: 'mine', project: 'service', roles: [] }] }],
  ['it by the name of its domain', { users: [{ name: 'admin', password: 'mine', domain: 'default', roles: [] }] }],
  ['the domain of all users', { domains: [{ name: 'Default', description: '' }] }],
])('records that have %s are refused, and never taken back', async (_what, more) => {
  const { http, list, of } = identity(4);
  of('users').set('1', { id: '1', name: 'admin', domain_id: 'default', enabled: true });
  of('domains').set('default', { id: 'default', name: 'Default', enabled: true });
  const own: IdentityRecords = { ...records, ...more };
  await expect(keepIdentityRecords(own, http)).rejects.toThrow('expected another name in spec.identity');
  await removeIdentityRecords(own, http);
  expect([...list('users'), ...list('domains')].filter((one) => one['enabled'] === true)).toHaveLength(2);
});
