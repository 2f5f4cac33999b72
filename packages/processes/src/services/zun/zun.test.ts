import { expect, it } from 'vitest';
import { type Changes, ground } from '../../testing/cloud.ts';
import { request } from '../../testing/world.ts';

const conf = '/etc/zun/zun.conf';
const paste = '/etc/zun/api-paste.ini';

/** Zun's API and its proxy on a host, with a database that is ready. */
async function running(change: Changes = {}) {
  const { world, token, container } = await ground(change);
  const host = container('zun');
  const sync = await host.run(['zun-db-manage', '--config-file', conf, 'upgrade']);
  const api = host.start(['uwsgi', '--ini', '/zun.ini']);
  const proxy = host.start(['zun-wsproxy', '--config-file', conf]);
  await world.clock.advance(15_000);
  const send = async (method: string, path: string, body?: unknown) => {
    const headers = { 'x-auth-token': token };
    const reply = await request(world, 'zun', 9517, `/v1${path}`, { method, headers, body });
    return { status: reply.status, body: JSON.parse(reply.body || 'null') as unknown };
  };
  const open = (path: string, headers: Record<string, string>) => request(world, 'zun', 6784, path, { headers });
  return { host, sync, api, proxy, send, open };
}

it('keeps registries, whose passwords it shows to nobody, and quotas', async () => {
  const { send } = await running();
  const registry = { name: 'private', domain: 'registry.example.com', password: 'secret' };
  expect(await send('POST', '/registries', { registry })).toMatchObject({
    status: 201,
    body: { registry: { password: '***' } },
  });
  expect(await send('GET', '/registries/private')).toMatchObject({
    status: 200,
    body: { registry: { name: 'private' } },
  });
  expect(await send('DELETE', '/registries/private')).toMatchObject({ status: 204 });
  expect(await send('GET', '/registries/private')).toMatchObject({
    status: 404,
    body: { errors: [{ code: 'container.registry-not-found', title: 'Registry private could not be found.' }] },
  });
  expect(await send('PUT', '/quotas/somebody', { containers: 3 })).toEqual({
    status: 200,
    body: { containers: 3, memory: 51200, disk: 100, cpu: 20 },
  });
});

it('says that a container is needed no network of a cloud without Neutron', async () => {
  const { send, api } = await running();
  expect((await send('POST', '/containers', { name: 'web', image: 'nginx' })).status).toBe(500);
  expect(api.output()).toContain('network');
});

it('answers websockets alone, and says in its log what it finds of a container', async () => {
  const { open, proxy } = await running();
  expect((await open('/', {})).status).toBe(405);
  expect((await open('/?token=x&uuid=nosuch', { upgrade: 'websocket' })).status).toBe(101);
  expect(proxy.output()).toContain('handler exception: Container nosuch could not be found.');
});

const mistakes: readonly (readonly [string, Changes, string])[] = [
  [
    'no file of its pipeline',
    { [conf]: (text) => `${text}[api]\napi_paste_config = /nosuch\n` },
    'Failed to find some config files: /nosuch',
  ],
  ['no pipeline', { [paste]: () => '' }, "No section 'pipeline:main'"],
  ['a filter that there is not', { [paste]: (text) => text.replace('AuthToken', 'Auth') }, 'ImportError'],
  ['a broker without a scheme', { [conf]: (text) => text.replace('rabbit://', 'nosuch://') }, 'nosuch'],
];

it.each(mistakes)('%s is told when it starts', async (_what, change, words) => {
  const { api } = await running(change);
  expect(api.output()).toContain(words);
});

it('ends a migration that failed', async () => {
  const { sync } = await running({ [conf]: (text) => text.replace(':pw@mariadb', ':no@mariadb') });
  expect(sync).toMatchObject({ status: 1, output: expect.stringContaining('Access denied') as string });
});

it('stores no registry under a key of the wrong length', async () => {
  const { send } = await running({ [conf]: (text) => text.replace('k'.repeat(32), 'short') });
  expect((await send('POST', '/registries', { registry: { name: 'private' } })).status).toBe(500);
});
