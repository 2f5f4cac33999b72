import { expect, test } from 'vitest';
import { ground } from '../testing/cloud.ts';
import { request } from '../testing/world.ts';
import { cephClients } from './ceph.ts';
import { cephMonitor } from './ceph-monitor.ts';
import { radosgw } from './radosgw.ts';

const key = Buffer.alloc(28, 'a').toString('base64');
const conf = `[global]
mon_host = monitor
[client.swift]
keyring = /etc/ceph/ceph.client.swift.keyring
rgw_frontends = beast port=8080
rgw_keystone_url = http://keystone:5000
rgw_keystone_api_version = 3
rgw_keystone_admin_user = placement
rgw_keystone_admin_password_path = /etc/ceph/keystone-password
rgw_keystone_admin_domain = Default
rgw_keystone_admin_project = service
rgw_keystone_accepted_roles = admin, member
rgw_keystone_implicit_tenants = true
rgw_swift_account_in_url = true
`;
const keyring = (mon: string, own = key) =>
  `[client.swift]\n\tkey = ${own}\n\tcaps mon = "${mon}"\n\tcaps osd = "allow rwx"\n`;

/** A monitor, and a gateway with this configuration and this keyring. */
async function started({
  change = (text: string) => text,
  known = keyring('allow rw'),
  own = keyring('allow rw'),
} = {}) {
  const { world, token } = await ground();
  const files = { '/etc/ceph/users': known, '/etc/ceph/ceph.conf': '' };
  const monitor = world.container({ host: 'monitor', programs: { 'ceph-mon': cephMonitor, ...cephClients }, files });
  await monitor.run(['ceph-mon', '--mkfs', '-i', 'a', '--fsid', 'any', '--keyring', '/etc/ceph/users']);
  monitor.start(['ceph-mon', '-f', '-i', 'a']);
  const gateway = world.container({
    host: 'gateway',
    programs: { radosgw },
    uid: 42_445,
    files: {
      '/etc/ceph/ceph.conf': change(conf),
      '/etc/ceph/keystone-password': 'pw\n',
      ...(own === '' ? {} : { '/etc/ceph/ceph.client.swift.keyring': own }),
    },
  });
  const running = gateway.start(['radosgw', '-f', '-n', 'client.swift']);
  await world.clock.advance(10_000);
  const send = async (method: string, path: string, body?: string, headers = { 'x-auth-token': token }) => {
    const { status, body: text } = await request(world, 'gateway', 8080, path, { method, headers, body });
    return `${status} ${text ?? ''}`;
  };
  const projects = await request(world, 'keystone', 5000, '/v3/projects', { headers: { 'x-auth-token': token } });
  const all = (JSON.parse(projects.body ?? '{}') as { projects?: readonly { id: string; name: string }[] }).projects;
  return { world, running, send, account: `/swift/v1/AUTH_${all?.find(({ name }) => name === 'admin')?.id}` };
}

test('it keeps objects for whoever has a role in the project of the account', async () => {
  const { send, account } = await started();
  expect(await send('GET', '/swift/healthcheck', undefined, {} as never)).toBe('200 ');
  expect(await send('GET', account, undefined, {} as never)).toBe('403 AccessDenied');
  expect(await send('GET', `${account}/photos`, undefined, {} as never)).toBe('401 AccessDenied');
  expect(await send('GET', '/swift/v1/AUTH_other')).toBe('403 AccessDenied');
  expect(await send('PUT', `${account}/photos/tom`, 'purr')).toBe('404 NoSuchBucket');
  expect(await send('PUT', `${account}/photos`)).toBe('201 ');
  expect(await send('PUT', `${account}/photos/cats/tom`, 'purr')).toBe('201 ');
  expect(await send('GET', account)).toBe('200 photos');
  expect(await send('GET', `${account}/photos`)).toBe('200 cats/tom');
  expect(await send('GET', `${account}/photos/cats/tom`)).toBe('200 "purr"');
  expect(await send('DELETE', `${account}/photos`)).toBe(
    '409 There was a conflict when trying to complete your request.',
  );
  expect(await send('DELETE', `${account}/photos/cats/tom`)).toBe('204 ');
  expect(await send('DELETE', `${account}/photos`)).toBe('204 ');
  expect(await send('GET', '/photos')).toContain('501');
});

test.each([
  ['roles that nobody has', 'accepted_roles = admin, member', 'accepted_roles = other', '401 AccessDenied'],
  ['the account not in the URL', 'account_in_url = true', 'account_in_url = false', '404 NoSuchKey'],
  ['another user of Keystone', 'admin_user = placement', 'admin_user = nobody', '503'],
])('with %s a client is not given what it asks for', async (_what, from, to, words) => {
  const { send, account } = await started({ change: (text) => text.replace(from, to) });
  expect(await send('GET', account)).toContain(words);
});

const unknown = 'handle_auth_bad_method server allowed_methods [2] but i only support [2]';
test.each([
  ['a keyring', { own: '' }, 1, 'auth: unable to find a keyring on /etc/ceph/ceph.client.swift.keyring'],
  ['a user', { known: '[client.other]\n\tkey = a\n' }, 1, unknown],
  ['its key', { known: keyring('allow rw', 'other') }, 1, unknown],
  ['the right to make pools', { known: keyring('allow r') }, 5, "Couldn't init storage provider (RADOS)"],
])('without %s it ends', async (_what, options, status, words) => {
  const { running } = await started(options);
  expect(running.output()).toContain(words);
  expect(running.status()).toBe(status);
});

test('it looks for monitors for five minutes', async () => {
  const { running, world } = await started({ change: (text) => text.replace('= monitor', '= nobody') });
  expect(running.status()).toBeUndefined();
  await world.clock.advance(300_000);
  expect(running.output()).toContain(
    'monclient(hunting): authenticate timed out after 300\nfailed to fetch mon config',
  );
});
