import { afterAll, beforeAll, expect, test } from 'vitest';
import { addresses, admin, guestImage, member, networks, tiny } from '../fixture.ts';
import { prefix } from '../running-cloud.ts';
import { Server } from '../server.ts';
import { nodes } from './plane.ts';

interface Made {
  readonly id: string;
}

let one: Server;
let two: Server;
let group: string;

/** Says all the time whether somebody answers. */
const pinging = (name: string, address: string) => `while :; do
  if ping -c 1 -W 2 ${address} > /dev/null; then echo "== PING ${name} answers"; else echo "== PING ${name} is silent"; fi
  sleep 2
done &
`;

beforeAll(async () => {
  const [user, image, flavor, { near, far }] = await Promise.all([member(), guestImage(), tiny(), networks()]);
  const policy = { name: `${prefix}apart`, policy: 'anti-affinity' };
  group = (await user.call<Made>('compute.create_server_group', policy)).id;
  const create = (name: 'one' | 'two' | 'three', network: string, more: { script?: string; group?: string }) =>
    Server.create(user, { name, image, flavor, networks: [{ uuid: network, fixed_ip: addresses[name] }], ...more });
  // One after the other: two at once may be scheduled to one host, where the second is refused.
  one = await create('one', near, { group, script: `${pinging('three', addresses.three)}wait` });
  await one.reaches('ACTIVE', 240);
  two = await create('two', near, {
    group,
    script: `${pinging('one', addresses.one)}${pinging('three', addresses.three)}wait`,
  });
  const three = await create('three', far, {});
  await Promise.all([two, three].map((guest) => guest.reaches('ACTIVE', 240)));
});
afterAll(async () => {
  const user = await member();
  await user.call('compute.delete_server_group', group);
});

const hostOf = async ({ id }: Server) =>
  (await admin.call<{ hypervisor_hostname: string }>('compute.get_server', id)).hypervisor_hostname;

test('servers of a group with anti-affinity are on two nodes, and both have joined', async () => {
  const hosts = [await hostOf(one), await hostOf(two)];
  expect(hosts.toSorted()).toEqual(['node1', 'node2']);
  expect((await nodes()).map(({ name, phase }) => [name, phase])).toEqual([
    ['node1', 'Joined'],
    ['node2', 'Joined'],
  ]);
});

test('they reach each other in one network, through a tunnel between the nodes', async () => {
  await two.says(/^== PING one answers$/m, 180);
});

test('both reach a server of another network by their router, whichever node it is on', async () => {
  await one.says(/^== PING three answers$/m, 180);
  await two.says(/^== PING three answers$/m, 180);
});
