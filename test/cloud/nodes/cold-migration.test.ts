import { afterAll, beforeAll, expect, test } from 'vitest';
import { admin, guestImage, larger, member, networks, tiny } from '../fixture.ts';
import { Server } from '../server.ts';
import { changeNova, maintain } from './plane.ts';

let server: Server;

beforeAll(async () => {
  // Live migration, so that what others run there leaves a node in maintenance as well.
  await changeNova({ coldMigration: { enabled: true }, liveMigration: { enabled: true } });
  const [user, image, flavor, { near }] = await Promise.all([member(), guestImage(), tiny(), networks()]);
  server = await Server.create(user, { name: 'sleeper', image, flavor, networks: [{ uuid: near }] });
  await server.reaches('ACTIVE', 240);
  await server.says(/^== READY/m);
}, 900_000);
afterAll(async () => {
  await server.delete();
  await changeNova({ coldMigration: { enabled: false }, liveMigration: { enabled: false } });
}, 900_000);

const host = async () =>
  (await admin.call<{ hypervisor_hostname: string }>('compute.get_server', server.id)).hypervisor_hostname;

/** Waits until its guest has started so many times with the same disk. */
const boots = (times: number) => server.says(new RegExp(`^== BOOT ${times} of this disk$`, 'm'), 120);

test('a server is moved to the other node with its disk, and back when that is not confirmed', async () => {
  const first = await host();
  await boots(1);
  await admin.call('compute.migrate_server', server.id);
  await server.reaches('VERIFY_RESIZE', 240);
  expect(await host()).not.toBe(first);
  await boots(2);
  await admin.call('compute.revert_server_resize', server.id);
  await server.reaches('ACTIVE', 180);
  expect(await host()).toBe(first);
  // What it wrote at the other node stays there: its disk here was kept as it was.
  await boots(2);
});

test('a resize takes it to the other node, where it has more memory', async () => {
  const first = await host();
  await server.user.call('compute.resize_server', server.id, await larger());
  await server.reaches('VERIFY_RESIZE', 240);
  await server.user.call('compute.confirm_server_resize', server.id);
  await server.reaches('ACTIVE');
  expect(await host()).not.toBe(first);
  await boots(3);
});

test('a node in maintenance is left by a server that is off, which starts where it has come to', async () => {
  const first = await host();
  await server.user.call('compute.stop_server', server.id);
  await server.reaches('SHUTOFF');
  await maintain(first, 'new disks', 'Emptied');
  expect(await host()).not.toBe(first);
  await maintain(first, null, undefined);
  await server.reaches('SHUTOFF');
  await server.user.call('compute.start_server', server.id);
  await server.reaches('ACTIVE', 120);
  await boots(4);
});
