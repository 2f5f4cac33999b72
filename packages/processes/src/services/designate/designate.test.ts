import { describe, expect, it } from 'vitest';
import { type Changes, ground } from '../../testing/cloud.ts';
import { request } from '../../testing/world.ts';

const pools = '/etc/designate/pools.yaml';

/** Designate's programs on a host each, with a BIND, and the pools that a file says. */
async function running(change: Changes = {}, { left = [] as readonly string[] } = {}) {
  const { world, token, container } = await ground(change);
  const host = container('designate');
  expect((await host.run(['designate-manage', 'database', 'sync'])).status).toBe(0);
  const bind = container('bind').start(['named', '-g', '-c', '/etc/designate/named.conf']);
  const programs = Object.fromEntries(
    ['central', 'mdns', 'producer', 'worker']
      .filter((name) => !left.includes(name))
      .map((name) => [name, container(name).start([`designate-${name}`])]),
  );
  const api = host.start(['uwsgi', '--ini', '/designate.ini']);
  await world.clock.advance(15_000);
  const update = async (text = host.files.read(pools)) => {
    const named = { MASTER: world.address('mdns'), SERVER: world.address('bind') };
    host.files.write(
      pools,
      text.replace(/MASTER|SERVER/g, (name) => named[name as keyof typeof named]),
    );
    return await host.run(['designate-manage', 'pool', 'update', '--file', pools]);
  };
  const send = async (method: string, path: string, body?: unknown) => {
    const reply = await request(world, 'designate', 9001, path, { method, headers: { 'x-auth-token': token }, body });
    return { status: reply.status, body: JSON.parse(reply.body || '{}') as Record<string, unknown> };
  };
  const zone = (name = 'example.com.') => send('POST', '/v2/zones', { name, email: 'hostmaster@example.com' });
  const statusAfter = async (id: unknown, seconds: number) => {
    await world.clock.advance(seconds * 1000);
    return (await send('GET', `/v2/zones/${String(id)}`)).body['status'];
  };
  return { world, host, container, bind, programs, api, update, send, zone, statusAfter };
}

describe('a zone', () => {
  it('is refused while the pool has no servers, and published once it has', async () => {
    const { send, zone, update, statusAfter } = await running();
    expect(await zone()).toMatchObject({ status: 500, body: { type: 'no_servers_configured' } });
    expect((await update()).status).toBe(0);
    const { status, body } = await zone();
    expect({ status, ...body }).toMatchObject({ status: 'PENDING', action: 'CREATE' });
    expect(await statusAfter(body['id'], 10)).toBe('ACTIVE');
    expect((await zone()).status).toBe(409);
    expect((await zone('example.com')).status).toBe(400);
    expect((await send('DELETE', `/v2/zones/${String(body['id'])}`)).status).toBe(202);
    expect(await statusAfter(body['id'], 10)).toBeUndefined();
  });

  it('goes to the servers that its pool had when the worker learnt of it', async () => {
    const { zone, update, statusAfter, host, world } = await running();
    await update();
    const { body } = await zone();
    expect(await statusAfter(body['id'], 10)).toBe('ACTIVE');
    await update(host.files.read(pools).replaceAll(world.address('bind'), '10.9.9.9'));
    // The new server is nowhere, and the worker has not heard of it.
    expect(await statusAfter(body['id'], 30)).toBe('ACTIVE');
  });

  it.each<[string, Changes, string]>([
    [
      'the key is not that of BIND',
      {
        '/etc/designate/named.conf': (text) =>
          text.replace('include "/etc/designate/rndc.key";', 'key "x" { secret "b3RoZXI="; };'),
      },
      'connection to remote host closed',
    ],
    [
      'BIND takes no zones',
      { '/etc/designate/named.conf': (text) => text.replace('allow-new-zones yes', 'allow-new-zones no') },
      "'addzone' failed: permission denied",
    ],
  ])('is in ERROR where %s', async (_what, change, words) => {
    const { zone, update, statusAfter, programs } = await running(change);
    await update();
    const { body } = await zone();
    expect(await statusAfter(body['id'], 200)).toBe('ERROR');
    expect(programs['worker']?.output()).toContain(words);
  });
});

it.each(['MASTER', 'SERVER'])('a pool whose %s has a name is refused', async (place) => {
  const { update, host } = await running();
  const { status, output } = await update(host.files.read(pools).replace(place, 'bind.'));
  expect(output).toContain("failed to detect a valid IP address from 'bind.'");
  expect(status).not.toBe(0);
});

it('without central the API answers probes, and nothing else', async () => {
  const { send } = await running({}, { left: ['central'] });
  expect((await send('GET', '/')).status).toBe(200);
  expect(await send('GET', '/v2/zones')).toMatchObject({ status: 504, body: { type: 'timeout' } });
});
