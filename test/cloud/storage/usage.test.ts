import { bytesOf } from '@openstack-operator/openstack';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../until.ts';
import { Client, ceph } from './client.ts';
import { cephIs, check, statusOfCeph } from './health.ts';

const cinder = new Client('cinder');
const image = 'volumes/acceptance-usage';

beforeAll(() => cinder.start());
afterAll(async () => {
  await cinder.run('rbd', 'remove', image);
  await cinder.stop();
});

/** What Ceph says is stored in the pool of volumes. */
async function stored(): Promise<number> {
  const { pools } = await ceph<{ pools: { name: string; stats: { stored: number } }[] }>('df');
  return pools.find(({ name }) => name === 'volumes')?.stats.stored ?? 0;
}

test('the status shows how the cluster is, and what is written to a pool and taken away again', async () => {
  const written = 256 * 2 ** 20;
  await cinder.run('rbd', 'remove', image); // of a run that was killed
  const before = await stored();
  expect(await cinder.run('rbd', 'create', '--size', '256', image)).toEqual({ succeeded: true, text: '' });
  await cinder.run('rbd', 'bench', '--io-type', 'write', '--io-size', '4M', '--io-total', '256M', image);
  const shows = async (what: string, isSo: (bytes: number) => boolean) => {
    // The manager is told of it within some seconds.
    const probe = async () => ((now) => (isSo(now) ? now : undefined))(await stored());
    await until({ what: `Ceph to have ${what}`, seconds: 60, probe });
    await check(1);
    return await until({
      what: `the status to show it`,
      seconds: 120,
      probe: async () => {
        const volumes = (await statusOfCeph()).pools?.find(({ name }) => name === 'volumes');
        return isSo(bytesOf(volumes?.stored ?? '0') ?? 0) ? volumes : undefined;
      },
      explain: async () => JSON.stringify(await statusOfCeph()),
    });
  };
  // Three digits of it are shown.
  const pool = await shows('what was written', (bytes) => bytes > before + 0.9 * written);
  expect(pool).toMatchObject({ purposes: ['cinder-volumes'] });
  // What is used of the disks Ceph counts apart from pools, and later.
  const { health, capacity, pools, fileSystems } = await until({
    what: 'the status to show it of the disks as well',
    seconds: 120,
    probe: async () => {
      await check(1);
      const status = await statusOfCeph();
      return (bytesOf(status.capacity?.used ?? '0') ?? 0) > 0.9 * written ? status : undefined;
    },
    explain: async () => JSON.stringify(await statusOfCeph()),
  });
  expect(health).toEqual({ status: 'HEALTH_OK' });
  expect(bytesOf(capacity?.total ?? '0')).toBeGreaterThan(bytesOf(capacity?.available ?? '0') ?? 0);
  expect(pools?.map(({ name }) => name).sort((one, other) => (one < other ? -1 : 1))).toEqual([
    'backups',
    'images',
    'vms',
    'volumes',
  ]);
  for (const one of [...(pools ?? []), ...(fileSystems ?? [])])
    expect(bytesOf(one.available ?? '0')).toBeGreaterThan(0);
  await cinder.run('rbd', 'remove', image);
  await shows('room again', (bytes) => bytes < before + 0.1 * written);
}, 600_000);

test('what is wrong with the cluster is shown, and shown no more when it is well', async () => {
  try {
    await ceph('osd', 'set', 'noout');
    await check(1);
    await cephIs('True', /^HEALTH_WARN noout flag\(s\) set/m, 120);
    expect((await statusOfCeph()).health).toMatchObject({
      status: 'HEALTH_WARN',
      message: expect.stringContaining('noout flag(s) set'),
    });
  } finally {
    await ceph('osd', 'unset', 'noout');
  }
  await check(1);
  await cephIs('True', /^HEALTH_OK/m, 120);
}, 300_000);
