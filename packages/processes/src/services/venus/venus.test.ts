import { expect, it } from 'vitest';
import { type Changes, ground } from '../../testing/cloud.ts';
import { request } from '../../testing/world.ts';

const conf = ['--config-file', '/etc/venus/venus.conf'];
const paste = '/etc/venus/api-paste.ini';

/** Venus's API and its manager on a host, with a database that is ready. */
async function running(change: Changes = {}) {
  const { world, token, container } = await ground(change);
  const host = container('venus');
  const sync = await host.run(['venus_manager', ...conf, 'db', 'sync']);
  const api = host.start(['venus_api', ...conf]);
  const manager = host.start(['venus_manager', ...conf, 'task', 'start']);
  await world.clock.advance(15_000);
  const send = async (method: string, path: string, body?: unknown, headers = { 'x-auth-token': token }) => {
    const reply = await request(world, 'venus', 10010, `/v1${path}`, { method, headers, body });
    return { status: reply.status, body: reply.status === 200 ? (JSON.parse(reply.body ?? '') as unknown) : undefined };
  };
  return { world, host, sync, api, manager, send };
}

it('keeps what administrators set, and rules, for whoever has a token', async () => {
  const { send } = await running();
  const set = { log_save_days: '30', anomaly_record_save_days: '30', log_max_gb: '100' };
  expect(await send('GET', '/custom_config')).toEqual({ status: 200, body: set });
  await send('POST', '/custom_config', { id: 'log_save_days', value: '7' });
  expect((await send('GET', '/custom_config')).body).toMatchObject({ log_save_days: '7' });
  expect((await send('POST', '/custom_config', {})).body).toMatchObject({ code: -1 });
  const rule = { title: 'errors', desc: '', keyword: 'ERROR', log_type: 'flog', module: 'nova' };
  expect((await send('POST', '/anomaly/rule', { title: 'errors' })).body).toMatchObject({ code: -1 });
  expect((await send('POST', '/anomaly/rule', rule)).body).toEqual({ code: 0, msg: 'OK' });
  const { rules } = (await send('GET', '/anomaly/rule/list')).body as { rules: { id: string; keyword: string }[] };
  expect(rules).toMatchObject([{ keyword: 'ERROR' }]);
  expect((await send('GET', `/anomaly/rule/${rules[0]?.id}`)).body).toMatchObject({ rule });
  await send('DELETE', `/anomaly/rule/${rules[0]?.id}`);
  expect((await send('GET', `/anomaly/rule/${rules[0]?.id}`)).body).toEqual({ code: -1, msg: 'not found' });
  expect((await send('GET', '/anomaly/record/list')).body).toMatchObject({ records: [] });
  expect((await send('GET', '/custom_config', undefined, { 'x-auth-token': 'nobody' })).status).toBe(401);
});

it('finds no logs where nobody keeps any, and says so in its log alone', async () => {
  const { send, api } = await running();
  expect(await send('GET', '/search/logs')).toEqual({ status: 200, body: { code: 0, msg: 'no data, no index' } });
  expect(api.output()).toContain('request es, catch exception:elasticsearch:9200');
});

it('has a manager that goes on whatever fails', async () => {
  const { world, manager } = await running();
  await world.clock.advance(120_000);
  expect(manager.output()).toContain('es indexes(log) save days: 30');
  const broken = await running({ '/etc/venus/venus.conf': (text) => text.replace(':pw@mariadb', ':no@mariadb') });
  expect(broken.sync).toMatchObject({ status: 1, output: expect.stringContaining('Access denied') as string });
  await broken.world.clock.advance(120_000);
  expect(broken.manager.output()).toContain('anomaly detect task, catch exception:');
  expect(broken.manager.status()).toBeUndefined();
});

it.each<[string, (text: string) => string, string]>([
  ['without its paths', () => '', "No section 'composite:osapi_venus'"],
  ['with a filter that there is not', (text) => text.replace('auth_token:', 'token:'), 'ImportError'],
])('%s the API does not start', async (_what, change, words) => {
  const { api } = await running({ [paste]: change });
  expect(api.output()).toContain(words);
  expect(api.status()).toBe(1);
});
