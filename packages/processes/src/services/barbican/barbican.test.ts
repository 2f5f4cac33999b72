import { describe, expect, it } from 'vitest';
import { type Changes, ground } from '../../testing/cloud.ts';
import { passwordAuth } from '../../testing/keystone.ts';
import { request } from '../../testing/world.ts';

const conf = '/etc/barbican/barbican.conf';
const changed = (change: (text: string) => string): Changes => ({ [conf]: change });

/** Keystone sends notifications to a topic of the broker. */
const sending = (topic: string) => (text: string) =>
  `${text}[oslo_messaging_notifications]\ndriver = messagingv2\ntopics = ${topic}\ntransport_url = rabbit://openstack:pw@rabbitmq:5672/\nretry = 1\n`;

/** Barbican's programs on one host: the database migrated, unless told otherwise, and the API started. */
async function running(change: Changes = {}, { synced = true } = {}) {
  const { world, token, container } = await ground(change);
  const host = container('barbican');
  const job = synced ? await host.run(['barbican-manage', 'db', 'upgrade']) : undefined;
  const api = host.start(['uwsgi', '--ini', '/barbican.ini']);
  await world.clock.advance(15_000);
  const send = async (method: string, path: string, body?: unknown, headers = {}) => {
    const all = { 'x-auth-token': token, ...headers };
    const reply = await request(world, 'barbican', 9311, path, { method, headers: all, body });
    return { status: reply.status, body: reply.body ?? '' };
  };
  const start = async (program: string) => {
    const started = container(`barbican-${program}`).start([`barbican-${program}`]);
    await world.clock.advance(5000);
    return started;
  };
  const store = async (payload = 'open sesame', headers = {}) => {
    const { body } = await send('POST', '/v1/secrets', { payload, payload_content_type: 'text/plain' }, headers);
    return (JSON.parse(body) as { secret_ref: string }).secret_ref.replace(/^http:..[^/]*/, '');
  };
  /** What Keystone answers to the administrator: the identifier of what was made, or found first. */
  const identity = async (method: string, path: string, body?: unknown) => {
    const headers = { 'x-auth-token': token };
    const reply = await request(world, 'keystone', 5000, `/v3/${path}`, {
      method,
      headers,
      ...(body !== undefined && { body }),
    });
    return /"id":"([^"]*)"/.exec(reply.body ?? '')?.[1];
  };
  return { world, host, container, job, api, send, start, store, identity };
}

describe('the API', () => {
  it('answers probes without a token, and nothing else', async () => {
    const { job, send, api } = await running();
    expect(job?.status).toBe(0);
    expect((await send('GET', '/')).status).toBe(300);
    expect((await send('GET', '/healthcheck')).status).toBe(200);
    expect((await send('GET', '/v1/secrets', undefined, { 'x-auth-token': 'wrong' })).status).toBe(401);
    expect(await api.stop()).toBe(0);
  });

  it('keeps secrets', async () => {
    const { send, store } = await running();
    const secret = await store();
    expect(await send('GET', `${secret}/payload`)).toEqual({ status: 200, body: 'open sesame' });
    expect((await send('GET', secret)).body).not.toContain('sesame');
    expect(JSON.parse((await send('GET', '/v1/secrets')).body)).toMatchObject({ secrets: [{}], total: 1 });
    expect((await send('POST', '/v1/secrets', { payload: 'x' })).status).toBe(400);
    expect((await send('DELETE', secret)).status).toBe(204);
    expect(await send('GET', secret)).toMatchObject({
      status: 404,
      body: expect.stringContaining('Secret not found.'),
    });
  });

  it('is known to clients by host_href, unless that is empty', async () => {
    const { send } = await running(changed((text) => text.replace('host_href =\n', '')));
    expect((await send('GET', '/')).body).toContain('http://localhost:9311/v1/');
  });

  it.each<[string, (text: string) => string, string]>([
    ['a wrong password', (text) => text.replace('barbican:pw@', 'barbican:bad@'), "Access denied for user 'barbican'"],
    ['no database', (text) => text.replace(/connection = mysql.*\n/, ''), 'unable to open database file'],
    ['a wrong broker', (text) => text.replace('rabbit:', 'rabit:'), 'Failed to load transport driver "rabit"'],
  ])('does not load with %s', async (_name, change, words) => {
    const { api } = await running(changed(change));
    expect(api.output()).toContain(words);
    expect(api.status()).toBe(22);
  });

  it('starts before its migration, and fails on the first secret', async () => {
    const { send, api } = await running({}, { synced: false });
    expect((await send('GET', '/healthcheck')).status).toBe(200);
    expect((await send('POST', '/v1/secrets', { payload: 'x', payload_content_type: 'text/plain' })).status).toBe(500);
    expect(api.output()).toContain("Table 'barbican.kek_data' doesn't exist");
  });

  it('starts with what is no key, and fails on the first secret', async () => {
    const { send, api } = await running(changed((text) => text.replace(/kek = .*/, 'kek = short')));
    expect((await send('POST', '/v1/secrets', { payload: 'x', payload_content_type: 'text/plain' })).body).toContain(
      'Secret creation failure seen - please contact site administrator.',
    );
    expect(api.output()).toContain('Fernet key must be 32 url-safe base64-encoded bytes.');
  });

  it('reads what an earlier key has encrypted only while it has that key', async () => {
    const { send, store, api, host, world } = await running();
    const secret = await store();
    await api.stop();
    const old = host.asRoot.read(conf);
    const other = `kek = ${'A'.repeat(43)}=`;
    const again = async (text: string) => {
      host.asRoot.write(conf, text);
      const started = host.start(['uwsgi', '--ini', '/barbican.ini']);
      await world.clock.advance(15_000);
      const { status } = await send('GET', `${secret}/payload`);
      await started.stop();
      return { status, output: started.output() };
    };
    expect(await again(old.replace(/kek = .*/, other))).toMatchObject({
      status: 500,
      output: expect.stringContaining('cryptography.fernet.InvalidToken'),
    });
    expect((await again(old.replace('kek =', `${other}\nkek =`))).status).toBe(200);
  });
});

