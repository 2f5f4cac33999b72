import {
  type Kind,
  type ListOptions,
  noLog,
  type ReconcileContext,
  type StoredObject,
  timestamp,
  virtualClock,
} from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { PodEventReader } from './pod-events.ts';

const scheduledAt = virtualClock().now();
const words = 'MountVolume.SetUp failed for volume "lib-modules" : /lib/modules is not a directory';

/** A resource one of whose pods got its node at the beginning, and waits for its volumes since. */
function setUp({ uid = 'p1', answer = async (): Promise<unknown[]> => [] } = {}) {
  const clock = virtualClock();
  const asked: ListOptions[] = [];
  const labels = { 'app.kubernetes.io/name': 'nova', 'app.kubernetes.io/instance': 'nova' };
  const pod = {
    metadata: { name: 'agent-1', namespace: 'ns', uid, labels },
    status: {
      conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: timestamp({ now: () => scheduledAt }) }],
      containerStatuses: [{ name: 'agent', state: { waiting: { reason: 'ContainerCreating' } } }],
    },
  };
  const world = { pods: [pod], ready: 'False', workloads: [] as { kind: string }[], made: [] as object[] };
  const context = () =>
    ({
      key: 'ns/nova',
      clock,
      log: noLog,
      signal: new AbortController().signal,
      object: {
        metadata: { name: 'nova', namespace: 'ns' },
        status: { conditions: [{ type: 'Ready', status: world.ready }] },
      } as unknown as StoredObject,
      cache: {
        has: () => true,
        byIndex: () => world.pods,
        controlledBy: ({ kind }: Kind, { kind: owner }: { kind?: string }) =>
          owner === undefined ? world.workloads.filter((one) => one.kind === kind) : world.made,
      },
      client: {
        list: async (_kind: unknown, options: ListOptions) => {
          asked.push(options);
          return { items: await answer() };
        },
      },
    }) as unknown as ReconcileContext;
  const reader = new PodEventReader();
  return { clock, asked, world, read: () => reader.read(context(), 'nova') };
}

test('the events of a pod that waits are read by its uid, bounded, in its namespace, and only after a while', async () => {
  const answer = async () => [
    { metadata: {}, lastTimestamp: '2026-01-01T00:00:09Z', message: 'earlier words' },
    { metadata: {}, lastTimestamp: '2026-01-01T00:00:10Z', message: words },
  ];
  const { clock, asked, read } = setUp({ answer });
  expect(await read()).toEqual({ words: new Map(), requeueAfter: 20_000 });
  expect(asked).toEqual([]);
  await clock.advance(20_000);
  expect(await read()).toEqual({ words: new Map([['p1', words]]), requeueAfter: 130_000 });
  expect(asked).toMatchObject([
    { namespace: 'ns', fieldSelector: 'involvedObject.uid=p1,reason=FailedMount', limit: 10 },
  ]);
});

test('whatever else wakes the resource, its events are read at two moments, and no timer is left after them', async () => {
  const { clock, asked, read } = setUp();
  await clock.advance(20_000);
  for (let i = 0; i < 5; i++) await read();
  expect(asked).toHaveLength(1);
  await clock.advance(130_000);
  for (let i = 0; i < 5; i++) expect((await read()).requeueAfter).toBeUndefined();
  expect(asked).toHaveLength(2);
});

test('of a resource that is Ready, and of pods that run, nothing is read', async () => {
  const { clock, asked, world, read } = setUp();
  await clock.advance(200_000);
  world.ready = 'True';
  expect(await read()).toEqual({ words: new Map(), requeueAfter: undefined });
  world.ready = 'False';
  world.pods = [];
  expect(await read()).toEqual({ words: new Map(), requeueAfter: undefined });
  expect(asked).toEqual([]);
});

test('events that cannot be read fail nothing', async () => {
  const answer = async () => {
    throw new Error('events is forbidden');
  };
  const { clock, read } = setUp({ answer });
  await clock.advance(200_000);
  expect(await read()).toEqual({ words: new Map(), requeueAfter: undefined });
});

