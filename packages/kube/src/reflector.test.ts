import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { FakeServer, failure } from './fake-server.ts';
import { Informer, type InformerOptions } from './informer.ts';
import { createLog, noLog } from './log.ts';
import { defineKind, type KubeObject, keyOf } from './objects.ts';
import { seededRandom } from './random.ts';
import type { ReflectorSelection } from './reflector.ts';
import { virtualClock } from './virtual-clock.ts';

interface Thing extends KubeObject {
  spec?: { value: number };
}
const Thing = defineKind<Thing>('test.example/v1', 'Thing', 'things');

function thing(name: string, value = 0, labels: Record<string, string> = {}): Thing {
  return { apiVersion: 'test.example/v1', kind: 'Thing', metadata: { namespace: 'ns', name, labels }, spec: { value } };
}

function setUp(selection: ReflectorSelection = {}, options: Partial<InformerOptions<Thing>> = {}) {
  const clock = virtualClock();
  const server = new FakeServer(clock);
  const informer = new Informer<Thing>({
    client: server.client,
    kind: Thing,
    selection,
    clock,
    random: seededRandom(1),
    log: noLog,
    ...options,
  });
  const changes: string[] = [];
  informer.store.onChange(({ type, object }) => changes.push(`${type} ${object.metadata.name}`));
  const values = () => Object.fromEntries(informer.store.list().map((o) => [o.metadata.name, o.spec?.value]));
  const synced = () => clock.run(() => informer.state === 'synced');
  return { clock, server, informer, changes, values, synced };
}

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

test('the answer to a write is there at once, and the watch does not turn it back', async () => {
  const { clock, server, informer, changes, values, synced } = setUp();
  server.put(Thing, thing('a', 1));
  informer.start();
  await synced();
  server.put(Thing, thing('a', 2));
  informer.accept(await server.client.apply(Thing, thing('a', 3), { fieldManager: 'me' }));
  expect(values()).toEqual({ a: 3 });
  await clock.advance(0);
  expect(values()).toEqual({ a: 3 });
  // A late answer to an earlier write is old news.
  const late = informer.store.get('ns/a');
  server.remove(Thing, 'ns/a');
  await clock.advance(0);
  if (late) informer.accept({ ...late, metadata: { ...late.metadata, resourceVersion: '102' } });
  expect(values()).toEqual({});
  expect(changes).toEqual(['added a', 'updated a', 'deleted a']);
  await informer.stop();
});

test('what we deleted stays away, though the watch still speaks of it; then the tombstone goes too', async () => {
  const { clock, server, informer, changes, values, synced } = setUp();
  server.put(Thing, thing('a', 1));
  informer.start();
  await synced();
  const a = informer.store.get('ns/a');
  server.put(Thing, thing('a', 2));
  await server.client.delete(Thing, { namespace: 'ns', name: 'a' });
  if (a) informer.store.bury(a);
  expect([values(), informer.store.tombstones]).toEqual([{}, 1]);
  await clock.advance(0);
  expect([values(), informer.store.tombstones]).toEqual([{}, 0]);
  server.put(Thing, thing('a', 3));
  await clock.advance(0);
  expect(values()).toEqual({ a: 3 });
  expect(changes).toEqual(['added a', 'deleted a', 'added a']);
  await informer.stop();
});

test('a deletion of ours that the watch told first leaves no tombstone', async () => {
  const { clock, server, informer, synced } = setUp();
  server.put(Thing, thing('a', 1));
  informer.start();
  await synced();
  const a = informer.store.get('ns/a');
  server.remove(Thing, 'ns/a');
  await clock.advance(0);
  if (a) informer.store.bury(a);
  expect(informer.store.tombstones).toBe(0);
  await informer.stop();
});

test('a write that takes an object out of the selection takes it out of the store', async () => {
  const { clock, server, informer, values, synced } = setUp({ labelSelector: 'app=x' });
  server.put(Thing, thing('a', 1, { app: 'x' }));
  server.put(Thing, thing('b', 1, { app: 'y' }));
  informer.start();
  await synced();
  expect(values()).toEqual({ a: 1 });
  informer.accept(server.put(Thing, thing('a', 2, { app: 'y' })));
  expect(values()).toEqual({});
  informer.accept(server.put(Thing, thing('b', 2, { app: 'x' })));
  expect(values()).toEqual({ b: 2 });
  await clock.advance(0);
  expect(values()).toEqual({ b: 2 });
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
  restored.put(Thing, thing('a', 1));
  restored.put(Thing, thing('b', 1));
  Object.assign(server.client, restored.client);
  end(server);
  await clock.advance(700_000);
  expect(values()).toEqual({ a: 1, b: 1 });
  await informer.stop();
});

