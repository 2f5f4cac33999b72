import { expect, onTestFinished, test } from 'vitest';
import { guestImage, member } from '../fixture.ts';
import { program } from '../kubernetes.ts';
import { prefix } from '../running-cloud.ts';
import { attach, detach, guest, made, reaches, withDisk } from './disks.ts';

/** What the program rbd prints as JSON, as the administrator. */
async function rbd<T>(...argv: readonly string[]): Promise<T> {
  const inside = ['exec', '-n', 'ceph', 'statefulset/ceph', '-c', 'mon', '--', 'rbd', '--format', 'json', ...argv];
  return JSON.parse(await program('kubectl', ...inside)) as T;
}

/** The digest of a whole block device. */
async function digest(image: string): Promise<string> {
  const script = 'rbd export --no-progress "$0" - | sha256sum';
  const inside = ['exec', '-n', 'ceph', 'statefulset/ceph', '-c', 'mon', '--', 'bash', '-c', script, image];
  return (await program('kubectl', ...inside)).split(' ')[0] ?? '';
}

const parentOf = async (image: string) =>
  (await rbd<{ parent?: { pool: string; image: string } }>('info', image)).parent;

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
  const usage = await rbd<{ images: { used_size: number }[] }>('du', `volumes/volume-${volume.id}`);
  expect(usage.images[0]?.used_size).toBe(0);
  const snapshot = await made(user, 'snapshot', { name: `${prefix}snapshot`, volume_id: volume.id });
  const copy = await made(user, 'volume', { name: `${prefix}copy`, size: 1, snapshot_id: snapshot.id });
  expect(await digest(`volumes/volume-${copy.id}`)).toBe(await digest(`volumes/volume-${volume.id}`));
  await user.call('block_storage.extend_volume', copy.id, 2);
  await reaches(user, 'volume', copy, 'available');
  expect(await rbd('info', `volumes/volume-${copy.id}`)).toMatchObject({ size: 2 * 2 ** 30 });
}, 600_000);

test('a backup is restored as it was, its increment too', async () => {
  const user = await member();
  const volume = await made(user, 'volume', { name: `${prefix}saved`, size: 1, image_id: await guestImage() });
  const backup = (more: object) => made(user, 'backup', { name: `${prefix}backup`, volume_id: volume.id, ...more });
  await backup({});
  const increment = await backup({ is_incremental: true });
  const { volume_id: restored } = await user.call<{ volume_id: string }>('block_storage.restore_backup', increment.id, {
    name: `${prefix}restored`,
  });
  onTestFinished(async () => {
    await user.call('block_storage.delete_volume', restored, { ignore_missing: true });
  });
  await reaches(user, 'backup', increment, 'available');
  await reaches(user, 'volume', { id: restored }, 'available');
  expect(await digest(`volumes/volume-${restored}`)).toBe(await digest(`volumes/volume-${volume.id}`));
}, 600_000);