const workload = (kind: string, spec: object, status: object) => ({
  kind,
  metadata: { name: 'x', namespace: 'ns', uid: 'w1' },
  spec,
  status,
});

test.each([
  ['DaemonSet', {}, { desiredNumberScheduled: 2, currentNumberScheduled: 1 }, { currentNumberScheduled: 2 }],
  ['StatefulSet', { replicas: 2 }, { replicas: 1 }, { replicas: 2 }],
  ['Job', {}, { startTime: '2026-01-01T00:00:00Z' }, { active: 1 }],
  ['Job', {}, {}, { conditions: [{ type: 'Failed', status: 'True' }] }],
])('the events of a %s are read, Ready or not, for as long as it has too few pods', async (kind, spec, lacks, has) => {
  const refused = [{ metadata: {}, lastTimestamp: '2026-01-01T00:00:10Z', message: 'Error creating: no' }];
  const { clock, asked, world, read } = setUp({ answer: async () => refused });
  Object.assign(world, { pods: [], ready: 'True', workloads: [workload(kind, spec, lacks)] });
  expect(await read()).toEqual({ words: new Map(), requeueAfter: 20_000 });
  await clock.advance(20_000);
  const words = new Map([['w1', 'Error creating: no']]);
  for (let i = 0; i < 5; i++) expect(await read()).toEqual({ words, requeueAfter: 130_000 });
  expect(asked).toMatchObject([{ fieldSelector: 'involvedObject.uid=w1,reason=FailedCreate', limit: 10 }]);
  world.workloads = [workload(kind, spec, { ...lacks, ...has })];
  expect(await read()).toEqual({ words: new Map(), requeueAfter: undefined });
});

test('what was said before the newest pod of a workload was made is outdated', async () => {
  const refused = [{ metadata: {}, lastTimestamp: '2026-01-01T00:00:10Z', message: 'Error creating: no' }];
  const { clock, asked, world, read } = setUp({ answer: async () => refused });
  Object.assign(world, { pods: [], workloads: [workload('StatefulSet', { replicas: 3 }, { replicas: 0 })] });
  await read();
  await clock.advance(20_000);
  expect((await read()).words.size).toBe(1);
  world.made = [{ metadata: { uid: 'new', creationTimestamp: '2026-01-01T00:00:30Z' } }];
  expect(await read()).toEqual({ words: new Map(), requeueAfter: 20_000 });
  await clock.advance(20_000);
  expect((await read()).words.size).toBe(0);
  expect(asked).toHaveLength(2);
});

test('of many workloads without pods some are asked about in one reconcile, and the next soon after', async () => {
  const { clock, asked, world, read } = setUp({ answer: async () => [{ metadata: {}, message: 'exceeded quota' }] });
  world.pods = [];
  world.workloads = Array.from({ length: 12 }, (_, index) => ({
    kind: 'Job',
    metadata: { name: `job-${index}`, namespace: 'ns', uid: `job-${index}` },
  }));
  await read();
  await clock.advance(20_000);
  const told: number[] = [];
  for (let times = 0; times < 3; times++) {
    const { words: found, requeueAfter } = await read();
    told.push(found.size);
    expect(requeueAfter).toBe(times < 2 ? 2000 : 126_000);
    await clock.advance(2000);
  }
  expect(told).toEqual([5, 10, 12]);
  expect(asked).toHaveLength(12);
});

test('of a long message its beginning is kept, and a long answer is not read', async () => {
  const { clock, asked, read } = setUp({
    answer: async () => [{ metadata: {}, message: `no ${'<'.repeat(100_000)}` }],
  });
  await clock.advance(20_000);
  expect((await read()).words.get('p1')).toBe(`no ${'<'.repeat(1021)}`);
  expect(asked).toMatchObject([{ mostBytes: 2 ** 20 }]);
});
