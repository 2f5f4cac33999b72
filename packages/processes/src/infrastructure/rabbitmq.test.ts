import { describe, expect, it } from 'vitest';
import { loadConfig } from '../oslo/config.ts';
import { plainLog } from '../oslo/log.ts';
import { Messaging } from '../oslo/messaging.ts';
import { PythonError } from '../oslo/python-error.ts';
import { terminated } from '../program-support.ts';
import { baseCommands } from '../shell/system-commands.ts';
import { type ContainerOptions, request, World } from '../testing/world.ts';
import { rabbitmqCommands } from './rabbitmq-commands.ts';
import { rabbitmqServer } from './rabbitmq-server.ts';

const programs = { ...baseCommands, ...rabbitmqCommands, 'rabbitmq-server': rabbitmqServer };

async function broker(options: Partial<ContainerOptions> = {}) {
  const world = new World();
  const container = world.container({
    host: 'rabbitmq',
    programs,
    uid: 42_439,
    directories: ['var/lib/rabbitmq'],
    ...options,
    env: { HOME: '/var/lib/rabbitmq', RABBITMQ_DEFAULT_USER: 'openstack', RABBITMQ_DEFAULT_PASS: 'pw', ...options.env },
    files: { '/etc/rabbitmq/enabled_plugins': '[rabbitmq_management,rabbitmq_prometheus].\n', ...options.files },
  });
  const server = container.start(['rabbitmq-server']);
  await world.clock.advance(8000);
  const api = (method: string, path: string, body?: unknown, login = 'openstack:pw') =>
    request(world, 'rabbitmq', 15_672, `/api/${path}`, {
      method,
      headers: { authorization: `Basic ${Buffer.from(login).toString('base64')}` },
      ...(body !== undefined && { body }),
    });
  return { world, container, server, api };
}

/** A process that calls the RPC server of a topic, or is it. */
function client(world: World, url: string, conf = '') {
  const run = async (
    process: Parameters<typeof plainLog>[0],
    use: (messaging: Messaging) => Promise<string>,
  ): Promise<number> => {
    try {
      const config = loadConfig(process, { project: 'x', options: 'nova', programs: [] });
      process.stdout(await use(new Messaging({ process, config, log: plainLog(process) }, url)));
      return 0;
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      process.stdout(error.lastLine);
      return 1;
    }
  };
  return world.container({
    host: 'client',
    files: { '/etc/x/x.conf': conf },
    programs: {
      call: (process) =>
        run(process, async (messaging) => JSON.stringify(await messaging.call('conductor', 'ping', 1))),
      serve: (process) =>
        run(process, async (messaging) => {
          await messaging.serve('conductor', (method, parameters) => Promise.resolve({ method, parameters }));
          await terminated(process);
          return '';
        }),
    },
  });
}

