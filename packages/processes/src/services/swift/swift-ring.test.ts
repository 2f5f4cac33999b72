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
});
