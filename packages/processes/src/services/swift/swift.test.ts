import { describe, expect, it } from 'vitest';
import { baseCommands } from '../../shell/system-commands.ts';
import { ground } from '../../testing/cloud.ts';
import { request } from '../../testing/world.ts';
import { swift } from './swift.ts';

const swiftConf =
  '[swift-hash]\nswift_hash_path_prefix = a\nswift_hash_path_suffix = b\n[storage-policy:0]\nname = gold\ndefault = yes\n';
const filters = (names: string) =>
  names
    .split(' ')
    .map((name) => `[filter:${name}]\nuse = egg:swift#${name.replaceAll('-', '_')}\n`)
    .join('');
const proxyConf = `[DEFAULT]
bind_port = 8080
swift_dir = /rings
[pipeline:main]
pipeline = healthcheck authtoken s3token keystoneauth proxy-server
[app:proxy-server]
use = egg:swift#proxy
[filter:authtoken]
paste.filter_factory = keystonemiddleware.auth_token:filter_factory
auth_url = http://keystone:5000/v3
www_authenticate_uri = http://keystone:5000/v3
auth_type = password
username = placement
password = pw
project_name = service
user_domain_name = Default
project_domain_name = Default
region_name = RegionOne
delay_auth_decision = true
[filter:s3token]
use = egg:swift#s3token
auth_uri = http://keystone:5000/v3
[filter:keystoneauth]
use = egg:swift#keystoneauth
operator_roles = admin, member
project_reader_roles = reader
${filters('healthcheck')}`;
const serverConf = (kind: string, port: number) => `[DEFAULT]
bind_port = ${port}
swift_dir = /rings
devices = /srv/node
mount_check = false
[pipeline:main]
pipeline = healthcheck ${kind}-server
[app:${kind}-server]
use = egg:swift#${kind}
[${kind}-replicator]
rsync_module = rsync://{replication_ip}:6873/${kind}
${filters('healthcheck')}`;
const servers = { account: 6202, container: 6201, object: 6200 };
const rsyncConf = `use chroot = no\n${Object.keys(servers)
  .map((kind) => `[${kind}]\npath = /srv/node\nread only = no\n`)
  .join('')}`;

const build = (devices: readonly string[], replicas = 1) =>
  Object.entries(servers)
    .map(
      ([kind, port]) =>
        `swift-ring-builder /rings/${kind}.builder create 4 ${replicas} 1\n${devices
          .map(
            (one) =>
              `swift-ring-builder /rings/${kind}.builder add --region 1 --zone 1 --ip ${one} --port ${port} --device d1 --weight 100\n`,
          )
          .join('')}swift-ring-builder /rings/${kind}.builder rebalance\n`,
    )
    .join('');

type Files = Readonly<Record<string, string>>;

/** Hosts with the same rings: storage nodes by name, and a proxy. */
async function cluster(
  nodes: readonly string[],
  {
    change = {},
    replicas = nodes.length,
    started = true,
  }: { change?: Files; replicas?: number; started?: boolean } = {},
) {
  const { world, token } = await ground();
  const programs = { ...baseCommands, ...swift.programs };
  const files: Files = {
    '/etc/swift/swift.conf': swiftConf,
    '/etc/swift/proxy-server.conf': proxyConf,
    '/etc/swift/rsyncd.conf': rsyncConf,
    ...Object.fromEntries(
      Object.entries(servers).map(([kind, port]) => [`/etc/swift/${kind}-server.conf`, serverConf(kind, port)]),
    ),
    ...change,
  };
  const host = (name: string) =>
    world.container({ host: name, programs, uid: 42_445, files, directories: ['rings', 'srv/node/d1'] });
  const start = async (name: string) => {
    const container = host(name);
    await container.run(['sh', '-ec', build(nodes, replicas)]);
    const running = [
      ...Object.keys(servers).map((kind) =>
        container.start([`swift-${kind}-server`, `/etc/swift/${kind}-server.conf`, '-v']),
      ),
      container.start(['rsync', '--daemon', '--port=6873', '--config=/etc/swift/rsyncd.conf']),
    ];
    await world.clock.advance(5000);
    const stop = async () => {
      for (const one of running) await one.stop();
    };
    return { container, stop };
  };
  const storage: Awaited<ReturnType<typeof start>>[] = [];
  for (const name of started ? nodes : []) storage.push(await start(name));
  const front = host('proxy');
  await front.run(['sh', '-ec', build(nodes, replicas)]);
  const proxy = front.start(['swift-proxy-server', '/etc/swift/proxy-server.conf', '-v']);
  await world.clock.advance(5000);
  const mine = { 'x-auth-token': token };
  const send = async (method: string, path: string, body?: unknown, headers: Files = mine) => {
    const { status, body: text = '' } = await request(world, 'proxy', 8080, path, { method, headers, body });
    return { status, body: text };
  };
  const projects = await request(world, 'keystone', 5000, '/v3/projects', { headers: { 'x-auth-token': token } });
  const all = (JSON.parse(projects.body ?? '{}') as { projects?: readonly { id: string; name: string }[] }).projects;
  const account = `/v1/AUTH_${all?.find(({ name }) => name === 'admin')?.id}`;
  return { world, account, storage, start, proxy, send, mine };
}