describe('rabbitmq', () => {
  it('carries a call from one process to another', async () => {
    const { world } = await broker();
    const container = client(world, 'rabbit://openstack:pw@rabbitmq:5672/');
    container.start(['serve']);
    expect(await container.run(['call'])).toEqual({ status: 0, output: '{"method":"ping","parameters":1}' });
  });

  it('times out when nobody serves', async () => {
    const { world } = await broker();
    const result = await client(world, 'rabbit://openstack:pw@rabbitmq:5672/').run(['call']);
    expect(result.output).toContain(
      'oslo_messaging.exceptions.MessagingTimeout: Timed out waiting for a reply to message ID',
    );
  });

  it.each([
    [
      'rabbit://openstack:bad@rabbitmq/',
      'amqp.exceptions.AccessRefused: (0, 0): (403) ACCESS_REFUSED - Login was refused using authentication mechanism AMQPLAIN.',
    ],
    [
      'rabbit://openstack:pw@rabbitmq/nova',
      'amqp.exceptions.NotAllowed: Connection.open: (530) NOT_ALLOWED - vhost nova not found',
    ],
    [
      'rabbit://openstack:pw@rabbitmq:5673/',
      'Connection failed: [Errno 111] ECONNREFUSED (retrying in 1.0 seconds): ConnectionRefusedError: [Errno 111] ECONNREFUSED',
    ],
    [
      'rabbit://openstack:pw@nowhere/',
      'Connection failed: [Errno -2] Name or service not known (retrying in 1.0 seconds): socket.gaierror: ',
    ],
    ['http://openstack:pw@rabbitmq/', `Failed to load transport driver "http"`],
  ])('refuses %s in the real words', async (url, words) => {
    const { world } = await broker();
    expect((await client(world, url).run(['call'])).output).toContain(words);
  });

  it('demands a prefetch count with stream fanout, and one type of a queue', async () => {
    const { world } = await broker();
    const url = 'rabbit://openstack:pw@rabbitmq/';
    const group = '[oslo_messaging_rabbit]\nrabbit_stream_fanout = true\n';
    expect((await client(world, url, group).run(['call'])).output).toContain(
      'rabbit_qos_prefetch_count to be set to a value greater than 0',
    );
    client(world, url).start(['serve']);
    await world.clock.advance(1000);
    const other = client(world, url, '[oslo_messaging_rabbit]\nrabbit_quorum_queue = true\n').start(['serve']);
    await world.clock.run(() => other.status() !== undefined);
    expect(other.output()).toContain(
      "(406) PRECONDITION_FAILED - inequivalent arg 'x-queue-type' for queue 'conductor' in vhost '/'",
    );
  });

  it('is administered over HTTP', async () => {
    const { api } = await broker();
    expect((await api('GET', 'whoami')).status).toBe(200);
    expect((await api('GET', 'whoami', undefined, 'openstack:bad')).status).toBe(401);
    expect((await api('PUT', 'vhosts/nova')).status).toBe(201);
    expect((await api('PUT', 'users/nova', { password: 'x' })).body).toContain('tags_not_present');
    expect((await api('PUT', 'users/nova', { password: 'x', tags: '' })).status).toBe(201);
    expect((await api('PUT', 'permissions/nova/nova', { configure: '.*', write: '.*' })).body).toContain('key_missing');
    expect((await api('PUT', 'permissions/nova/nova', { configure: '.*', write: '.*', read: '.*' })).status).toBe(201);
    expect((await api('GET', 'users', undefined, 'nova:x')).status).toBe(401);
    expect((await api('PUT', 'policies/nova/ha', { pattern: '.*', definition: { 'ha-mode': 'all' } })).status).toBe(
      400,
    );
    expect((await api('GET', 'health/checks/port-listener/5672')).status).toBe(200);
    expect((await api('GET', 'health/checks/port-listener/5671')).status).toBe(503);
    expect((await api('DELETE', 'users/nova')).status).toBe(204);
    expect((await api('GET', 'users/nova')).status).toBe(404);
  });

  it('answers its command-line tools, and only with the same cookie', async () => {
    const { container, server } = await broker();
    expect((await container.run(['rabbitmq-diagnostics', '-q', 'ping'])).status).toBe(0);
    expect((await container.run(['rabbitmqctl', 'change_password', 'nobody', 'x'])).status).toBe(67);
    expect((await container.run(['rabbitmqctl', '-n', 'rabbit@nowhere', 'status'])).status).toBe(69);
    expect(server.status()).toBeUndefined();
    expect(await server.stop()).toBe(0);
    expect((await container.run(['rabbitmq-diagnostics', '-q', 'ping'])).status).toBe(69);
  });

  it.each<[string, Partial<ContainerOptions>, string]>([
    [
      'a name that does not resolve',
      { env: { RABBITMQ_NODENAME: 'rabbit@nowhere' } },
      'epmd error for host nowhere: nxdomain (non-existing domain)',
    ],
    [
      'a long name without USE_LONGNAME',
      { env: { RABBITMQ_NODENAME: 'rabbit@a.b.svc' } },
      '** Hostname a.b.svc is illegal **',
    ],
    [
      'a cookie that others may read',
      { files: { '/var/lib/rabbitmq/.erlang.cookie': 'X' } },
      'Cookie file /var/lib/rabbitmq/.erlang.cookie must be accessible by owner only',
    ],
    [
      'an unknown setting',
      { files: { '/etc/rabbitmq/rabbitmq.conf': 'nosuch.thing = 1\n' } },
      "You've tried to set nosuch.thing, but there is no setting with that name.",
    ],
    [
      'missing definitions',
      { files: { '/etc/rabbitmq/rabbitmq.conf': 'load_definitions = /nope.json\n' } },
      'could_not_read_defs',
    ],
    [
      'a directory that cannot be written',
      { directories: [] },
      "Failed to create cookie file '/var/lib/rabbitmq/.erlang.cookie'",
    ],
  ])('does not start with %s', async (_name, options, words) => {
    const { server } = await broker(options);
    expect(server.output()).toContain(words);
    expect(server.status()).toBe(1);
  });
});
