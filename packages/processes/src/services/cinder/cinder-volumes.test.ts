import { expect, it } from 'vitest';
import { ground } from '../../testing/cloud.ts';
import { request } from '../../testing/world.ts';

type Answer = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A Cinder with a backend and a Glance. `options`: of its processes. */
async function running(options = '') {
  const { world, token, container } = await ground({
    '/etc/cinder/cinder.conf': (text) =>
      text.replace('[DEFAULT]\n', `[DEFAULT]\nglance_catalog_info = image::internalURL\n${options}`),
  });
  const [images, volumes] = [container('glance'), container('cinder')];
  await images.run(['glance-manage', 'db_sync']);
  await volumes.run(['cinder-manage', 'db', 'sync']);
  images.start(['glance-api']);
  volumes.start(['uwsgi', '--ini', '/cinder.ini']);
  container('cinder-scheduler').start(['cinder-scheduler']);
  container('cinder-volume').start(['cinder-volume']);
  await world.clock.advance(20_000);
  const send = async (method: string, path: string, body?: object, more: Readonly<Record<string, string>> = {}) => {
    const headers = { 'x-auth-token': token, 'openstack-api-version': 'volume 3.44', ...more };
    const reply = await request(world, 'cinder', 8776, `/v3${path}`, { method, headers, body });
    return { status: reply.status, body: JSON.parse(reply.body || '{}') as Answer };
  };
  /** Something new, after a while. */
  const made = async (what: string, columns: object) => {
    const { body } = await send('POST', `/${what}s`, { [what]: columns });
    const id = String(body[what]?.['id']);
    await world.clock.advance(3000);
    return { id, ...(await send('GET', `/${what}s/${id}`)).body[what] };
  };
  return { world, token, send, made };
}

it('a volume with a snapshot stays; copies have its size at least, and outlive it', async () => {
  const { send, made, world } = await running();
  const volume = await made('volume', { size: 2 });
  const snapshot = await made('snapshot', { volume_id: volume.id });
  expect(snapshot).toMatchObject({ status: 'available', size: 2, volume_id: volume.id });
  expect(await send('DELETE', `/volumes/${volume.id}`)).toMatchObject({ status: 400 });
  expect(await send('POST', '/volumes', { volume: { size: 1, snapshot_id: snapshot.id } })).toMatchObject({
    status: 400,
    body: {
      badRequest: {
        message:
          "Invalid input received: Volume size '1'GB cannot be smaller than the snapshot size 2GB. They must be >= original snapshot size.",
      },
    },
  });
  const clone = await made('volume', { snapshot_id: snapshot.id });
  expect(clone).toMatchObject({ status: 'available', size: 2, snapshot_id: snapshot.id });
  expect(await made('volume', { size: 3, source_volid: clone.id })).toMatchObject({ status: 'available', size: 3 });
  expect((await send('POST', '/volumes', { volume: { snapshot_id: 'none' } })).status).toBe(404);
  for (const path of [`/snapshots/${snapshot.id}`, `/volumes/${volume.id}`]) {
    expect((await send('DELETE', path)).status).toBe(202);
    await world.clock.advance(3000);
    expect((await send('GET', path)).status).toBe(404);
  }
  expect((await send('GET', `/volumes/${clone.id}`)).body['volume']).toMatchObject({ status: 'available' });
});

it('what a project may not have is refused in words of each resource', async () => {
  const { send, made } = await running('quota_volumes = 2\nquota_gigabytes = 4\nquota_snapshots = 1\n');
  const volume = await made('volume', { size: 1 });
  const said = async (path: string, body: object) => (await send('POST', path, body)).body['overLimit']?.['message'];
  expect(await said('/volumes', { volume: { size: 4 } })).toBe(
    'VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota. Requested 4G, quota is 4G and 1G has been consumed.',
  );
  await made('snapshot', { volume_id: volume.id });
  expect(await said('/snapshots', { snapshot: { volume_id: volume.id } })).toBe(
    'SnapshotLimitExceeded: Maximum number of snapshots allowed (1) exceeded',
  );
  await made('volume', { size: 1 });
  expect(await said('/volumes', { volume: { size: 1 } })).toBe(
    "VolumeLimitExceeded: Maximum number of volumes allowed (2) exceeded for quota 'volumes'.",
  );
});

