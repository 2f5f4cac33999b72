import { describe, expect, it } from 'vitest';
import { type Changes, ground } from '../../testing/cloud.ts';
import { request } from '../../testing/world.ts';

const conf = '/etc/manila/manila.conf';
const keyring = '/etc/ceph/ceph.client.manila.keyring';
const changed = (change: (text: string) => string): Changes => ({ [conf]: change });

interface Answer {
  readonly share?: { readonly id: string; readonly status: string; readonly host: string };
  readonly services?: unknown;
}

const type = (name: string, servers = 'False') => ({
  share_type: { name, extra_specs: { share_backend_name: name, driver_handles_share_servers: servers } },
});

/** Manila's programs, each on a host of its own: the database migrated, unless told otherwise, the API started, a type made. */
async function running(change: Changes = {}, { synced = true } = {}) {
  const { world, token, container } = await ground(change);
  const host = container('manila');
  if (synced) expect((await host.run(['manila-manage', 'db', 'sync'])).status).toBe(0);
  const api = host.start(['uwsgi', '--ini', '/manila.ini']);
  await world.clock.advance(15_000);
  const send = async (method: string, path: string, body?: unknown, version?: string) => {
    const spoken = version === undefined ? {} : { 'x-openstack-manila-api-version': version };
    const reply = await request(world, 'manila', 8786, `/v2${path}`, {
      method,
      headers: { 'x-auth-token': token, ...spoken },
      body,
    });
    return { status: reply.status, body: JSON.parse(reply.body || '{}') as Answer };
  };
  if (synced && api.status() === undefined) await send('POST', '/types', type('fs'));
  const start = async (...programs: readonly string[]) => {
    const started = programs.map((program) => container(program).start([program]));
    await world.clock.advance(20_000);
    return started;
  };
  /** The status of a new share after a while. */
  const share = async (more: object = {}) => {
    const made = await send('POST', '/shares', { share: { size: 1, share_proto: 'CEPHFS', ...more } });
    await world.clock.advance(3000);
    const { id = '' } = made.body.share ?? {};
    return { id, status: (await send('GET', `/shares/${id}`)).body.share?.status };
  };
  return { world, host, api, send, start, share };
}

describe('shares', () => {
  it('become available by the process of their backend, and go by it', async () => {
    const { send, start, share, world } = await running();
    await start('manila-scheduler', 'manila-share', 'manila-data');
    const { id, status } = await share();
    expect(status).toBe('available');
    expect((await send('GET', `/shares/${id}`)).body.share?.host).toBe('store@fs#cephfs');
    expect((await send('DELETE', `/shares/${id}`)).status).toBe(202);
    await world.clock.advance(3000);
    expect((await send('GET', `/${'0'.repeat(32)}/shares/${id}`)).status).toBe(404);
  });

  it('end in error without a backend, or without one of their type', async () => {
    const { send, start, share } = await running();
    const [scheduler] = await start('manila-scheduler');
    expect((await share()).status).toBe('error');
    expect(scheduler?.output()).toContain('No valid host was found. Failed to find a weighted host');
    await start('manila-share');
    await send('POST', '/types', type('other'));
    expect((await share({ share_type: 'other' })).status).toBe('error');
    expect((await share()).status).toBe('available');
  });

  it('need a protocol and a type that there are, and a network where their type makes servers', async () => {
    const { send } = await running();
    const refused = async (share: object) => {
      const { status, body } = await send('POST', '/shares', { share: { size: 1, share_proto: 'cephfs', ...share } });
      return `${status} ${JSON.stringify(body)}`;
    };
    expect(await refused({ share_proto: 'nfs' })).toContain('400 {"badRequest":{"code":400,"message":"Invalid input');
    expect(await refused({ share_type: 'none' })).toContain('Share type not found.');
    await send('POST', '/types', type('servers', 'True'));
    expect(await refused({ share_type: 'servers' })).toContain('Share network must be set');
    expect((await send('POST', '/types', { share_type: { name: 'x', extra_specs: {} } })).status).toBe(400);
    expect((await send('POST', '/types', type('fs'))).status).toBe(409);
  });

  it('are placed where all is that their type asks for', async () => {
    const { send, start, share } = await running();
    await start('manila-scheduler', 'manila-share');
    const statusWith = async (specs: Readonly<Record<string, string>>) => {
      const extra_specs = { driver_handles_share_servers: 'False', ...specs };
      const name = Object.values(specs).join();
      expect((await send('POST', '/types', { share_type: { name, extra_specs } })).status).toBe(200);
      return (await share({ share_type: name })).status;
    };
    expect(await statusWith({ snapshot_support: '<is> True' })).toBe('available');
    expect(await statusWith({ revert_to_snapshot_support: 'yes' })).toBe('error');
    expect(await statusWith({ dedupe: 'True' })).toBe('error');
    expect(await statusWith({ 'netapp:dedupe': 'true' })).toBe('available');
  });

  it('wait in creating while no scheduler runs', async () => {
    const { share } = await running();
    expect((await share()).status).toBe('creating');
  });
});

