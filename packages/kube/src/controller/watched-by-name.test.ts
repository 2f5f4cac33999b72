import { expect, test } from 'vitest';
import type { CacheReader } from '../cache/cache.ts';
import { failure } from '../testing/fake-server.ts';
import { Hidden, plain, Site, setUp, site } from '../testing/sites.ts';
import { on } from './watches.ts';

test('objects that may not be listed are watched one by one, for as long as somebody refers to them', async () => {
  const seen: unknown[] = [];
  const { clock, server, stop, passes, start, settle } = setUp(
    async ({ object, cache }) => {
      seen.push(cache.get(Hidden, `ns/${object.spec.secret}`)?.['data']);
    },
    {
      watches: [
        on<Site>(Hidden, {
          references: ({ spec }) => (spec.secret === undefined ? [] : [{ name: spec.secret }]),
          individually: true,
        }),
      ],
    },
  );
  server.put(Hidden, { ...plain('Hidden', 'key'), data: 'old' });
  server.put(Site, site('a', { secret: 'key' }));
  const running = start();
  await settle();
  expect(seen).toEqual(['old']);
  passes.length = 0;
  server.put(Hidden, { ...plain('Hidden', 'key'), data: 'new' });
  server.put(Hidden, plain('Hidden', 'unrelated'));
  await settle();
  expect([passes, seen.at(-1)]).toEqual([['ns/a'], 'new']);
  server.put(Hidden, { ...plain('Hidden', 'other'), data: 'known at once' });
  server.put(Site, site('a', { secret: 'other' }));
  await settle();
  expect(seen).toEqual(['old', 'new', 'known at once']);
  server.remove(Site, 'ns/a');
  await clock.advance(1000);
  const asked = server.requests.filter(({ kind }) => kind === 'Hidden').length;
  await clock.advance(3_600_000);
  expect(server.requests.filter(({ kind }) => kind === 'Hidden')).toHaveLength(asked);
  stop.abort();
  await running;
});

test('of many that are referred to in a namespace the kind is followed by one watch, until nobody refers to any', async () => {
  const references = ({ spec }: Site) => (spec.secret === undefined ? [] : [{ name: spec.secret }]);
  const seen = new Map<string, unknown>();
  const { clock, server, stop, passes, start, settle } = setUp(
    async ({ object, cache }) => {
      seen.set(object.metadata.name, cache.get(Hidden, `ns/${object.spec.secret}`)?.['data']);
    },
    { watches: [on<Site>(Hidden, { references, individually: true })] },
  );
  const many = Array.from({ length: 200 }, (_, i) => `${i}`);
  for (const name of many) {
    server.put(Hidden, { ...plain('Hidden', name), data: `old ${name}` });
    server.put(Site, site(name, { secret: name }));
  }
  server.put(Site, { ...site('far'), metadata: { namespace: 'elsewhere', name: 'far' } });
  let watches = 0;
  const watch = server.client.watch.bind(server.client);
  server.client.watch = (kind, options) => {
    if (kind.kind !== 'Hidden') return watch(kind, options);
    watches++;
    const given = watch(kind, options);
    return (async function* () {
      try {
        yield* given;
      } finally {
        watches--;
      }
    })();
  };
  const running = start();
  await settle();
  expect(watches).toBe(1);
  expect([...seen].filter(([name, data]) => name !== 'far' && data !== `old ${name}`)).toEqual([]);
  passes.length = 0;
  server.put(Hidden, { ...plain('Hidden', '7'), data: 'new' });
  server.put(Hidden, plain('Hidden', 'unrelated'));
  await settle();
  expect([passes, seen.get('7')]).toEqual([['ns/7'], 'new']);
  for (const name of many) server.remove(Site, `ns/${name}`);
  await clock.advance(1000);
  expect(watches).toBe(0);
  server.put(Site, site('a', { secret: '7' }));
  await settle();
  expect([watches, seen.get('a')]).toEqual([1, 'new']);
  stop.abort();
  await running;
});

test('what was known by a watch of its own is known until all of the namespace is', async () => {
  const references = ({ spec }: Site) => (spec.secret === undefined ? [] : [{ name: spec.secret }]);
  const caches: CacheReader[] = [];
  const { server, stop, passes, start, settle } = setUp(async ({ cache }) => void caches.push(cache), {
    watches: [on<Site>(Hidden, { references, individually: true })],
  });
  const watch = server.client.watch.bind(server.client);
  let listed = () => {};
  const whole = new Promise<void>((resolve) => {
    listed = resolve;
  });
  server.client.watch = (kind, options) => {
    const given = watch(kind, options);
    if (options.fieldSelector !== 'metadata.namespace=ns') return given;
    return (async function* () {
      await whole;
      yield* given;
    })();
  };
  server.put(Hidden, plain('Hidden', '0'));
  server.put(Site, site('0', { secret: '0' }));
  const running = start();
  await settle();
  for (let i = 1; i < 100; i++) server.put(Site, site(`${i}`, { secret: `${i}` }));
  passes.length = 0;
  await settle();
  const known = () => caches[0]?.get(Hidden, 'ns/0') !== undefined;
  expect([known(), passes]).toEqual([true, []]);
  listed();
  await settle();
  expect([known(), passes.length]).toEqual([true, 100]);
  expect(server.requests.filter(({ kind }) => kind === 'Hidden').length).toBeLessThan(70);
  stop.abort();
  await running;
});

test('what may not be read by its name holds back its namespace, and no other, until it may', async () => {
  const references = ({ spec }: Site) => (spec.secret === undefined ? [] : [{ name: spec.secret }]);
  const { clock, server, stop, passes, start, settle } = setUp(async () => {}, {
    watches: [on<Site>(Hidden, { references, individually: true })],
  });
  const watch = server.client.watch.bind(server.client);
  let locked = true;
  server.client.watch = (kind, options) => {
    if (locked && options.fieldSelector === 'metadata.name=locked') throw failure(403, 'Forbidden', 'not for you');
    return watch(kind, options);
  };
  const put = (namespace: string, name: string, secret?: string) =>
    server.put(Site, { ...site(name, secret === undefined ? {} : { secret }), metadata: { namespace, name } });
  put('ns', 'a', 'locked');
  put('ns', 'b');
  put('elsewhere', 'c', 'open');
  const running = start();
  await settle();
  expect(passes).toEqual(['elsewhere/c']);
  put('elsewhere', 'd');
  await settle();
  expect(passes.splice(0)).toEqual(['elsewhere/c', 'elsewhere/d']);
  locked = false;
  await clock.advance(60_000);
  expect(passes.sort()).toEqual(['ns/a', 'ns/b']);
  stop.abort();
  await running;
});
