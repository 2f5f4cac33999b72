import { expect, test } from 'vitest';
import { createLog } from '../base/log.ts';
import { virtualClock } from '../base/virtual-clock.ts';
import type { KubeObject } from '../objects/objects.ts';
import { FakeServer, failure } from '../testing/fake-server.ts';
import { setUp, Thing, thing } from '../testing/things.ts';

test('streams what exists, then follows; objects are frozen and without managedFields', async () => {
  const { clock, server, informer, changes, values, synced } = setUp();
  const managedFields = [{ manager: 'kubectl' }];
  server.put(Thing, { ...thing('a', 1), metadata: { namespace: 'ns', name: 'a', managedFields } });
  informer.start();
  await synced();
  server.put(Thing, thing('b', 2));
  server.put(Thing, thing('b', 3));
  server.remove(Thing, 'ns/a');
  await clock.advance(0);
  expect(values()).toEqual({ b: 3 });
  expect(changes).toEqual(['added a', 'added b', 'updated b', 'deleted a']);
  expect(server.requests.map(({ verb }) => verb)).toEqual(['watch']);
  const [b] = informer.store.list();
  expect(b?.metadata.managedFields).toBeUndefined();
  expect(() => Object.assign(b?.spec ?? {}, { value: 9 })).toThrow(TypeError);
  await informer.stop();
  expect(clock.pending).toBe(0);
});

test.each([
  ['refuses a streamed list', (server: FakeServer) => Object.assign(server, { streams: false })],
  [
    'never marks the end of a streamed list',
    (server: FakeServer) => {
      const plain = { ...server.client };
      server.client.watch = async function* (kind, options) {
        for await (const event of plain.watch(kind, options)) {
          if (event.type !== 'BOOKMARK' || !event.initialEventsEnd) yield event;
        }
      };
    },
  ],
])('lists page by page when the server %s', async (_, arrange) => {
  const { clock, server, informer, values, synced } = setUp();
  arrange(server);
  for (let i = 0; i < 1200; i++) server.put(Thing, thing(`t${i}`, i));
  informer.start();
  await synced();
  expect(informer.store.size).toBe(1200);
  expect(server.requests.filter(({ verb }) => verb === 'list')).toHaveLength(3);
  server.put(Thing, thing('late', 7));
  await clock.advance(0);
  expect(values()['late']).toBe(7);
  await informer.stop();
});

test('a page that would be too long is asked for in smaller ones', async () => {
  const { clock, server, informer, synced } = setUp();
  server.streams = false;
  const answers: number[] = [];
  const plain = { ...server.client };
  server.client.list = async (kind, options) => {
    const answer = await plain.list(kind, options);
    answers.push(JSON.stringify(answer.items).length);
    return answer;
  };
  const long = '<'.repeat(2 ** 20);
  for (let i = 0; i < 100; i++) server.put<KubeObject>(Thing, { ...thing(`t${i}`, i), data: { long } });
  server.put<KubeObject>(Thing, { ...thing('longest', 1), data: { long: long.repeat(20) } });
  informer.start();
  await synced();
  expect(informer.store.size).toBe(101);
  expect(Math.max(...answers)).toBeLessThan(21 * 2 ** 20);
  expect(answers.length).toBeLessThan(30);
  await informer.stop();
  expect(clock.pending).toBe(0);
});

test.each([true, false])(
  'an object that cannot be stored is skipped, and named (streamed list: %s)',
  async (streams) => {
    const lines: string[] = [];
    const { clock, server, informer, values, synced } = setUp(
      {},
      {
        log: createLog({ clock: virtualClock(), write: (line) => lines.push(line) }),
        transform: (object) => {
          if (object.spec?.value === 13) throw new RangeError('Maximum call stack size exceeded');
          return object;
        },
      },
    );
    Object.assign(server, { streams });
    server.put(Thing, thing('new', 13));
    server.put(Thing, thing('known', 1));
    server.put(Thing, thing('good', 1));
    informer.start();
    await synced();
    expect(values()).toEqual({ known: 1, good: 1 });
    server.put(Thing, thing('known', 13));
    server.put(Thing, thing('good', 2));
    await clock.advance(0);
    expect(values(), 'by the watch').toEqual({ known: 1, good: 2 });
    server.loses = () => true;
    server.put(Thing, thing('good', 3));
    await clock.advance(0);
    server.loses = () => false;
    server.expire();
    await clock.advance(60_000);
    expect(values(), 'by another list').toEqual({ known: 1, good: 3 });
    server.remove(Thing, 'ns/known');
    server.put(Thing, thing('new', 2));
    await clock.advance(0);
    expect(values()).toEqual({ good: 3, new: 2 });
    const named = lines.flatMap((line) => (JSON.parse(line) as { object?: string }).object ?? []);
    expect(named).toEqual(['ns/new', 'ns/known', 'ns/new', 'ns/known']);
    await informer.stop();
  },
);

