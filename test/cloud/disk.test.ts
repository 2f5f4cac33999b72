import { beforeAll, describe, expect, test } from 'vitest';
import { admin, guestImage, larger, member, networks, tiny } from './fixture.ts';
import { controlPlane } from './kubernetes.ts';
import { prefix, type User } from './running-cloud.ts';
import { Server, type ServerState } from './server.ts';
import { until } from './until.ts';

const script = `echo "== MARK $(cat /disk/mark 2> /dev/null || echo none)"
echo "== MEMORY $(free -m | sed -n 's/^Mem: *\\([0-9]*\\).*/\\1/p')"
echo carried > /disk/mark`;

let user: User;
let server: Server;
let copy: Server;
let snapshot: string;

beforeAll(async () => {
  user = await member();
  const { near } = await networks();
  server = await Server.create(user, {
    name: 'disk',
    image: await guestImage(),
    flavor: await tiny(),
    networks: [{ uuid: near }],
    script,
  });
  await server.reaches('ACTIVE', 180);
}, 240_000);

// Each goes on where the one before it ended: a snapshot of a snapshot would take longer than all of them.
describe('the disk of a server', () => {
  test('goes into a snapshot', async () => {
    await server.says(/^== MARK none$/m);
    await server.says(/^== USER-DATA EXIT 0$/m);
    const { id } = await user.call<{ id: string }>('compute.create_server_image', server.id, `${prefix}snapshot`);
    snapshot = id;
    const image = await until({
      what: `the snapshot of ${server.name} to be active`,
      seconds: 120,
      probe: async () => {
        const image = await user.call<{ status: string; size: number }>('image.get_image', snapshot);
        return image.status === 'active' ? image : undefined;
      },
    });
    expect(image.size).toBeGreaterThan(0);
    await server.reaches('ACTIVE');
  });

  test('is what a server that boots from the snapshot finds', async () => {
    const { near } = await networks();
    copy = await Server.create(user, {
      name: 'copy',
      image: snapshot,
      flavor: await tiny(),
      networks: [{ uuid: near }],
      script,
    });
    await copy.reaches('ACTIVE', 180);
    await copy.says(/^== BOOT 2 of this disk$/m);
    await copy.says(/^== MARK carried$/m);
  });

  test('is new after a rebuild, and the address is the old one', async () => {
    const before = await copy.state();
    await user.call('compute.rebuild_server', copy.id, await guestImage());
    const after = await copy.reaches('ACTIVE');
    await copy.says(/^== BOOT 1 of this disk$/m);
    await copy.says(/^== MARK none$/m);
    expect(after.addresses).toEqual(before.addresses);
    await copy.delete();
    await user.call('image.delete_image', snapshot);
  });

  test('stays when the server is resized', async ({ skip }) => {
    const { length: hosts } = await admin.call<unknown[]>('compute.hypervisors');
    if (hosts < 2 && !JSON.stringify((await controlPlane()).spec).includes('"allow_resize_to_same_host":true')) {
      skip('one host, and nova.conf has no allow_resize_to_same_host');
    }
    const flavor = await larger();
    await user.call('compute.resize_server', server.id, flavor);
    await server.reaches('VERIFY_RESIZE', 180);
    await user.call('compute.confirm_server_resize', server.id);
    await server.reaches('ACTIVE');
    await server.says(/^== MARK carried$/m);
    const [, memory] = await server.says(/^== MEMORY (\d+)$/m);
    expect(Number(memory)).toBeGreaterThan(128);
  });

  test('goes with the server', async () => {
    await server.delete();
    const servers = await user.call<ServerState[]>('compute.servers');
    expect(servers.map(({ id }) => id)).not.toContain(server.id);
    expect(await user.call('network.ports', { device_id: server.id })).toEqual([]);
  });
});
