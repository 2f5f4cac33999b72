import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { admin, guestImage, member, networks, otherGuestImage, stranger, tiny } from '../fixture.ts';
import { controlPlane, program } from '../kubernetes.ts';
import { podOf, replaced } from '../pods.ts';
import { prefix, type User } from '../running-cloud.ts';
import { SdkError } from '../sdk.ts';
import { Server, type ServerState } from '../server.ts';
import { until } from '../until.ts';
import { attach, detach, guest, made, reaches, servicesAreUp, type Thing, withDisk } from './disks.ts';

/** A server whose root disk is a volume of its own, made of the image of guests; or one that there is. */
async function bootedFrom(
  user: User,
  name: string,
  disk: { readonly volume?: Thing; readonly isKept: boolean },
): Promise<Server> {
  const [image, flavor, { near }] = await Promise.all([guestImage(), tiny(), networks()]);
  const source =
    disk.volume === undefined
      ? { source_type: 'image', uuid: image, volume_size: 1 }
      : { source_type: 'volume', uuid: disk.volume.id };
  const state = await user.call<ServerState>('compute.create_server', {
    name: `${prefix}${name}`,
    flavor_id: flavor,
    networks: [{ uuid: near }],
    block_device_mapping_v2: [
      { ...source, destination_type: 'volume', boot_index: 0, delete_on_termination: !disk.isKept },
    ],
  });
  const server = new Server(user, { id: state.id, name: `${prefix}${name}` });
  onTestFinished(async () => {
    await user.call('compute.delete_server', server.id, { ignore_missing: true });
    await server.gone(120);
  }, 180_000);
  await server.reaches('ACTIVE', 240);
  return server;
}

async function rootOf(user: User, server: Server): Promise<Thing> {
  const [root] = await user.call<{ volume_id: string }[]>('compute.volume_attachments', server.id);
  return await user.call<Thing>('block_storage.get_volume', root?.volume_id);
}

const exists = async (user: User, volume: Thing) => (await user.call('block_storage.find_volume', volume.id)) !== null;

/** Lets the process of volumes run helpers as root, or not: it is another pod then. */
async function rootHelpers(allowed: boolean): Promise<void> {
  const { metadata, spec } = await controlPlane();
  const { cinder } = spec as { cinder: { backends: readonly object[] } };
  const backends = cinder.backends.map((backend) => ({ ...backend, rootHelpers: allowed }));
  const patch = JSON.stringify({ spec: { cinder: { backends } } });
  const old = await podOf(volumeProcess);
  const cloud = ['-n', metadata.namespace, 'openstackcontrolplane', metadata.name];
  await program('kubectl', 'patch', ...cloud, '--type', 'merge', '-p', patch);
  await replaced(volumeProcess, old, 240);
  await servicesAreUp();
}

const volumeProcess = 'app.kubernetes.io/name=cinder,app.kubernetes.io/component=volume-ceph';

test('a server boots from a volume, is rebuilt there, and leaves it or takes it along', async () => {
  const user = await member();
  const server = await bootedFrom(user, 'on-volume', { isKept: true });
  await server.says(/^== BOOT 1 of this disk$/m, 180);
  const root = await rootOf(user, server);
  onTestFinished(async () => {
    await user.call('block_storage.delete_volume', root.id, { ignore_missing: true });
  });
  await user.call('compute.reboot_server', server.id, 'HARD');
  await server.reaches('ACTIVE', 120);
  await server.says(/^== BOOT 2 of this disk$/m, 180);
  onTestFinished(() => rootHelpers(false), 300_000);
  await rootHelpers(true);
  // The image is written anew over the same volume: microversion 2.93.
  const rebuild = { rebuild: { imageRef: await otherGuestImage() } };
  const options = { json: rebuild, microversion: '2.93' };
  await user.call('compute.post', `/servers/${server.id}/action`, options);
  await server.reaches('ACTIVE', 240);
  await server.says(/^== BOOT 1 of this disk$/m, 180);
  expect((await rootOf(user, server)).id).toBe(root.id);
  await server.delete();
  await reaches(user, 'volume', root, 'available');

  const second = await bootedFrom(user, 'on-its-volume', { volume: root, isKept: false });
  await second.says(/^== BOOT 2 of this disk$/m, 180);
  await second.delete();
  await until({
    what: `volume ${root.id} to go with its server`,
    seconds: 120,
    probe: async () => !(await exists(user, root)) || undefined,
  });
}, 900_000);

test('a guest sees its disk grow; a server that is deleted gives its volume free', async () => {
  const user = await member();
  const script = withDisk('while :; do echo "== SIZE $(($(cat /sys/block/vdb/size) / 2097152)) GiB"; sleep 2; done');
  const [server, volume] = await Promise.all([
    guest(user, 'growing', script),
    made(user, 'volume', { name: `${prefix}growing`, size: 1 }),
  ]);
  await server.reaches('ACTIVE', 180);
  await attach(user, server, volume);
  await server.says(/^== SIZE 1 GiB$/m, 120);
  const options = { json: { 'os-extend': { new_size: 2 } }, microversion: '3.42' };
  await user.call('block_storage.post', `/volumes/${volume.id}/action`, options);
  await server.says(/^== SIZE 2 GiB$/m, 120);
  await reaches(user, 'volume', volume, 'in-use');
  await server.delete();
  await reaches(user, 'volume', volume, 'available');
}, 600_000);