describe('what is done with a share', () => {
  const allow = (to: string, more: object = {}) => ({
    allow_access: { access_type: 'cephx', access_to: to, ...more },
  });

  it.each<[string, string, object, string]>([
    ['of a version that does not know it', '2.6', allow('alice'), '404'],
    ['that there is not', '2.65', { fly: null }, 'There is no such action: fly'],
    ['for whom a version does not know', '2.12', allow('alice'), "Only 'ip', 'user' or 'cert' access types"],
    ['for nobody', '2.65', allow(''), 'Ceph IDs may not be empty.'],
    ['for what is no network', '2.65', allow('here', { access_type: 'ip' }), 'does not appear to be an IPv4 or IPv6'],
    [
      'at a level that there is not',
      '2.65',
      allow('alice', { access_level: 'all' }),
      'Invalid share access level: all.',
    ],
    ['by a rule that there is not', '2.65', { deny_access: { access_id: 'none' } }, 'Resource could not be found.'],
    ['in a size that is none', '2.65', { extend: { new_size: 'large' } }, 'must be specified as an integer'],
    ['in a size that its type has not', '2.65', { shrink: { new_size: 1 } }, "minimum required size of '2' for share"],
    ['in a size that an administrator may exceed', '2.65', { extend: { new_size: 5 } }, '202'],
  ])('is refused %s', async (_what, version, action, words) => {
    const { send, start, share } = await running();
    await start('manila-scheduler', 'manila-share');
    const extra_specs = {
      driver_handles_share_servers: 'False',
      'provisioning:min_share_size': '2',
      'provisioning:max_share_size': '4',
    };
    await send('POST', '/types', { share_type: { name: 'bounded', extra_specs } });
    const { id, status } = await share({ share_type: 'bounded', size: 2 });
    expect(status).toBe('available');
    const { status: code, body } = await send('POST', `/shares/${id}/action`, action, version);
    expect(`${code} ${JSON.stringify(body)}`).toContain(words);
  });
});

