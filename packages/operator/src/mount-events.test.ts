import {
  type ListOptions,
  noLog,
  type ReconcileContext,
  type StoredObject,
  timestamp,
  virtualClock,
} from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { MountEventReader } from './mount-events.ts';

const begun = virtualClock().now();
const words = 'MountVolume.SetUp failed for volume "lib-modules" : /lib/modules is not a directory';

/** A resource one of whose pods got its node at the beginning, and waits for its volumes since. */
function setUp({ uid = 'p1', answer = async (): Promise<unknown[]> => [] } = {}) {
  const clock = virtualClock();
  const asked: ListOptions[] = [];
  const pod = {
    metadata: { name: 'agent-1', namespace: 'ns', uid },
    status: {
      conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: timestamp({ now: () => begun }) }],
      containerStatuses: [{ name: 'agent', state: { waiting: { reason: 'ContainerCreating' } } }],
    },
  };
  const world = { pods: [pod], ready: 'False' };
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
      cache: { list: () => world.pods },
      client: {
        list: async (_kind: unknown, options: ListOptions) => {
          asked.push(options);
          return { items: await answer() };
        },
      },
    }) as unknown as ReconcileContext;
  const reader = new MountEventReader();
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
    { namespace: 'ns', fieldSelector: 'involvedObject.uid=p1,reason=FailedMount', limit: 20 },
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
