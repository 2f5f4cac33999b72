import { describe, expect, it } from 'vitest';
import { type Changes, ground } from '../../testing/cloud.ts';
import { request } from '../../testing/world.ts';

const conf = '/etc/cinder/cinder.conf';
const keyring = '/etc/ceph/ceph.client.cinder.keyring';
const changed = (change: (text: string) => string): Changes => ({ [conf]: change });

const nfsDriver = 'nfs.NfsDriver';
const aShare = 'nas_host = 10.0.0.20\nnas_share_path = /volumes';
const lvmDriver = 'lvm.LVMVolumeDriver';
const byLvm = (text: string) => text.replace('rbd.RBDDriver', lvmDriver);
const byNfs = (text: string) => text.replace('rbd.RBDDriver', nfsDriver);

interface Answer {
  readonly volume?: { readonly id: string; readonly status: string };
  readonly services?: unknown;
}

/** Cinder's programs, each on a host of its own: the database migrated, unless told otherwise, and the API started. */
async function running(
  change: Changes = {},
  { synced = true, more = {} }: { synced?: boolean; more?: Readonly<Record<string, string>> } = {},
) {
  const { world, token, container } = await ground(change, more);
  const host = container('cinder');
  if (synced) expect((await host.run(['cinder-manage', 'db', 'sync'])).status).toBe(0);
  const api = host.start(['uwsgi', '--ini', '/cinder.ini']);
  await world.clock.advance(15_000);
  const send = async (method: string, path: string, body?: unknown) => {
    const reply = await request(world, 'cinder', 8776, `/v3${path}`, {
      method,
      headers: { 'x-auth-token': token },
      body,
    });
    return { status: reply.status, body: JSON.parse(reply.body || '{}') as Answer };
  };
  const start = async (...programs: readonly string[]) => {
    const started = programs.map((program) => container(program).start([program]));
    await world.clock.advance(15_000);
    return started;
  };
  /** The status of a new volume after a while. */
  const volume = async (more: object = {}) => {
    const made = await send('POST', '/volumes', { volume: { size: 1, ...more } });
    await world.clock.advance(3000);
    const { id = '' } = made.body.volume ?? {};
    return { id, status: (await send('GET', `/volumes/${id}`)).body.volume?.status };
  };
  return { world, host, api, send, start, volume, container };
}

describe('volumes', () => {
  it('become available by the process of their backend, and go by it', async () => {
    const { send, start, volume, world } = await running();
    await start('cinder-scheduler', 'cinder-volume');
    const { id, status } = await volume();
    expect(status).toBe('available');
    expect((await send('DELETE', `/volumes/${id}`)).status).toBe(202);
    await world.clock.advance(3000);
    expect((await send('GET', `/volumes/${id}`)).status).toBe(404);
  });

  it('end in error without a backend, or without one of their type', async () => {
    const { send, start, volume } = await running();
    const [scheduler] = await start('cinder-scheduler');
    expect((await volume()).status).toBe('error');
    expect(scheduler?.output()).toContain('No valid backend was found. No weighed backends available');
    await start('cinder-volume');
    const extra_specs = { volume_backend_name: 'other' };
    await send('POST', '/types', { volume_type: { name: 'other', extra_specs } });
    expect((await volume({ volume_type: 'other' })).status).toBe('error');
    expect((await volume()).status).toBe('available');
  });

  it('need a type that is there', async () => {
    const { send } = await running(changed((text) => `[DEFAULT]\ndefault_volume_type = none\n${text}`));
    expect(await send('POST', '/volumes', { volume: { size: 1 } })).toMatchObject({
      status: 500,
      body: { computeFault: { message: expect.stringContaining('default volume type none cannot be found') } },
    });
    expect((await send('POST', '/volumes', { volume: { size: 1, volume_type: 'none' } })).status).toBe(404);
  });

  it('wait in creating while no scheduler runs', async () => {
    const { volume } = await running();
    expect((await volume()).status).toBe('creating');
  });
});