const step = fc.oneof(
  fc.record({
    do: fc.constantFrom('put' as const, 'apply' as const),
    name: fc.constantFrom('a', 'b', 'c'),
    value: fc.nat(9),
    app: fc.constantFrom('x', 'y'),
  }),
  fc.record({ do: fc.constant('remove' as const), name: fc.constantFrom('a', 'b', 'c') }),
  fc.record({ do: fc.constant('delete' as const), name: fc.constantFrom('a', 'b', 'c') }),
  fc.record({ do: fc.constantFrom('expire' as const, 'break' as const, 'lose' as const) }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.nat(3000) }),
);

test('whatever is interleaved, the store ends equal to the server and holds no tombstone', async () => {
  const property = fc.asyncProperty(
    fc.array(step, { maxLength: 40 }),
    fc.record({ streams: fc.boolean(), selects: fc.boolean(), slow: fc.constantFrom(0, 20, 2000), seed: fc.nat() }),
    async (steps, { streams, selects, slow, seed }) => {
      const { clock, server, informer } = setUp(selects ? { labelSelector: 'app=x' } : {});
      const random = seededRandom(seed);
      server.streams = streams;
      server.delay = () => Math.floor(random.next() * slow);
      const wrong: string[] = [];
      const told = new Map<string, string>();
      const written = new Map<string, string>();
      const deleted = new Set<string>();
      const isSelected = ({ metadata }: KubeObject) => !selects || metadata.labels?.['app'] === 'x';
      informer.store.onChange(({ type, object }) => {
        const { uid, resourceVersion } = object.metadata;
        if (type === 'deleted') {
          // What stands on the server as we wrote it is not taken away.
          const live = server.peek(Thing, keyOf(object));
          const asWritten = live?.metadata.uid === uid && written.get(uid) === live.metadata.resourceVersion;
          if (asWritten && isSelected(live)) wrong.push(`took ${uid} away as we wrote it`);
        } else {
          if (Number(resourceVersion) <= Number(told.get(uid) ?? 0)) wrong.push(`told an old state of ${uid}`);
          if (deleted.has(uid)) wrong.push(`told of ${uid}, which we deleted`);
        }
        told.set(uid, resourceVersion);
      });
      informer.start();
      for (const s of steps) {
        if (s.do === 'put') server.put(Thing, thing(s.name, s.value, { app: s.app }));
        if (s.do === 'remove') server.remove(Thing, `ns/${s.name}`);
        if (s.do === 'apply') {
          const answer = server.put(Thing, thing(s.name, s.value, { app: s.app }));
          written.set(answer.metadata.uid, answer.metadata.resourceVersion);
          informer.accept(answer);
        }
        if (s.do === 'delete') {
          const known = informer.store.get(`ns/${s.name}`);
          const live = server.peek(Thing, `ns/${s.name}`);
          // As `remove` deletes: this state of it, or nothing.
          if (known && known.metadata.resourceVersion === live?.metadata.resourceVersion) {
            server.remove(Thing, `ns/${s.name}`);
            deleted.add(known.metadata.uid);
            informer.store.bury(known);
          }
        }
        if (s.do === 'lose') server.loses = () => true;
        if (s.do === 'expire') {
          server.loses = () => false;
          server.expire();
        }
        if (s.do === 'break') server.breakWatches();
        if (s.do === 'wait') await clock.advance(s.ms);
      }
      if (steps.some((s) => s.do === 'lose')) {
        // What is lost heals by the next list.
        server.loses = () => false;
        server.expire();
      }
      // Longer than a watch lasts: at its end the server says how far it has come.
      await clock.advance(620_000);
      const view = (objects: { metadata: { resourceVersion?: string } }[]) =>
        objects.map((o) => `${keyOf(o)}@${o.metadata.resourceVersion}`).sort();
      expect(wrong).toEqual([]);
      expect(view(informer.store.list())).toEqual(view(server.all(Thing).filter(isSelected)));
      expect(informer.store.tombstones).toBe(0);
      await informer.stop();
      expect(clock.pending).toBe(0);
    },
  );
  const [wait, enters, leaves] = [
    { do: 'wait', ms: 0 },
    { do: 'apply', name: 'b', value: 0, app: 'x' },
    { do: 'apply', name: 'b', value: 0, app: 'y' },
  ] as const;
  // Made and deleted while a list that does not have it yet is on its way.
  const late = [
    { do: 'wait', ms: 803 },
    { do: 'apply', name: 'c', value: 0, app: 'x' },
    { do: 'delete', name: 'c' },
  ] as const;
  // Made twice by us, and gone twice, before the reader says a word of it.
  const twice = [wait, enters, { do: 'remove', name: 'b' }, enters, { do: 'delete', name: 'b' }] as const;
  await fc.assert(property, {
    numRuns: 1000,
    examples: [
      [[wait, enters, leaves], { streams: true, selects: true, slow: 0, seed: 0 }],
      [[...twice], { streams: true, selects: false, slow: 0, seed: 0 }],
      [[...late], { streams: false, selects: false, slow: 20, seed: 0 }],
    ],
  });
});
