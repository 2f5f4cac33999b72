import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { seededRandom } from '../base/random.ts';
import { type KubeObject, keyOf } from '../objects/objects.ts';
import { setUp, Thing, thing } from '../testing/things.ts';

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
  if (a) informer.store.addTombstone(a);
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
  if (a) informer.store.addTombstone(a);
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
            informer.store.addTombstone(known);
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
