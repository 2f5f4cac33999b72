import { expect, it } from 'vitest';
import { type Changes, ground } from '../../testing/cloud.ts';
import { request } from '../../testing/world.ts';

const conf = '/etc/blazar/blazar.conf';

/** Blazar's programs, each on a host of its own. */
async function running(change: Changes = {}) {
  const { world, token, container } = await ground(change);
  const host = container('blazar');
  const sync = ['blazar-db-manage', '--config-file', conf, 'upgrade', 'head'];
  expect((await host.run(sync)).status).toBe(0);
  host.start(['uwsgi', '--ini', '/blazar.ini']);
  const manager = container('manager').start(['blazar-manager']);
  await world.clock.advance(15_000);
  const send = (method: string, path: string, headers: Record<string, string> = { 'x-auth-token': token }) =>
    request(world, 'blazar', 1234, path, { method, headers, body: method === 'POST' ? { name: 'node' } : undefined });
  return { manager, send };
}

it('answers nobody without a token, not even with its versions', async () => {
  const { send } = await running();
  expect((await send('GET', '/', {})).status).toBe(401);
  expect(await send('GET', '/v1/leases')).toMatchObject({ status: 200, body: '{"leases":[]}' });
});

it('looks for hosts in Nova, as its own user', async () => {
  const { send } = await running();
  expect((await send('POST', '/v1/os-hosts')).status).toBe(500);
});

it('does not start with a plug-in that there is not', async () => {
  const { manager } = await running({ [conf]: (text) => text.replace('physical.host', 'physical.hosts') });
  expect(manager.status()).toBe(1);
  expect(manager.output()).toContain("Invalid plugin names are specified: {'physical.hosts.plugin'}");
});