const changed = (path: string, from: string, to: string): Files => {
  const conf = path.includes('proxy') ? proxyConf : swiftConf;
  return { [path]: conf.replace(from, to) };
};

describe('the proxy', () => {
  it('wants rings', async () => {
    const { proxy } = await cluster([], { replicas: 1 });
    expect(proxy.output()).toContain("No such file or directory: '/rings/account.ring.gz'");
  });

  it('keeps objects, for whoever has a role in the project of the account', async () => {
    const { send, account } = await cluster(['one', 'two', 'three']);
    expect((await send('GET', '/healthcheck', undefined, {})).status).toBe(200);
    expect((await send('GET', '/info', undefined, {})).body).toContain('gold');
    expect((await send('GET', account, undefined, {})).status).toBe(401);
    expect((await send('GET', '/v1/AUTH_other')).status).toBe(403);
    expect((await send('PUT', `${account}/photos/cat`, 'purr')).status).toBe(404);
    expect((await send('PUT', `${account}/photos`)).status).toBe(201);
    expect((await send('PUT', `${account}/photos/a/cat`, 'purr')).status).toBe(201);
    expect(await send('GET', `${account}/photos/a/cat`)).toEqual({ status: 200, body: '"purr"' });
    expect((await send('GET', `${account}/photos`)).body).toBe('a/cat\n');
    expect((await send('DELETE', `${account}/photos`)).status).toBe(409);
    expect((await send('DELETE', `${account}/photos/a/cat`)).status).toBe(204);
    expect((await send('GET', `${account}/photos/a/cat`)).status).toBe(404);
    expect((await send('DELETE', `${account}/photos`)).status).toBe(204);
    expect((await send('GET', account, undefined, { authorization: 'AWS a:b' })).status).toBe(501);
  });

  it('uses no device that is not mounted, where servers look for mounts', async () => {
    const change = Object.fromEntries(
      Object.entries(servers).map(([kind, port]) => [
        `/etc/swift/${kind}-server.conf`,
        serverConf(kind, port).replace('mount_check = false', 'mount_check = true'),
      ]),
    );
    const { send, account, storage } = await cluster(['one'], { change });
    expect((await send('PUT', `${account}/photos`)).status).toBe(503);
    expect(storage[0]?.container.files.list('/srv/node/d1')).toEqual([]);
  });

  it('does with two of three nodes, and not with one; what the others missed is brought to them', async () => {
    const { send, account, storage, start, world } = await cluster(['one', 'two', 'three']);
    const [, two, three] = storage;
    await send('PUT', `${account}/photos`);
    await three?.stop();
    expect((await send('PUT', `${account}/photos/cat`, 'purr')).status).toBe(201);
    await two?.stop();
    expect((await send('PUT', `${account}/photos/dog`, 'woof')).status).toBe(503);
    const { container } = await start('three');
    for (const kind of Object.keys(servers))
      storage[0]?.container.start([`swift-${kind}-replicator`, `/etc/swift/${kind}-server.conf`, '-v']);
    await world.clock.advance(60_000);
    expect(container.files.list('/srv/node/d1')).toEqual(['accounts', 'containers', 'objects', 'tmp']);
  });

  it('lets those read who have a role of readers, and not write', async () => {
    const path = '/etc/swift/proxy-server.conf';
    const change = { [path]: proxyConf.replace('= admin, member', '= other').replace('= reader', '= admin') };
    const { send, account } = await cluster(['one'], { change });
    expect((await send('GET', account)).status).toBe(200);
    expect((await send('PUT', `${account}/photos`)).status).toBe(403);
  });

  it('answers 503 without storage nodes', async () => {
    const { send, account } = await cluster(['one'], { started: false });
    expect((await send('PUT', `${account}/photos`)).status).toBe(503);
  });

  it.each<[string, Files, string]>([
    ['no ends of its hash', { '/etc/swift/swift.conf': '' }, 'both swift_hash_path_suffix and swift_hash_path_prefix'],
    [
      'a filter without a section',
      changed('/etc/swift/proxy-server.conf', '[filter:keystoneauth]', '[filter:other]'),
      "No section 'keystoneauth'",
    ],
    [
      'a filter that there is not',
      changed('/etc/swift/proxy-server.conf', 'swift#keystoneauth', 'swift#ldap'),
      "Entry point 'ldap' not found",
    ],
    [
      'no address of Keystone for S3',
      changed('/etc/swift/proxy-server.conf', 'auth_uri = http://keystone:5000/v3', 'auth_uri = keystone'),
      'Invalid auth_uri',
    ],
    [
      'a bare % in a password',
      changed('/etc/swift/proxy-server.conf', 'password = pw', 'password = 5%'),
      "'%' must be followed by '%' or '('",
    ],
  ])('does not start with %s', async (_what, change, words) => {
    const { proxy } = await cluster(['store'], { change });
    expect(proxy.output()).toContain(words);
    expect(proxy.status()).toBe(1);
  });
});