describe('a backend', () => {
  it.each<[string, Changes, string]>([
    ['without a keyring', { [keyring]: () => '' }, 'RADOS object not found'],
    ['with what is no key', { [keyring]: (text) => text.replace(/key = .*/, 'key = short') }, 'RADOS invalid argument'],
    [
      'of another user',
      changed((text) => text.replace('rbd_user = cinder', 'rbd_user = other')),
      'RADOS object not found',
    ],
    ['without monitors', { '/etc/ceph/ceph.conf': () => '[global]\n' }, 'RADOS object not found'],
    ['without a file of shares', changed(byNfs), "NFS config file at /etc/cinder/nfs_shares doesn't exist"],
    [
      'whose only share nobody knows',
      changed((text) => byNfs(text).replace(nfsDriver, `${nfsDriver}\nnas_host = nas\nnas_share_path = /volumes`)),
      'Failed to resolve server nas: Name or service not known',
    ],
    [
      'that would make snapshots as its own user',
      changed((text) => byNfs(text).replace(nfsDriver, `${nfsDriver}\n${aShare}\nnfs_snapshot_support = true`)),
      'Snapshots are not supported with nas_secure_file_operations enabled',
    ],
    ['of LVM without rights on devices', changed(byLvm), '/dev/mapper/control: open failed: Permission denied'],
    [
      'of LVM with another target',
      changed((text) => byLvm(text).replace(lvmDriver, `${lvmDriver}\ntarget_helper = lioadm`)),
      'no model knows the target helper lioadm',
    ],
  ])('%s stays, and is down', async (_name, change, words) => {
    const { send, start, world } = await running(change);
    const [process] = await start('cinder-volume');
    await world.clock.advance(90_000);
    expect(process?.output()).toContain('Failed to initialize driver.');
    expect(process?.output()).toContain(words);
    expect(process?.status()).toBeUndefined();
    expect((await send('GET', '/os-services')).body.services).toMatchObject([{ state: 'down' }]);
  });

  it.each<[string, Changes, string]>([
    ['a driver that there is not', changed((text) => text.replace('RBDDriver', 'NoDriver')), 'cannot be found'],
    [
      'no backend',
      changed((text) => text.replace('enabled_backends = rbd', '')),
      'does not specify "enabled_backends"',
    ],
    ['a wrong password', changed((text) => text.replace('cinder:pw@', 'cinder:bad@')), 'failed to start'],
  ])('ends with %s', async (_name, change, words) => {
    const { start } = await running(change, { synced: false });
    const [process] = await start('cinder-volume');
    expect(process?.output()).toContain(words);
    expect(process?.status()).toBe(1);
  });
});

it('a backend of NFS makes volumes once one of its shares is mounted', async () => {
  const shares = { '/etc/cinder/nfs_shares': '# a comment\nno-share\nnas:/volumes\n10.0.0.20:/volumes\n' };
  const { start, volume } = await running(changed(byNfs), { more: shares });
  const [, process] = await start('cinder-scheduler', 'cinder-volume');
  expect(process?.output()).toContain('Share no-share ignored due to invalid format');
  expect(process?.output()).toContain('Exception during mounting NFS mount failed for share nas:/volumes');
  expect((await volume()).status).toBe('available');
});

it('a process that may not become root mounts nothing', async () => {
  const { container, world } = await running(changed(byNfs), { more: { '/etc/cinder/nfs_shares': '10.0.0.20:/a\n' } });
  const process = container('cinder-volume', { uid: 42_407 }).start(['cinder-volume']);
  await world.clock.advance(15_000);
  expect(process.output()).toContain('sudo: The "no new privileges" flag is set');
});

it('the API does not load where it cannot join the others', async () => {
  const { api } = await running(changed((text) => `${text}[coordination]\nbackend_url = memcached://nobody:11211\n`));
  expect(api.output()).toContain('ToozConnectionError');
  expect(api.status()).toBe(22);
});

it('the project stands behind the version, or not; services that are gone can be removed', async () => {
  const { send, start, host } = await running();
  await start('cinder-scheduler', 'cinder-volume', 'cinder-backup');
  expect((await send('GET', `/${'0'.repeat(32)}/volumes/detail`)).status).toBe(200);
  expect((await host.run(['cinder-manage', 'service', 'list'])).output).toContain(
    'cinder-volume store@rbd nova enabled :-)',
  );
  expect((await host.run(['cinder-manage', 'service', 'remove', 'cinder-volume', 'store@rbd'])).status).toBe(0);
  expect((await host.run(['cinder-manage', 'service', 'remove', 'cinder-volume', 'store@rbd'])).status).toBe(2);
});

