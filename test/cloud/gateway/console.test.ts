import { expect, inject, test } from 'vitest';
import { guestImage, member, tiny } from '../fixture.ts';
import { GraphicalConsole } from '../rfb.ts';
import { openstack, prefix } from '../running-cloud.ts';
import { Server } from '../server.ts';

test('a console is at its public name, and a keyboard of the guest through a websocket', async () => {
  const [user, image, flavor] = await Promise.all([member(), guestImage(), tiny()]);
  const network = await user.call<{ id: string }>('network.create_network', { name: `${prefix}console` });
  const subnet = { name: `${prefix}console`, network_id: network.id, ip_version: 4, cidr: '10.32.0.0/24' };
  await user.call('network.create_subnet', subnet);
  const server = await Server.create(user, { name: 'console', image, flavor, networks: [{ uuid: network.id }] });
  await server.reaches('ACTIVE', 180);
  await server.says(/^== READY/m, 180);
  const { url } = await openstack<{ url: string }>('console', 'url', 'show', '--novnc', server.id);
  expect(new URL(url).origin).toBe(`https://console.${inject('domain')}`);
  const screen = await GraphicalConsole.open(url);
  expect(screen.banner).toMatch(/^RFB 003\.\d{3}\n$/);
  screen.type(`echo "== TYPED through a Gateway: $((6 * 7))" > /dev/ttyS0`);
  await server.says(/^== TYPED through a Gateway: 42$/m, 30);
  screen.close();
  await server.delete();
});
