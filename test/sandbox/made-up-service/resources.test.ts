import { expect, test } from 'vitest';
import { outcomeOf } from './outcome.ts';

test('a network, its subnet and a flavour are made, changed, corrected, and removed with the service', async () => {
  const { up, changed, repaired, refused, anew, off } = await outcomeOf('resources.ts');
  const { network } = up as { network: { id: string } };
  const subnet = { network_id: network.id, cidr: '192.0.2.0/24' };
  expect(up).toMatchObject({ network: { name: 'chimes', mtu: 1400 }, subnet, flavor: { name: 'chime', ram: 512 } });
  expect(changed).toMatchObject({ network: { id: network.id, mtu: 1300 }, subnet });
  expect(repaired).toMatchObject({
    network: { id: network.id, mtu: 1300 },
    flavor: { ram: 512 },
    events: ['changed mtu of network chimes; created flavor chime'],
  });
  expect(refused).toContain(
    'flavor chime: ram is 512, not 1024, and cannot be changed; delete it, and it is made anew',
  );
  expect(anew).toMatchObject({ ram: 1024 });
  expect(off).toEqual({
    events: [
      'taken back: user chime and endpoints of chime in region RegionOne of Keystone; network chimes, subnet chimes, flavor chime',
    ],
  });
});