it('a volume is reserved, attached and in use by an attachment, and free when that is gone', async () => {
  const { send, made } = await running();
  const { id } = await made('volume', { size: 1 });
  const status = async () => (await send('GET', `/volumes/${id}`)).body['volume']?.['status'];
  const asked = { attachment: { volume_uuid: id, instance_uuid: 'server' } };
  expect((await send('POST', '/attachments', asked, { 'openstack-api-version': 'volume 3.26' })).status).toBe(404);
  const attachment = String((await send('POST', '/attachments', asked)).body['attachment']?.['id']);
  expect(await status()).toBe('reserved');
  const other = { attachment: { volume_uuid: id, instance_uuid: 'other' } };
  expect((await send('POST', '/attachments', other)).body).toMatchObject({
    badRequest: {
      message: `Invalid volume: Volume ${id} status must be available or downloading to reserve, but the current status is reserved.`,
    },
  });
  const connector = { host: 'node1', mountpoint: '/dev/vdb' };
  expect((await send('PUT', `/attachments/${attachment}`, { attachment: { connector } })).body).toMatchObject({
    attachment: { connection_info: { name: `volumes/volume-${id}` } },
  });
  expect(await status()).toBe('attaching');
  const complete = (version: string) =>
    send('POST', `/attachments/${attachment}/action`, { 'os-complete': null }, { 'openstack-api-version': version });
  expect((await complete('volume 3.43')).status).toBe(400);
  expect((await complete('volume 3.44')).status).toBe(204);
  expect(await status()).toBe('in-use');
  expect((await send('GET', '/attachments?instance_id=server')).body['attachments']).toHaveLength(1);
  // A user takes no disk away from under a guest.
  expect(await send('DELETE', `/attachments/${attachment}`)).toMatchObject({
    status: 409,
    body: { conflictingRequest: { message: expect.stringContaining('using the Compute API') } },
  });
  expect((await send('DELETE', `/attachments/${attachment}`, undefined, { 'x-service-token': 'nova' })).status).toBe(
    200,
  );
  expect(await status()).toBe('available');
});

it('a volume goes to whoever has the key of its transfer, with its snapshots', async () => {
  const { send, made } = await running();
  const { id } = await made('volume', { size: 1 });
  await made('snapshot', { volume_id: id });
  const offered = async () =>
    (await send('POST', '/volume-transfers', { transfer: { volume_id: id } })).body['transfer'] as Record<
      string,
      string
    >;
  const { id: first = '' } = await offered();
  expect((await send('GET', `/volumes/${id}`)).body['volume']).toMatchObject({ status: 'awaiting-transfer' });
  expect((await send('GET', `/volume-transfers/${first}`)).body['transfer']).not.toHaveProperty('auth_key');
  expect((await send('DELETE', `/volume-transfers/${first}`)).status).toBe(202);
  const { id: transfer = '', auth_key: key } = await offered();
  const accept = (auth_key: unknown) => send('POST', `/volume-transfers/${transfer}/accept`, { accept: { auth_key } });
  expect(await accept('wrong')).toMatchObject({
    body: { badRequest: { message: expect.stringContaining('with invalid auth key.') } },
  });
  expect((await accept(key)).status).toBe(202);
  expect((await send('GET', `/volumes/${id}`)).body['volume']).toMatchObject({ status: 'available' });
});

it('an image is made of a volume, and volumes of that image', async () => {
  const { send, made, world } = await running();
  const { id } = await made('volume', { size: 1 });
  const upload = { 'os-volume_upload_image': { image_name: 'of-volume' } };
  const { body } = await send('POST', `/volumes/${id}/action`, upload);
  const image = body['os-volume_upload_image']?.['image_id'];
  expect((await send('GET', `/volumes/${id}`)).body['volume']).toMatchObject({ status: 'uploading' });
  await world.clock.advance(3000);
  expect((await send('GET', `/volumes/${id}`)).body['volume']).toMatchObject({ status: 'available' });
  expect(await made('volume', { size: 1, imageRef: image })).toMatchObject({ status: 'available', bootable: 'true' });
});
