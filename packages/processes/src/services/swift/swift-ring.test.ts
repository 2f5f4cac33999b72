import { describe, expect, it } from 'vitest';
import { baseCommands } from '../../shell/system-commands.ts';
import { ground } from '../../testing/cloud.ts';
import { swift } from './swift.ts';

describe('swift-ring-builder', () => {
  async function built(script: string) {
    const { world } = await ground();
    const programs = { ...baseCommands, ...swift.programs };
    const container = world.container({ host: 'job', programs, uid: 42_445, directories: ['rings'] });
    return { container, world, ...(await container.run(['sh', '-c', script])) };
  }
  const add = (host: string) =>
    `swift-ring-builder /rings/object.builder add --region 1 --zone 1 --ip ${host} --port 6200 --device d1 --weight 100\n`;
  const builder = 'swift-ring-builder /rings/object.builder';

  it('wants a device for each replica, and none twice', async () => {
    const few = await built(`${builder} create 4 2 1\n${add('one')}${builder} rebalance`);
    expect(few).toMatchObject({
      status: 2,
      output: expect.stringContaining('Replica count of 2.0 requires more than 1 devices'),
    });
    expect(await built(`${builder} create 4 2 1\n${add('one')}${add('one')}`)).toMatchObject({ status: 2 });
    expect(await built(builder)).toMatchObject({
      status: 2,
      output: 'Ring Builder file does not exist: /rings/object.builder\n',
    });
  });

  it('moves one replica of a partition at a time, and waits between', async () => {
    const { container, world } = await built(
      `${builder} create 4 3 1\n${add('one')}${add('two')}${add('three')}${builder} rebalance`,
    );
    const replicas = () =>
      (JSON.parse(container.files.read('/rings/object.ring.gz')) as { replicas: readonly (readonly number[])[] })
        .replicas;
    const before = replicas();
    const early = await container.run(['sh', '-c', `${add('four')}${add('five')}${builder} rebalance`]);
    expect(early).toMatchObject({ status: 1, output: expect.stringContaining('No partitions could be reassigned.') });
    await world.clock.advance(3_600_000);
    expect(await container.run(['sh', '-c', `${builder} rebalance`])).toMatchObject({ status: 0 });
    const moved = before[0]?.map(
      (_, part) => before.filter((one, index) => one[part] !== replicas()[index]?.[part]).length,
    );
    expect(new Set(moved)).toEqual(new Set([1]));
  });

  it('places what lay on a removed device anew, whenever it was moved last', async () => {
    const hosts = ['one', 'two', 'three', 'four'];
    const { container } = await built(
      `${builder} create 4 3 1\n${hosts.map(add).join('')}${builder} rebalance\n${builder} remove --ip two --port 6200 --device d1 --yes`,
    );
    expect(await container.run(['sh', '-c', `${builder} rebalance`])).toMatchObject({ status: 0 });
    const { devices, replicas } = JSON.parse(container.files.read('/rings/object.ring.gz')) as {
      devices: readonly { id: number }[];
      replicas: readonly (readonly number[])[];
    };
    expect(devices.map(({ id }) => id)).toEqual([0, 2, 3]);
    const parts = replicas[0]?.map((_, part) => new Set(replicas.map((one) => one[part])));
    expect(parts?.every((ids) => ids.size === 3 && !ids.has(1))).toBe(true);
  });

  /** Devices with `weight`, `count` of them in a zone, each on a host of its own. */
  const group = (zone: number, count: number, weight: number) =>
    Array.from(
      { length: count },
      (_, index) =>
        `${builder} add --region 1 --zone ${zone} --ip z${zone}-${index} --port 6200 --device d1 --weight ${weight}\n`,
    ).join('');

  /** How many partitions each device has, and how many have their replicas in which zones. */
  function placed(text: string) {
    const { devices, replicas } = JSON.parse(text) as {
      devices: readonly { id: number; zone: number }[];
      replicas: readonly (readonly number[])[];
    };
    const zones: Record<string, number> = {};
    for (const [part] of (replicas[0] ?? []).entries()) {
      const ids = replicas.map((one) => one[part]);
      expect(new Set(ids).size).toBe(replicas.length);
      const key = ids
        .map((id) => devices.find((one) => one.id === id)?.zone ?? 0)
        .sort((one, other) => one - other)
        .join('');
      zones[key] = (zones[key] ?? 0) + 1;
    }
    return { devices: devices.map(({ id }) => replicas.flat().filter((one) => one === id).length), zones };
  }
  const ring = '/rings/object.ring.gz';

  // What RingBuilder of Swift 2.35.1 has placed, but for a partition more or less of a device.
  it.each([
    ['as many zones as replicas', 3, [group(1, 1, 100), group(2, 1, 100), group(3, 1, 100)], { 123: 64 }],
    ['two equal zones', 3, [group(1, 3, 100), group(2, 3, 100)], { 112: 32, 122: 32 }],
    ['one device that is as large as three', 3, [group(1, 3, 100), group(2, 1, 300)], { 112: 64 }],
    ['two replicas in two zones', 2, [group(1, 2, 100), group(2, 2, 100)], { 12: 64 }],
    ['a zone that is too light for a replica of each', 2, [group(1, 2, 100), group(2, 1, 100)], { 11: 21, 12: 43 }],
  ])('disperses replicas over zones as far as weights allow: %s', async (_what, replicas, groups, zones) => {
    const { container, status } = await built(
      `${builder} create 6 ${replicas} 1\n${groups.join('')}${builder} rebalance`,
    );
    expect(status).toBe(0);
    expect(placed(container.files.read(ring)).zones).toEqual(zones);
  });

  it('fills a zone that is added in steps, and empties one without weight', async () => {
    const { container, world } = await built(`${builder} create 6 3 1\n${group(1, 3, 100)}${builder} rebalance`);
    const next = async (script = '') => {
      await world.clock.advance(3_600_000);
      await container.run(['sh', '-c', `${script}${builder} rebalance`]);
      return placed(container.files.read(ring));
    };
    expect((await next(group(2, 3, 100))).zones).toEqual({ 112: 64 });
    expect(await next()).toEqual({ devices: Array.from({ length: 6 }, () => 32), zones: { 112: 32, 122: 32 } });
    const light = [0, 1, 2].map((index) => `${builder} set_weight --ip z2-${index} --port 6200 --device d1 0 --yes\n`);
    expect((await next(light.join(''))).zones).toEqual({ 111: 32, 112: 32 });
    expect(await next()).toEqual({ devices: [64, 64, 64, 0, 0, 0], zones: { 111: 64 } });
  });

  it('empties a device without weight, though the others have their shares already', async () => {
    const { container, world } = await built(`${builder} create 4 2 1\n${group(1, 4, 100)}${builder} rebalance`);
    const light = `${builder} set_weight --ip z1-3 --port 6200 --device d1 0 --yes\n`;
    for (const script of [light, '']) {
      await world.clock.advance(3_600_000);
      await container.run(['sh', '-c', `${script}${builder} rebalance`]);
    }
    expect(placed(container.files.read(ring)).devices[3]).toBe(0);
  });
});