describe('storlets', () => {
  const path = '/etc/swift/proxy-server.conf';
  const filter = (options: string) => ({
    [path]: `${proxyConf.replace('keystoneauth proxy-server', 'keystoneauth storlet_handler proxy-server')}[filter:storlet_handler]\nuse = egg:storlets#storlet_handler\n${options}\n`,
  });

  it('are run in accounts that let them, by the gateway that gives data back as they are', async () => {
    const { send, account, mine } = await cluster(['one'], { change: filter('execution_server = proxy') });
    expect((await send('GET', '/info', undefined, {})).body).toContain('"storlet_gateway_class":"StubStorletGateway"');
    for (const container of ['storlet', 'photos']) await send('PUT', `${account}/${container}`);
    await send('PUT', `${account}/photos/cat`, 'purr');
    const disabled = { status: 400, body: expect.stringContaining('Account disabled for storlets') as string };
    expect(await send('PUT', `${account}/storlet/one.py`, 'code')).toMatchObject(disabled);
    expect((await send('GET', `${account}/photos/cat`)).status).toBe(200);
    await send('POST', account, '', { ...mine, 'x-account-meta-storlet-enabled': 'True' });
    expect((await send('PUT', `${account}/storlet/one.py`, 'code')).status).toBe(201);
    const run = (method: string, storlet: string, more: Files = {}) =>
      send(method, `${account}/photos/cat`, undefined, { ...mine, 'x-run-storlet': storlet, ...more });
    expect(await run('GET', 'one.py')).toEqual({ status: 200, body: '"purr"' });
    expect(await run('GET', 'two.py')).toMatchObject({
      status: 401,
      body: expect.stringContaining('Failed to verify access to the storlet') as string,
    });
    expect((await run('DELETE', 'one.py')).status).toBe(405);
    expect((await run('GET', 'one.py', { range: 'bytes=0-1' })).status).toBe(400);
    expect((await run('GET', 'one.py', { referer: '//storlets.me_one.py' })).status).toBe(403);
    const right = { ...mine, 'x-storlet-container-read': 'me', 'x-storlet-name': 'one.py' };
    expect((await send('POST', `${account}/photos`, '', right)).status).toBe(501);
  });

  it.each([
    ['execution_server = nowhere', 'execution_server must be either proxy or object but is nowhere'],
    ['', 'execution_server must be either proxy or object but is None'],
    [
      'execution_server = proxy\nstorlet_gateway_module = runc',
      'Invalid class path is given for gateway class name runc',
    ],
    ['execution_server = proxy\nstorlet_gateway_module = docker', 'no model knows the gateway docker'],
  ])('%j ends the proxy', async (options, words) => {
    const { proxy } = await cluster(['one'], { change: filter(options) });
    expect(proxy.output()).toContain(words);
    expect(proxy.status()).toBe(1);
  });
});

describe('rsync', () => {
  it('lists a folder of a module, and says when there is none', async () => {
    const { storage, send, account, world } = await cluster(['one']);
    await send('PUT', account);
    const client = world.container({ host: 'job', programs: swift.programs, uid: 42_445, files: {} });
    const listed = (url: string) => client.run(['rsync', url]);
    const all = await listed('rsync://one:6873/object/d1/');
    expect(all).toMatchObject({ status: 0, output: expect.stringMatching(/^drwx.* \.\n(.*\n)*drwx.* accounts\n/u) });
    expect(await listed('rsync://one:6873/object/d2/')).toMatchObject({
      status: 23,
      output: expect.stringContaining('change_dir "d2" (in object) failed: No such file or directory (2)'),
    });
    expect(await listed('rsync://one:6873/volume/d1/')).toMatchObject({
      status: 5,
      output: expect.stringContaining("@ERROR: Unknown module 'volume'"),
    });
    await storage[0]?.stop();
    expect(await listed('rsync://one:6873/object/d1/')).toMatchObject({
      status: 10,
      output: expect.stringContaining('failed to connect to one'),
    });
  });
});