test('a volume of a type for several servers is at two guests at once', async () => {
  const user = await member();
  const name = `${prefix}shared-${randomUUID().slice(0, 8)}`;
  const type = await admin.call<Thing>('block_storage.create_type', {
    name,
    extra_specs: { multiattach: '<is> True', volume_backend_name: 'ceph' },
  });
  onTestFinished(async () => {
    await admin.call('block_storage.delete_type', type.id);
  });
  const volume = await made(user, 'volume', { name, size: 1, volume_type: name });
  const read = 'dd if=/dev/vdb bs=512 count=1 iflag=direct 2> /dev/null';
  const [one, two] = await Promise.all([
    guest(user, 'shares-one', withDisk('echo "both see it" | dd of=/dev/vdb bs=512 conv=sync,fsync 2> /dev/null')),
    guest(user, 'shares-two', withDisk(`while :; do echo "== READ $(${read} | head -n 1)"; sleep 2; done`)),
  ]);
  await Promise.all([one, two].map((server) => server.reaches('ACTIVE', 180)));
  for (const server of [two, one]) {
    const options = { json: { volumeAttachment: { volumeId: volume.id } }, microversion: '2.60' };
    await user.call('compute.post', `/servers/${server.id}/os-volume_attachments`, options);
    await reaches(user, 'volume', volume, 'in-use');
  }
  await two.says(/^== READ both see it$/m, 120);
  const { attachments } = await user.call<{ attachments: object[] }>('block_storage.get_volume', volume.id);
  expect(attachments).toHaveLength(2);
  await user.call('compute.delete_volume_attachment', one.id, volume.id);
  await until({
    what: 'one of two attachments to be gone',
    seconds: 60,
    probe: async () => {
      const { attachments } = await user.call<{ attachments: object[] }>('block_storage.get_volume', volume.id);
      return attachments.length === 1 || undefined;
    },
  });
  await reaches(user, 'volume', volume, 'in-use');
  await detach(user, two, volume);
}, 600_000);

test('a server is resized, and its disk in Ceph with it', async () => {
  const user = await member();
  const flavor = await admin.call<Thing>('compute.create_flavor', {
    name: `${prefix}two-gib`,
    ram: 128,
    vcpus: 1,
    disk: 2,
  });
  onTestFinished(async () => {
    await admin.call('compute.delete_flavor', flavor.id);
  });
  const server = await guest(user, 'resized', 'echo "== ROOT $(($(cat /sys/block/vda/size) / 2097152)) GiB"');
  await server.reaches('ACTIVE', 180);
  await server.says(/^== ROOT 1 GiB$/m, 180);
  await user.call('compute.resize_server', server.id, flavor.id);
  await server.reaches('VERIFY_RESIZE', 240);
  await user.call('compute.confirm_server_resize', server.id);
  await server.reaches('ACTIVE', 120);
  await server.says(/^== BOOT 2 of this disk$/m, 180);
  const inside = ['exec', '-n', 'ceph', 'statefulset/ceph', '-c', 'mon', '--', 'rbd', '--format', 'json'];
  const disk = JSON.parse(await program('kubectl', ...inside, 'info', `vms/${server.id}_disk`)) as { size: number };
  expect(disk.size).toBe(2 * 2 ** 30);
}, 600_000);

/** The words of Cinder's refusal. */
async function refusal(asked: Promise<unknown>): Promise<string> {
  try {
    await asked;
  } catch (error) {
    if (error instanceof SdkError && error.status === 413) return error.message;
    throw error;
  }
  throw new Error('nothing was refused');
}

test('a volume goes to another project; what a quota does not allow is refused', async () => {
  const [user, other] = await Promise.all([member(), stranger()]);
  const volume = await user.call<Thing>('block_storage.create_volume', { name: `${prefix}given`, size: 1 });
  onTestFinished(async () => {
    await admin.call('block_storage.delete_volume', volume.id, { ignore_missing: true });
  });
  await reaches(user, 'volume', volume, 'available');
  const transfer = await user.call<{ id: string; auth_key: string }>('block_storage.create_transfer', {
    volume_id: volume.id,
    name: `${prefix}given`,
  });
  expect(await exists(other, volume)).toBe(false);
  await other.call('block_storage.accept_transfer', transfer.id, transfer.auth_key);
  await reaches(other, 'volume', volume, 'available');
  expect(await exists(user, volume)).toBe(false);
  await other.call('block_storage.delete_volume', volume.id);
  await until({
    what: 'the volume to be gone',
    seconds: 60,
    probe: async () => !(await exists(other, volume)) || undefined,
  });

  const quota = (volumes: number) =>
    admin.call('block_storage.put', `/os-quota-sets/${other.projectId}`, { json: { quota_set: { volumes } } });
  onTestFinished(async () => void (await quota(10)));
  await quota(0);
  const words = await refusal(other.call('block_storage.create_volume', { name: `${prefix}too-many`, size: 1 }));
  expect(words).toContain('Maximum number of volumes allowed (0) exceeded');
}, 300_000);