describe('the worker', () => {
  it('makes the keys that are ordered, which wait for it', async () => {
    const { send, start, world } = await running();
    const made = await send('POST', '/v1/orders', { type: 'key', meta: { name: 'disk', algorithm: 'aes' } });
    expect(made.status).toBe(202);
    const order = (JSON.parse(made.body) as { order_ref: string }).order_ref.replace(/^http:..[^/]*/, '');
    expect((await send('GET', order)).body).toContain('PENDING');
    const worker = await start('worker');
    await world.clock.advance(1000);
    expect((await send('GET', order)).body).toContain('ACTIVE');
    expect(await worker.stop()).toBe(0);
  });

  it('ends without a database', async () => {
    const { start } = await running(changed((text) => text.replace('barbican:pw@', 'barbican:bad@')));
    const worker = await start('worker');
    expect(worker.status()).toBe(1);
    expect(worker.output()).toContain('Error configuring registry database with supplied database connection.');
  });
});

describe('the listener', () => {
  it('ends at once, and well, unless it is enabled', async () => {
    const { start } = await running(
      changed((text) => text.replace('[keystone_notifications]\nenable = true', '[keystone_notifications]')),
    );
    const listener = await start('keystone-listener');
    expect(listener.status()).toBe(0);
    expect(listener.output()).toContain('Exiting as Barbican Keystone listener is not enabled...');
  });

  it('deletes what a project has stored when Keystone says that it was deleted', async () => {
    const { start, store, send, identity, world } = await running({ '/etc/keystone/keystone.conf': sending('gone') });
    await start('keystone-listener');
    const [project, user, role] = [
      await identity('POST', 'projects', { project: { name: 'another' } }),
      await identity('GET', 'users?name=admin'),
      await identity('GET', 'roles?name=admin'),
    ];
    await identity('PUT', `projects/${project}/users/${user}/roles/${role}`);
    const body = passwordAuth('adminpw', 'another');
    const login = await request(world, 'keystone', 5000, '/v3/auth/tokens', { method: 'POST', body });
    const gone = await store('open sesame', { 'x-auth-token': login.headers?.['x-subject-token'] ?? '' });
    const kept = await store();
    expect((await send('GET', gone)).status).toBe(200);
    await identity('DELETE', `projects/${project}`);
    await world.clock.advance(1000);
    expect((await send('GET', gone)).status).toBe(404);
    expect((await send('GET', kept)).status).toBe(200);
  });

  it('listens until it is stopped', async () => {
    const { start } = await running();
    const listener = await start('keystone-listener');
    expect(listener.status()).toBeUndefined();
    expect(await listener.stop()).toBe(0);
  });
});

it('commands say what is wrong without a traceback, and refuse what they do not know', async () => {
  const { host, container } = await running(changed((text) => text.replace('barbican:pw@', 'barbican:bad@')));
  const failed = await host.run(['barbican-manage', 'db', 'upgrade']);
  expect(failed).toMatchObject({ status: 1, output: expect.stringContaining('ERROR: ') });
  expect(failed.output).not.toContain('Traceback');
  expect(await container('other').run(['barbican-manage', 'db', 'upgrad'])).toMatchObject({
    status: 2,
    output: expect.stringContaining("invalid choice: 'upgrad'"),
  });
  expect((await host.run(['barbican-manage', 'db', 'upgrade', '--version', 'nosuch'])).status).toBe(1);
});