test('an expired watch is listed anew at once, and what went meanwhile is told', async () => {
  const { clock, server, informer, changes, values, synced } = setUp();
  server.put(Thing, thing('stays', 1));
  server.put(Thing, thing('goes', 1));
  informer.start();
  await synced();
  changes.length = 0;
  server.loses = () => true;
  server.remove(Thing, 'ns/goes');
  server.put(Thing, thing('stays', 2));
  server.put(Thing, thing('comes', 1));
  await clock.advance(0);
  expect(changes).toEqual([]);
  server.loses = () => false;
  server.expire();
  await clock.advance(0);
  expect(values()).toEqual({ stays: 2, comes: 1 });
  expect(changes.sort()).toEqual(['added comes', 'deleted goes', 'updated stays']);
  await informer.stop();
});

test('a server that always answers 410 is not asked in a storm', async () => {
  const { clock, server, informer } = setUp();
  server.intercept = () => {
    throw failure(410, 'Expired', 'too old resource version');
  };
  informer.start();
  await clock.advance(600_000);
  expect(server.requests.length).toBeLessThan(30);
  await informer.stop();
});

test('a broken watch goes on where it ended; the back-off grows, and is forgotten after quiet minutes', async () => {
  const { clock, server, informer, values, synced } = setUp();
  server.put(Thing, thing('a', 1));
  informer.start();
  await synced();
  let down = true;
  server.intercept = () => {
    if (down) throw failure(503, 'ServiceUnavailable', 'down');
  };
  const since = server.requests.length;
  server.breakWatches();
  server.put(Thing, thing('a', 2));
  await clock.advance(60_000);
  const tries = server.requests.slice(since);
  const gaps = tries.slice(1).map(({ at }, i) => at - (tries[i]?.at ?? 0));
  expect(gaps.every((gap, i) => gap >= Math.min(30_000, 800 * 2 ** (i + 1)))).toBe(true);
  expect(values()).toEqual({ a: 1 });
  down = false;
  await clock.run(() => values()['a'] === 2);
  expect(server.requests.every(({ verb }) => verb === 'watch')).toBe(true);
  await clock.advance(300_000);
  const before = clock.now();
  server.breakWatches();
  server.put(Thing, thing('a', 3));
  await clock.run(() => values()['a'] === 3);
  expect(clock.now() - before).toBeLessThan(1600);
  await informer.stop();
});

test('a quiet watch ends after 5 to 10 minutes and goes on without a new list', async () => {
  const { clock, server, informer, values, synced } = setUp();
  informer.start();
  await synced();
  await clock.advance(3_600_000);
  expect(server.requests.length).toBeGreaterThan(6);
  expect(server.requests.length).toBeLessThan(14);
  server.put(Thing, thing('a', 1));
  await clock.advance(0);
  expect(values()).toEqual({ a: 1 });
  await informer.stop();
});

test('a kind that is not served is asked for quietly until it is; one 404 does not empty the store', async () => {
  const { clock, server, informer, changes } = setUp();
  server.missing.add('things');
  informer.start();
  await clock.run(() => informer.state === 'not-served');
  await clock.advance(300_000);
  expect(server.requests.length).toBeLessThan(20);
  server.missing.clear();
  server.put(Thing, thing('a', 1));
  await clock.run(() => informer.state === 'synced');
  expect(changes).toEqual(['added a']);

  await clock.advance(200_000);
  server.missing.add('things');
  server.breakWatches();
  await clock.advance(1700);
  expect([informer.state, informer.store.size]).toEqual(['synced', 1]);
  await clock.run(() => informer.state === 'not-served');
  expect(changes).toEqual(['added a', 'deleted a']);
  await informer.stop();
});

test.each([
  ['says so', (server: FakeServer) => server.expire()],
  ['waits in silence for the version that is lost', (server: FakeServer) => server.breakWatches()],
])('a server that was set back to an old backup and %s: its list alone counts', async (_, end) => {
  const { clock, server, informer, values, synced } = setUp();
  server.put(Thing, thing('a', 1));
  informer.start();
  await synced();
  for (let i = 0; i < 50; i++) server.put(Thing, thing(`lost${i}`, i));
  await clock.advance(0);
  const restored = new FakeServer(clock);
  // Of another history, with the same resourceVersion.
  restored.put(Thing, thing('a', 2));
  restored.put(Thing, thing('b', 1));
  Object.assign(server.client, restored.client);
  end(server);
  await clock.advance(700_000);
  expect(values()).toEqual({ a: 2, b: 1 });
  await informer.stop();
});
