import { expect, it } from 'vitest';
import { type Changes, ground } from '../../testing/cloud.ts';
import { request } from '../../testing/world.ts';

const conf = '/etc/cyborg/cyborg.conf';

/** Cyborg's programs, each on a host of its own; nothing runs Placement. */
async function running(change: Changes = {}) {
  const { world, token, container } = await ground(change);
  const host = container('cyborg');
  expect((await host.run(['cyborg-dbsync', 'upgrade'])).status).toBe(0);
  host.start(['uwsgi', '--ini', '/cyborg.ini']);
  container('conductor').start(['cyborg-conductor']);
  const agent = container('agent').start(['cyborg-agent']);
  await world.clock.advance(20_000);
  const send = async (method: string, path: string, body?: unknown) =>
    request(world, 'cyborg', 6666, path, { method, headers: { 'x-auth-token': token }, body });
  return { agent, send };
}

it('makes device profiles one at a time, each with a name of its own', async () => {
  const { send } = await running();
  const profile = { name: 'fake', groups: [{ 'resources:FPGA': '1' }] };
  expect((await send('POST', '/v2/device_profiles', [profile])).status).toBe(201);
  expect((await send('POST', '/v2/device_profiles', [profile, profile])).status).toBe(400);
  expect((await send('GET', '/v2/device_profiles')).body).toContain('"fake"');
});

it('has no device of a node that Placement does not know, and goes on', async () => {
  const { agent, send } = await running();
  expect(agent.output()).toContain('Unable to report usage');
  expect(agent.status()).toBeUndefined();
  expect((await send('GET', '/v2/devices')).body).toBe('{"devices":[]}');
});

it('does not start with a driver that there is not', async () => {
  const { agent } = await running({ [conf]: (text) => text.replace('fake_driver', 'fake') });
  expect(agent.status()).toBe(1);
  expect(agent.output()).toContain('Found an invalid driver: fake');
});
