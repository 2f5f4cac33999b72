import { describe, expect, it } from 'vitest';
import { memcached } from '../../infrastructure/memcached.ts';
import { bootstrapArguments, cloud, config, type Options, passwordAuth, running, url } from '../../testing/keystone.ts';
import { request, type World } from '../../testing/world.ts';

async function token(world: World, password = 'adminpw'): Promise<string> {
  const reply = await request(world, 'keystone', 5000, '/v3/auth/tokens', {
    method: 'POST',
    body: passwordAuth(password),
  });
  expect(reply.status).toBe(201);
  return reply.headers?.['x-subject-token'] ?? '';
}

describe('keystone', () => {
  it('comes up from an empty database, and gives a token with the catalogue', async () => {
    const { world, sync, boot } = await running();
    expect(sync.status).toBe(0);
    expect(boot.output).toContain('keystone.cmd.bootstrap [-] Created role service');
    const reply = await request(world, 'keystone', 5000, '/v3/auth/tokens', {
      method: 'POST',
      body: passwordAuth('adminpw'),
    });
    expect(reply.status).toBe(201);
    const body = JSON.parse(reply.body ?? '') as { token: { catalog: { type: string }[]; roles: { name: string }[] } };
    expect(body.token.catalog.map(({ type }) => type)).toEqual(['identity']);
    expect(body.token.roles.map(({ name }) => name).sort()).toEqual(['admin', 'manager', 'member', 'reader']);
    expect(
      (
        await request(world, 'keystone', 5000, '/v3/users', {
          headers: { 'x-auth-token': reply.headers?.['x-subject-token'] ?? '' },
        })
      ).status,
    ).toBe(200);
  });

  it('answers probes as seen on the real one', async () => {
    const { world } = await running();
    expect((await request(world, 'keystone', 5000, '/healthcheck')).status).toBe(200);
    expect((await request(world, 'keystone', 5000, '/v3')).status).toBe(200);
    expect((await request(world, 'keystone', 5000, '/')).status).toBe(300);
    expect((await request(world, 'keystone', 5000, '/v3/users')).status).toBe(401);
  });

  it('bootstraps a second time without harm, and resets a changed password', async () => {
    const { world, keystone } = await running();
    const again = await keystone.run(bootstrapArguments, { env: { OS_BOOTSTRAP_PASSWORD: 'newpw' } });
    expect(again.output).toContain('Reset password for user admin.');
    expect(
      (await request(world, 'keystone', 5000, '/v3/auth/tokens', { method: 'POST', body: passwordAuth('adminpw') }))
        .status,
    ).toBe(401);
    await token(world, 'newpw');
  });

  it('takes passwords that another algorithm has hashed, and refuses what is too long for its own', async () => {
    const { world, keystone, api } = await running({ env: { OS_DEFAULT__STRICT_PASSWORD_CHECK: 'true' } });
    const create = async (password: string) => {
      const headers = { 'x-auth-token': await token(world) };
      const body = { user: { name: `u${password.length}`, domain_id: 'default', password } };
      return request(world, 'keystone', 5000, '/v3/users', { method: 'POST', headers, body });
    };
    expect(await create('x'.repeat(86))).toMatchObject({ status: 403, body: expect.stringContaining('equal to 72') });
    await api.stop();
    keystone.start(['uwsgi', '--ini', '/etc/keystone/uwsgi.ini'], {
      env: { OS_IDENTITY__PASSWORD_HASH_ALGORITHM: 'bcrypt_sha256' },
    });
    await world.clock.advance(4000);
    expect((await create('x'.repeat(86))).status).toBe(201);
    expect((await create('x'.repeat(4097))).status).toBe(403);
  });

  it('manages projects, users and grants with an admin token', async () => {
    const { world } = await running();
    const headers = { 'x-auth-token': await token(world) };
    const send = async (method: string, path: string, body?: unknown) => {
      const reply = await request(world, 'keystone', 5000, path, {
        method,
        headers,
        ...(body !== undefined && { body }),
      });
      return {
        status: reply.status,
        body: reply.body ? (JSON.parse(reply.body) as Record<string, Record<string, string>>) : {},
      };
    };
    const project = (await send('POST', '/v3/projects', { project: { name: 'service' } })).body['project']?.['id'];
    const user = (await send('POST', '/v3/users', { user: { name: 'glance', password: 'pw', domain_id: 'default' } }))
      .body['user']?.['id'];
    const roles = (await send('GET', '/v3/roles?name=service')).body['roles'] as unknown as { id: string }[];
    expect((await send('POST', '/v3/users', { user: { name: 'glance', password: 'x' } })).status).toBe(409);
    const login = () =>
      request(world, 'keystone', 5000, '/v3/auth/tokens', {
        method: 'POST',
        body: passwordAuth('pw', 'service', 'glance'),
      });
    expect((await login()).status).toBe(401);
    expect((await send('PUT', `/v3/projects/${project}/users/${user}/roles/${roles[0]?.id}`)).status).toBe(204);
    expect((await login()).status).toBe(201);
    expect(
      (await send('POST', '/v3/endpoints', { endpoint: { service_id: 'nope', interface: 'public', url: 'http://x' } }))
        .status,
    ).toBe(404);
  });

  it('reads keys on use: tokens of a key that has gone are refused', async () => {
    const { world, keystone } = await running();
    const old = await token(world);
    const check = () =>
      request(world, 'keystone', 5000, '/v3/auth/tokens', { headers: { 'x-auth-token': old, 'x-subject-token': old } });
    expect((await check()).status).toBe(200);
    keystone.asRoot.rename('/etc/keystone/fernet-keys/1', '/etc/keystone/fernet-keys/one');
    expect((await check()).status).toBe(401);
    keystone.asRoot.rename('/etc/keystone/fernet-keys/one', '/etc/keystone/fernet-keys/1');
    expect((await check()).status).toBe(200);
  });

  it.each<[string, Options, string, number]>([
    [
      'wrong password',
      { env: { OS_DATABASE__CONNECTION: url.replace(':pw', ':bad') } },
      `sqlalchemy.exc.OperationalError: (pymysql.err.OperationalError) (1045, "Access denied for user 'keystone'@'10.244.0.3' (using password: YES)")`,
      1,
    ],
    [
      'database not granted',
      { sql: "CREATE USER keystone IDENTIFIED BY 'pw'" },
      `(1044, "Access denied for user 'keystone'@'%' to database 'keystone'")`,
      1,
    ],
    [
      'database missing',
      { sql: "GRANT ALL ON keystone.* TO keystone@'%' IDENTIFIED BY 'pw'" },
      `oslo_db.exception.DBNonExistentDatabase: (pymysql.err.OperationalError) (1049, "Unknown database 'keystone'")`,
      1,
    ],
    [
      'host unknown',
      { env: { OS_DATABASE__CONNECTION: url.replace('mariadb', 'nowhere') } },
      `Can't connect to MySQL server on 'nowhere' ([Errno -2] Name or service not known)`,
      1,
    ],
    [
      'nobody listens',
      { env: { OS_DATABASE__CONNECTION: url.replace('mariadb', 'mariadb:3307') } },
      'SQL connection failed. 10 attempts left.',
      1,
    ],
    [
      'no connection at all',
      { env: { OS_DATABASE__CONNECTION: '' } },
      '(sqlite3.OperationalError) unable to open database file',
      1,
    ],
    [
      'read only grant',
      { sql: "CREATE DATABASE keystone; GRANT SELECT ON keystone.* TO keystone@'%' IDENTIFIED BY 'pw'" },
      "CREATE command denied to user 'keystone'@'10.244.0.3'",
      1,
    ],
    [
      'wrong driver',
      { env: { OS_DATABASE__CONNECTION: url.replace('mysql+pymysql', 'mysql') } },
      "ModuleNotFoundError: No module named 'MySQLdb'",
      1,
    ],
    [
      'interpolation',
      { env: { OS_DATABASE__CONNECTION: url.replace(':pw', ':pa$word') } },
      'oslo_config.cfg.NoSuchOptError: no such option word in group [DEFAULT]',
      1,
    ],
    ['broken file', { files: { '/etc/keystone/keystone.conf': 'nonsense\n' } }, "No ':' or '=' found in assignment", 1],
    [
      'wrong boolean',
      { files: { '/etc/keystone/keystone.conf': '[DEFAULT]\ndebug = perhaps\n' } },
      'argument --debug: Invalid Boolean value: perhaps',
      1,
    ],
  ])('db_sync fails in the real words: %s', async (_name, options, words, status) => {
    const { keystone } = await cloud(options);
    const result = await keystone.run(['keystone-manage', 'db_sync']);
    expect(result.output).toContain(words);
    expect(result.status).toBe(status);
  });

  it('says by exit code what db_sync has still to do', async () => {
    const { keystone } = await cloud();
    const check = async () => (await keystone.run(['keystone-manage', 'db_sync', '--check'])).status;
    expect(await check()).toBe(2);
    await keystone.run(['keystone-manage', 'db_sync', '--expand']);
    expect(await check()).toBe(4);
    await keystone.run(['keystone-manage', 'db_sync', '--contract']);
    expect(await check()).toBe(0);
  });

  it('does not bootstrap before the migration, nor without a password', async () => {
    const { keystone } = await cloud();
    const early = await keystone.run(bootstrapArguments, { env: { OS_BOOTSTRAP_PASSWORD: 'x' } });
    expect(early.output).toContain(
      `sqlalchemy.exc.ProgrammingError: (pymysql.err.ProgrammingError) (1146, "Table 'keystone.project' doesn't exist")`,
    );
    expect(early.status).toBe(1);
    expect(await keystone.run(bootstrapArguments)).toMatchObject({
      status: 1,
      output: expect.stringContaining('OS_BOOTSTRAP_PASSWORD must be set') as string,
    });
  });

  it('answers 500 before the migration, but is healthy', async () => {
    const { world, keystone } = await cloud();
    const api = keystone.start(['uwsgi', '--ini', '/etc/keystone/uwsgi.ini']);
    await world.clock.advance(4000);
    const reply = await request(world, 'keystone', 5000, '/v3/auth/tokens', {
      method: 'POST',
      body: passwordAuth('x'),
    });
    expect(reply.status).toBe(500);
    expect(api.output()).toContain("Table 'keystone.project' doesn't exist");
    expect((await request(world, 'keystone', 5000, '/healthcheck')).status).toBe(200);
    expect(await api.stop()).toBe(0);
  });
});

