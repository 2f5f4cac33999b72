import { expect, onTestFinished, test } from 'vitest';
import { guestImage, member } from '../fixture.ts';
import { prefix, type User } from '../running-cloud.ts';
import { until } from '../until.ts';
import { digest, ofDevice, parentOf, rbd } from './devices.ts';
import { attach, detach, guest, made, reaches, type Thing, withDisk } from './disks.ts';

test('what a guest writes to a volume another guest reads; their own disks are clones of the image', async () => {
  const user = await member();
  const volume = await made(user, 'volume', { name: `${prefix}moving`, size: 1 });
  const [one, two] = await Promise.all([
    guest(
      user,
      'writer',
      withDisk('echo "kept in Ceph" | dd of=/dev/vdb conv=fsync 2> /dev/null; echo "== WRITTEN $((40 + 2))"'),
    ),
    guest(user, 'reader', withDisk('echo "== READ $(dd if=/dev/vdb bs=12 count=1 2> /dev/null)"')),
  ]);
  await Promise.all([one, two].map((server) => server.reaches('ACTIVE', 180)));
  const image = await guestImage();
  expect(await parentOf(`vms/${one.id}_disk`)).toMatchObject({ pool: 'images', image });
  await attach(user, one, volume);
  await one.says(/== WRITTEN 42/, 120);
  await detach(user, one, volume);
  await attach(user, two, volume);
  expect((await two.says(/== READ (\w.*)/, 120))[1]).toBe('kept in Ceph');
  await detach(user, two, volume);
}, 600_000);

test('a volume of an image is a clone that takes no room; snapshots, clones and larger ones are made of it', async () => {
  const user = await member();
  const image = await guestImage();
  const volume = await made(user, 'volume', { name: `${prefix}clone`, size: 1, image_id: image });
  expect(await parentOf(`volumes/volume-${volume.id}`)).toMatchObject({ pool: 'images', image });
  expect(await room(`volumes/volume-${volume.id}`)).toBe(0);
  const snapshot = await made(user, 'snapshot', { name: `${prefix}snapshot`, volume_id: volume.id });
  const copy = await made(user, 'volume', { name: `${prefix}copy`, size: 1, snapshot_id: snapshot.id });
  expect(await digest(`volumes/volume-${copy.id}`)).toBe(await digest(`volumes/volume-${volume.id}`));
  await user.call('block_storage.extend_volume', copy.id, 2);
  await reaches(user, 'volume', copy, 'available');
  expect(await rbd('info', `volumes/volume-${copy.id}`)).toMatchObject({ size: 2 * 2 ** 30 });
}, 600_000);

/** How much room an image takes in its pool, in bytes. */
async function room(image: string): Promise<number> {
  const { images } = await rbd<{ images: { used_size: number }[] }>('du', image);
  return images[0]?.used_size ?? Number.NaN;
}

test('what a guest discards of its volume is room in the pool again', async () => {
  const user = await member();
  const volume = await made(user, 'volume', { name: `${prefix}discarded`, size: 1 });
  const write = 'dd if=/dev/urandom of=/dev/vdb bs=1M count=32 conv=fsync 2> /dev/null';
  const discard = 'blkdiscard /dev/vdb && echo "== DISCARDED $((40 + 2))"';
  const script = withDisk(`${write}; echo "== WRITTEN $((40 + 2))"; sleep 30; ${discard}`);
  const server = await guest(user, 'discards', script);
  await server.reaches('ACTIVE', 180);
  await attach(user, server, volume);
  await server.says(/^== WRITTEN 42$/m, 120);
  const mebibytes = 2 ** 20;
  expect(await room(`volumes/volume-${volume.id}`)).toBeGreaterThanOrEqual(32 * mebibytes);
  await server.says(/^== DISCARDED 42$/m, 120);
  expect(await room(`volumes/volume-${volume.id}`)).toBeLessThan(8 * mebibytes);
  await detach(user, server, volume);
}, 600_000);

/** A volume of a backup. */
async function restored(user: User, backup: Thing): Promise<Thing> {
  const { volume_id: id } = await user.call<{ volume_id: string }>('block_storage.restore_backup', backup.id, {
    name: `${prefix}restored`,
  });
  onTestFinished(async () => {
    await user.call('block_storage.delete_volume', id, { ignore_missing: true });
  });
  await reaches(user, 'backup', backup, 'available');
  return await reaches(user, 'volume', { id }, 'available');
}

test('a backup is restored as it was, and so is its increment, of what was written since', async () => {
  const user = await member();
  const volume = await made(user, 'volume', { name: `${prefix}saved`, size: 1, image_id: await guestImage() });
  const backup = (more: object) => made(user, 'backup', { name: `${prefix}backup`, volume_id: volume.id, ...more });
  const disk = (one: Thing) => digest(`volumes/volume-${one.id}`);
  const before = await disk(volume);
  const whole = await backup({});
  await ofDevice('rbd bench --io-type write --io-total 8M "$0"', `volumes/volume-${volume.id}`);
  const after = await disk(volume);
  expect(after).not.toBe(before);
  const increment = await backup({ is_incremental: true });
  expect(await disk(await restored(user, increment))).toBe(after);
  expect(await disk(await restored(user, whole))).toBe(before);
}, 600_000);

test('an image is made of a volume, and volumes of that image have what it had', async () => {
  const user = await member();
  const volume = await made(user, 'volume', { name: `${prefix}source`, size: 1, image_id: await guestImage() });
  const upload = [volume.id, `${prefix}of-volume`];
  const { image_id: image } = await user.call<{ image_id: string }>('block_storage.upload_volume_to_image', ...upload, {
    disk_format: 'raw',
    container_format: 'bare',
  });
  onTestFinished(async () => {
    await user.call('image.delete_image', image, { ignore_missing: true });
  });
  const status = async () => (await user.call<{ readonly status: string }>('image.get_image', image)).status;
  await until({
    what: `image ${image} to be there`,
    seconds: 120,
    probe: async () => (await status()) === 'active' || undefined,
    explain: status,
  });
  const copy = await made(user, 'volume', { name: `${prefix}copy`, size: 1, image_id: image });
  expect(await digest(`volumes/volume-${copy.id}`)).toBe(await digest(`volumes/volume-${volume.id}`));
}, 600_000);
