import { CronJob, Job } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { startTestSandbox, type TestSandbox } from '../testing/test-sandbox.ts';

async function every5Minutes(world: TestSandbox, command: string[], spec = {}): Promise<void> {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'test:1', command }] } };
  await world.create({
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'rotate', namespace: 'default' },
    spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template } }, ...spec },
  });
}

const jobs = (world: TestSandbox) => world.sandbox.api.store.list(Job, 'default') as Job[];

test('a CronJob makes a Job each time that its schedule strikes, and keeps the last three', async () => {
  const world = await startTestSandbox();
  await every5Minutes(world, ['once']);
  await world.clock.advance(299_000);
  expect(jobs(world)).toEqual([]);
  await world.clock.advance(2000);
  const minute = 1_767_225_600_000 / 60_000 + 5;
  expect(jobs(world).map(({ metadata }) => metadata.name)).toEqual([`rotate-${minute}`]);
  await world.clock.advance(1_500_000);
  expect(jobs(world)).toHaveLength(3);
  const cronJob = world.sandbox.api.store.get(CronJob, 'default/rotate') as CronJob | undefined;
  expect(cronJob?.status).toEqual({
    lastScheduleTime: '2026-01-01T00:30:00Z',
    lastSuccessfulTime: '2026-01-01T00:30:00Z',
  });
});

test.each([
  ['Allow', 2],
  ['Forbid', 1],
  ['Replace', 1],
] as const)('concurrencyPolicy %s leaves %i of two long Jobs', async (concurrencyPolicy, count) => {
  const world = await startTestSandbox();
  await every5Minutes(world, ['sleep', '100000'], { concurrencyPolicy });
  await world.clock.advance(301_000);
  const [first] = jobs(world);
  await world.clock.advance(340_000);
  expect(jobs(world)).toHaveLength(count);
  expect(jobs(world).some(({ metadata }) => metadata.uid === first?.metadata.uid)).toBe(
    concurrencyPolicy !== 'Replace',
  );
});

test('a suspended CronJob does nothing', async () => {
  const world = await startTestSandbox();
  await every5Minutes(world, ['once'], { suspend: true });
  await world.clock.advance(600_000);
  expect(jobs(world)).toEqual([]);
});