describe('keystone with a cache', () => {
  const cached = (backend: string) =>
    `${config}[cache]\nenabled = true\nbackend = ${backend}\nmemcache_servers = memcached:11211\n`;
  const login = async (backend: string, { start = true } = {}) => {
    const parts = await running({ files: { '/etc/keystone/keystone.conf': cached(backend) } });
    const server = parts.world.container({ host: 'memcached', programs: { memcached }, uid: 42_457 });
    if (start) server.start(['memcached', '-l', '0.0.0.0']);
    await parts.world.clock.advance(1000);
    const reply = await request(parts.world, 'keystone', 5000, '/v3/auth/tokens', {
      method: 'POST',
      body: passwordAuth('adminpw'),
    });
    return { status: reply.status, output: parts.api.output() };
  };

  it('works with memcached', async () => {
    expect((await login('dogpile.cache.pymemcache')).status).toBe(201);
  });

  it('answers 500 when pymemcache finds nobody, and does not mind with a pool', async () => {
    const strict = await login('dogpile.cache.pymemcache', { start: false });
    expect(strict).toMatchObject({
      status: 500,
      output: expect.stringContaining('ConnectionRefusedError: [Errno 111] Connection refused') as string,
    });
    expect((await login('oslo_cache.memcache_pool', { start: false })).status).toBe(201);
  });

  it('does not load with a backend that there is none of', async () => {
    const { api } = await running({ files: { '/etc/keystone/keystone.conf': cached('dogpile.cache.nosuch') } });
    expect(api.output()).toContain("but found 'dogpile.cache.nosuch'");
    expect(api.status()).toBe(22);
  });
});
