import { expect, test } from 'vitest';
import { noLog } from '../base/log.ts';
import { seededRandom } from '../base/random.ts';
import { virtualClock } from '../base/virtual-clock.ts';
import { controllerReference, defineKind, keyOf } from '../objects/objects.ts';
import { FakeServer } from '../testing/fake-server.ts';
import { Cache } from './cache.ts';

const Thing = defineKind('test.example/v1', 'Thing', 'things');
const Zone = defineKind('v1', 'Zone', 'zones', { namespaced: false });

function setUp(namespaces?: string[]) {
  const clock = virtualClock();
  const server = new FakeServer(clock);
  const put = (namespace: string, name: string, labels: Record<string, string> = {}) =>
    server.put(Thing, { apiVersion: 'test.example/v1', kind: 'Thing', metadata: { namespace, name, labels } });
  const cache = new Cache({
    client: server.client,
    clock,
    random: seededRandom(1),
    log: noLog,
    ...(namespaces ? { namespaces } : {}),
  });
  return { clock, server, cache, put };
}

test('bound to namespaces, it asks for nothing outside of them', async () => {
  const { clock, server, cache, put } = setUp(['a', 'b']);
  put('a', 'x');
  put('b', 'x');
  put('c', 'x');
  server.put(Zone, { apiVersion: 'v1', kind: 'Zone', metadata: { name: 'z' } });
  const asked: unknown[] = [];
  const { watch } = { watch: server.client.watch.bind(server.client) };
  server.client.watch = (kind, options) => {
    asked.push([kind.kind, options.namespace]);
    return watch(kind, options);
  };
  cache.watch(Thing);
  cache.watch(Zone);
  cache.start();
  await clock.run(() => cache.synced(Thing) && cache.synced(Zone));
  expect(asked).toEqual([
    ['Thing', 'a'],
    ['Thing', 'b'],
    ['Zone', undefined],
  ]);
  const names = cache.list(Thing).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  expect(names).toEqual(['a/x', 'b/x']);
  expect(cache.list(Thing, { namespace: 'a' })).toHaveLength(1);
  expect(cache.get(Zone, { name: 'z' })?.metadata.name).toBe('z');
  await cache.stop();
  expect(clock.pending).toBe(0);
});

test('selections that overlap show an object once, in its newest state', async () => {
  const { clock, server, cache, put } = setUp();
  put('ns', 'both', { app: 'x' });
  put('ns', 'labelled', { app: 'x' });
  put('ns', 'named');
  put('ns', 'neither');
  cache.watch(Thing, { selection: { labelSelector: 'app=x' } });
  const endNamed = cache.watch(Thing, { selection: { namespace: 'ns', fieldSelector: 'metadata.name=named' } });
  const endBoth = cache.watch(Thing, { selection: { namespace: 'ns', fieldSelector: 'metadata.name=both' } });
  cache.start();
  await cache.untilSynced();
  const names = () =>
    cache
      .list(Thing)
      .map(({ metadata }) => metadata.name)
      .sort();
  expect(names()).toEqual(['both', 'labelled', 'named']);
  const changed = put('ns', 'both', { app: 'y' });
  await clock.advance(0);
  expect(cache.get(Thing, 'ns/both')?.metadata.resourceVersion).toBe(changed.metadata.resourceVersion);
  await Promise.all([endBoth(), endNamed()]);
  expect(names()).toEqual(['labelled']);
  expect(server.requests).toHaveLength(3);
  await cache.stop();
});

test('the same selection twice is one watch, which ends with its last user', async () => {
  const { clock, server, cache, put } = setUp();
  put('ns', 'a');
  const one = cache.watch(Thing);
  const two = cache.watch(Thing);
  cache.start();
  await cache.untilSynced();
  await one();
  put('ns', 'b');
  await clock.advance(0);
  expect(cache.list(Thing)).toHaveLength(2);
  await two();
  expect([server.requests.length, clock.pending]).toEqual([1, 0]);
});

test('an owner controls objects of its own namespace alone, whatever uid those of others name', async () => {
  const { server, cache, put } = setUp();
  const owner = put('ns', 'owner');
  for (const namespace of ['ns', 'other']) {
    const metadata = { namespace, name: 'owned', ownerReferences: [controllerReference(owner)] };
    server.put(Thing, { apiVersion: 'test.example/v1', kind: 'Thing', metadata });
  }
  cache.watch(Thing);
  cache.start();
  await cache.untilSynced();
  expect(cache.controlledBy(Thing, owner).map(keyOf)).toEqual(['ns/owned']);
  await cache.stop();
});

test('reading what is not followed is an error that says what to do', () => {
  const { cache } = setUp();
  expect(() => cache.get(Thing, 'ns/a')).toThrow('add it to what the controller owns or watches');
  cache.watch(Thing);
  expect(() => cache.byIndex(Thing, 'colour', 'red')).toThrow('no index "colour"; there are: namespace, controlled-by');
});

test('waiting for it ends when aborted', async () => {
  const { cache } = setUp();
  cache.watch(Thing);
  const stop = new AbortController();
  const waiting = cache.untilSynced(stop.signal);
  stop.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
});