describe('a backend', () => {
  it.each<[string, Changes, string]>([
    ['without a keyring', { [keyring]: () => '' }, 'RADOS object not found'],
    ['with what is no key', { [keyring]: (text) => text.replace(/key = .*/, 'key = short') }, 'RADOS invalid argument'],
    ['of another user', changed((text) => text.replace('cephfs_auth_id = manila', 'cephfs_auth_id = other')), 'RADOS'],
    ['without monitors', { '/etc/ceph/ceph.conf': () => '[global]\n' }, 'RADOS object not found'],
  ])('%s tries for ever, and takes no share', async (_name, change, words) => {
    const { share, start, world } = await running(change);
    const [process] = await start('manila-share', 'manila-scheduler');
    await world.clock.advance(90_000);
    expect(process?.output()).toContain('Error encountered during initialization of driver CephFSDriver@store@fs');
    expect(process?.output()).toContain(words);
    expect(process?.output()).toContain('Please check your Ceph backend is reachable.');
    expect(process?.status()).toBeUndefined();
    expect((await share()).status).toBe('error');
  });

  it.each<[string, Changes, string]>([
    ['a driver that there is not', changed((text) => text.replace('CephFSDriver', 'NoDriver')), 'cannot be found'],
    [
      'a mode that its driver has not',
      changed((text) => text.replace('servers = false', 'servers = true')),
      "'driver_handles_share_servers=True'. It can be used only with value '(False,)'",
    ],
    ['no mode', changed((text) => text.replace('driver_handles_share_servers = false', '')), 'has improper value'],
    [
      'no server of coordination',
      changed((text) => text.replace('file:///var/lib/manila', 'memcached://nobody:11211')),
      'ToozConnectionError',
    ],
  ])('ends with %s', async (_name, change, words) => {
    const { start } = await running(change, { synced: false });
    const [process] = await start('manila-share');
    expect(process?.output()).toContain(words);
    expect(process?.status()).toBe(1);
  });

  it('without a name is served under the host alone', async () => {
    const { start, send } = await running(
      changed((text) =>
        text
          .replace('enabled_share_backends = fs', 'driver_handles_share_servers = true')
          .replace('host = store', 'host = store\nservice_instance_user = ubuntu'),
      ),
    );
    await start('manila-share');
    expect((await send('GET', '/services')).body.services).toMatchObject([{ host: 'store', state: 'up' }]);
  });
});

it.each<[string, Changes, string]>([
  [
    'it cannot join the others',
    changed((text) => text.replace('file:///var/lib/manila', 'memcached://nobody:11211')),
    'ToozConnectionError',
  ],
  [
    'a protocol is none',
    changed((text) => text.replace('protocols = CEPHFS', 'protocols = FTP')),
    "Unsupported share protocol 'FTP' is set as enabled.",
  ],
])('the API does not load where %s', async (_name, change, words) => {
  const { api } = await running(change);
  expect(api.output()).toContain(words);
  expect(api.status()).toBe(22);
});

it('types say what they can, are changed but for their extra specs, and those that are not public are listed on request', async () => {
  const { send } = await running();
  const extra_specs = { driver_handles_share_servers: 'False' };
  const made = (specs: object) => send('POST', '/types', { share_type: { name: 'gold', extra_specs: specs } });
  expect(JSON.stringify(await made({ driver_handles_share_servers: 'perhaps' }))).toContain('is not valid.');
  expect(JSON.stringify(await made({ ...extra_specs, snapshot_support: 'perhaps' }))).toContain(
    'Invalid boolean extra spec snapshot_support : perhaps',
  );
  const { body } = await made(extra_specs);
  const { id } = (body as { share_type: { id: string } }).share_type;
  const change = { 'share_type_access:is_public': false, extra_specs: {} };
  expect(await send('PUT', `/types/${id}`, { share_type: change })).toMatchObject({
    status: 200,
    body: { share_type: { name: 'gold', extra_specs } },
  });
  const specs = (more: object) => send('POST', `/types/${id}/extra_specs`, { extra_specs: more });
  expect((await specs({ snapshot_support: 'True' })).status).toBe(200);
  expect(await specs({ snapshot_support: '' })).toMatchObject({ status: 400 });
  expect(await specs({ 'a b': 'c' })).toMatchObject({ status: 400 });
  const names = async (query: string) =>
    ((await send('GET', `/types${query}`)).body as { share_types: { name: string }[] }).share_types.map(
      ({ name }) => name,
    );
  expect(await names('')).toEqual(['fs']);
  expect(await names('?is_public=all')).toEqual(['fs', 'gold']);
  expect(await send('GET', `/types/${id}`)).toMatchObject({
    body: { share_type: { extra_specs: { ...extra_specs, snapshot_support: 'True' } } },
  });
});

it('services that are gone can be removed', async () => {
  const { start, host, world } = await running();
  const [share] = await start('manila-share');
  await share?.stop();
  await world.clock.advance(120_000);
  expect((await host.run(['manila-manage', 'service', 'cleanup'])).output).toContain('Cleaned up service store@fs');
});