it('purges rows of deleted things, of an age that can be', async () => {
  const { host } = await running();
  const purged = async (...age: string[]) => (await host.run(['cinder-manage', 'db', 'purge', ...age])).status;
  expect(await purged('30')).toBe(0);
  expect(await purged('99999')).toBe(1);
  expect(await purged('a')).toBe(2);
  expect(await purged()).toBe(2);
});

it('types have extra specs and quality of service of their own', async () => {
  const { send } = await running();
  const made = await send('POST', '/types', {
    volume_type: { name: 'gold', 'os-volume-type-access:is_public': false, extra_specs: { a: '1' } },
  });
  const { id } = (made.body as unknown as { volume_type: { id: string } }).volume_type;
  expect((await send('POST', `/types/${id}/extra_specs`, { extra_specs: { b: '2' } })).status).toBe(200);
  const qos = await send('POST', '/qos-specs', {
    qos_specs: { name: 'gold', consumer: 'both', total_iops_sec: '100' },
  });
  expect(qos.body).toMatchObject({ qos_specs: { consumer: 'both', specs: { total_iops_sec: '100' } } });
  const { id: specs } = (qos.body as unknown as { qos_specs: { id: string } }).qos_specs;
  expect((await send('GET', `/qos-specs/${specs}/associate?vol_type_id=${id}`)).status).toBe(202);
  expect((await send('GET', `/types/${id}`)).body).toMatchObject({
    volume_type: { is_public: false, extra_specs: { a: '1', b: '2' }, qos_specs_id: specs },
  });
  expect((await send('POST', '/qos-specs', { qos_specs: { name: 'x', consumer: 'nobody' } })).status).toBe(400);
  const encryption = { provider: 'luks', control_location: 'front-end' };
  expect((await send('POST', `/types/${id}/encryption`, { encryption })).status).toBe(200);
  expect((await send('POST', `/types/${id}/encryption`, { encryption })).status).toBe(409);
  expect((await send('GET', `/types/${id}/encryption`)).body).toMatchObject(encryption);
});

it('a backup that is asked for in the first minute ends in error, later ones are made', async () => {
  const { send, start, volume, world } = await running();
  await start('cinder-scheduler', 'cinder-volume', 'cinder-backup');
  const { id: volume_id } = await volume();
  const backup = async () => {
    const { body } = await send('POST', '/backups', { backup: { volume_id } });
    const { id } = (body as unknown as { backup: { id: string } }).backup;
    await world.clock.advance(5000);
    return (await send('GET', `/backups/${id}`)).body as { backup?: object };
  };
  expect(await backup()).toMatchObject({
    backup: { status: 'error', fail_reason: 'Service not found for creating backup.' },
  });
  expect((await send('GET', `/volumes/${volume_id}`)).body.volume?.status).toBe('available');
  await world.clock.advance(70_000);
  expect(await backup()).toMatchObject({ backup: { status: 'available' } });
  expect((await send('GET', `/volumes/${volume_id}`)).body.volume?.status).toBe('available');
  expect((await send('POST', '/backups', { backup: { volume_id: 'none' } })).status).toBe(404);
});

it('a volume grows, and does not shrink; a project has no more than its quota', async () => {
  const { send, start, volume, world } = await running(changed((text) => `[DEFAULT]\nquota_volumes = 1\n${text}`));
  await start('cinder-scheduler', 'cinder-volume');
  const { id } = await volume();
  const extend = (new_size: number) => send('POST', `/volumes/${id}/action`, { 'os-extend': { new_size } });
  expect((await extend(1)).status).toBe(400);
  expect((await extend(2)).status).toBe(202);
  await world.clock.advance(3000);
  expect((await send('GET', `/volumes/${id}`)).body.volume).toMatchObject({ status: 'available', size: 2 });
  expect((await send('POST', '/volumes', { volume: { size: 1 } })).status).toBe(413);
});
