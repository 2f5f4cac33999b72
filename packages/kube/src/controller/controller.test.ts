import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createMetrics } from '../metrics/metrics.ts';
import { TerminalError } from '../objects/errors.ts';
import { controllerReference } from '../objects/objects.ts';
import { failure } from '../testing/fake-server.ts';
import { Database, Page, page, plain, Site, setUp, site } from '../testing/sites.ts';
import { on } from './watches.ts';

test('a change of an object enqueues those that refer to it, also across a change of the reference', async () => {
  const { server, stop, passes, start, settle } = setUp(async () => {});
  server.put(Database, plain('Database', 'one'));
  server.put(Site, site('a', { databaseRef: { name: 'one' } }));
  server.put(Site, site('b', { databaseRef: { name: 'two' } }));
  const running = start();
  await settle();
  passes.length = 0;
  server.put(Database, { ...plain('Database', 'one'), ready: true });
  await settle();
  expect(passes).toEqual(['ns/a']);
  passes.length = 0;
  server.put(Database, plain('Database', 'two'));
  await settle();
  expect(passes).toEqual(['ns/b']);
  server.put(Site, site('a', { databaseRef: { name: 'two' } }));
  await settle();
  passes.length = 0;
  server.remove(Database, 'ns/one');
  server.remove(Database, 'ns/two');
  await settle();
  expect(passes.sort()).toEqual(['ns/a', 'ns/b']);
  stop.abort();
  await running;
});

test('changes that a predicate rejects enqueue nothing', async () => {
  const { server, stop, passes, start, settle } = setUp(async () => {}, {
    watches: [
      on<Site>(Database, {
        map: ({ metadata }) => [{ namespace: 'ns', name: metadata.name }],
        when: ({ object, old }) => object['ready'] !== old?.['ready'],
      }),
    ],
  });
  server.put(Site, site('a'));
  server.put(Database, plain('Database', 'a'));
  const running = start();
  await settle();
  passes.length = 0;
  server.put(Database, { ...plain('Database', 'a'), heartbeat: 1 });
  await settle();
  expect(passes).toEqual([]);
  server.put(Database, { ...plain('Database', 'a'), heartbeat: 1, ready: true });
  await settle();
  expect(passes).toEqual(['ns/a']);
  stop.abort();
  await running;
});

test('a change that may wait is answered together with those that follow; one that may not, at once', async () => {
  const { clock, server, stop, passes, start, settle } = setUp(async () => {}, {
    watches: [
      on<Site>(Database, {
        map: ({ metadata }) => [{ namespace: 'ns', name: metadata.name }],
        delay: ({ object, old }) => (object['ready'] === old?.['ready'] ? 500 : 0),
      }),
    ],
  });
  server.put(Site, site('a'));
  server.put(Database, plain('Database', 'a'));
  const running = start();
  await settle();
  await clock.advance(1000);
  passes.length = 0;
  for (const progress of [1, 2, 3]) {
    server.put(Database, { ...plain('Database', 'a'), progress });
    await clock.advance(100);
  }
  expect(passes).toEqual([]);
  await clock.advance(200);
  expect(passes).toEqual(['ns/a']);
  server.put(Database, { ...plain('Database', 'a'), progress: 4 });
  server.put(Database, { ...plain('Database', 'a'), ready: true });
  await settle();
  expect(passes).toEqual(['ns/a', 'ns/a']);
  // The one that waited went with it.
  await clock.advance(1000);
  expect(passes).toHaveLength(2);
  stop.abort();
  await running;
});

test('a change of the status enqueues after a second, so that two writers that disagree do not answer each other at once', async () => {
  const { server, stop, passes, clock, start, settle } = setUp(async () => {});
  const reported = (pages: number, generation = 1) => {
    const { metadata, ...rest } = site('a');
    return { ...rest, metadata: { ...metadata, generation }, status: { pages } };
  };
  server.put(Site, reported(1));
  const running = start();
  await settle();
  passes.length = 0;
  server.put(Site, reported(2));
  await clock.advance(100);
  expect(passes).toEqual([]);
  await clock.advance(1000);
  expect(passes).toEqual(['ns/a']);
  server.put(Site, reported(2, 2));
  await clock.advance(100);
  expect(passes).toEqual(['ns/a', 'ns/a']);
  stop.abort();
  await running;
});

test('an object that changes its owner enqueues both', async () => {
  const { server, stop, passes, start, settle } = setUp(async () => {});
  const [a, b] = [server.put(Site, site('a')), server.put(Site, site('b'))];
  const owned = (by: typeof a) => ({
    ...page('x'),
    metadata: { ...page('x').metadata, ownerReferences: [controllerReference(by)] },
  });
  server.put(Page, owned(a));
  const running = start();
  await settle();
  passes.length = 0;
  server.put(Page, owned(b));
  await settle();
  expect(passes.sort()).toEqual(['ns/a', 'ns/b']);
  stop.abort();
  await running;
});

test('the objects of a first list enqueue no others one by one: its end enqueues all', async () => {
  let mapped = 0;
  const { server, stop, passes, start, settle } = setUp(async () => {}, {
    watches: [
      on<Site>(Database, (_, cache) => {
        mapped++;
        return cache.list(Site).map(({ metadata: { name, namespace = '' } }) => ({ name, namespace }));
      }),
    ],
  });
  for (const name of ['a', 'b', 'c']) server.put(Database, plain('Database', name));
  server.put(Site, site('a'));
  const running = start();
  await settle();
  expect([mapped, passes]).toEqual([0, ['ns/a']]);
  server.put(Database, plain('Database', 'd'));
  await settle();
  expect([mapped, passes]).toEqual([1, ['ns/a', 'ns/a']]);
  stop.abort();
  await running;
});

test('an API that is installed later is picked up, and enqueues the objects that wait for it', async () => {
  const seen: boolean[] = [];
  const { clock, server, stop, start, settle } = setUp(async ({ cache, apply }) => {
    seen.push(cache.served(Page));
    if (cache.served(Page)) await apply(page('x'));
  });
  server.missing.add('pages');
  server.put(Site, site('a'));
  const running = start();
  await settle();
  expect(seen).toEqual([false]);
  await clock.advance(600_000);
  expect(server.writes).toEqual([]);
  server.missing.clear();
  await clock.run(() => server.peek(Page, 'ns/x') !== undefined, { limit: 61_000 });
  stop.abort();
  await running;
});

test('errors are repeated with back-off, terminal ones only after a change, mistakes are counted', async () => {
  const registry = new Registry();
  let error: unknown = new Error('not yet');
  const { clock, server, stop, passes, start, settle } = setUp(
    async () => {
      if (error !== undefined) throw error;
      return { requeueAfter: 60_000 };
    },
    {},
    { metrics: createMetrics(registry) },
  );
  server.put(Site, site('a'));
  const running = start();
  await settle();
  await clock.advance(10_000);
  expect(passes.length).toBeGreaterThan(8);
  expect(passes.length).toBeLessThan(14);
  error = new TerminalError('BAD', 'will not get better');
  await clock.advance(100_000);
  const count = passes.length;
  await clock.advance(3_600_000);
  expect(passes).toHaveLength(count);
  error = new TypeError('x is not a function');
  server.put(Site, site('a', { pages: 1 }));
  await settle();
  await clock.advance(5000);
  error = undefined;
  await clock.advance(10_000);
  const calm = passes.length;
  await clock.advance(600_000);
  expect(passes.length - calm).toBe(10);
  // After a success the back-off begins anew.
  error = new Error('once more');
  server.put(Site, site('a', { pages: 2 }));
  await settle();
  const anew = passes.length;
  await clock.advance(100);
  expect(passes.length - anew).toBeGreaterThanOrEqual(3);
  stop.abort();
  await running;
  const text = await registry.metrics();
  expect(text).toContain('controller_runtime_terminal_reconcile_errors_total{controller="site"} 1');
  expect(text).toMatch(/controller_runtime_reconcile_panics_total\{controller="site"\} [1-9]/);
  expect(text).toMatch(/controller_runtime_reconcile_total\{controller="site",result="requeue_after"\} 1[01]/);
  expect(text).toContain('workqueue_depth{name="site",controller="site"} 0');
  expect(text).toContain('controller_runtime_max_concurrent_reconciles{controller="site"} 4');
});

test('stopping lets running reconciles end, and starts none', async () => {
  const { clock, server, stop, passes, start } = setUp(async ({ client }) => {
    await client.get(Site, { namespace: 'ns', name: 'a' });
    await client.apply(Page, page('done'), { fieldManager: 'test' });
  });
  server.put(Site, site('a'));
  const running = start();
  await clock.advance(0);
  server.latency = 1000;
  server.put(Site, site('a', { pages: 1 }));
  await clock.advance(1500);
  const before = passes.length;
  stop.abort();
  server.put(Site, site('b'));
  await clock.run(() => server.writes.some(({ key }) => key === 'ns/done'));
  await clock.advance(5000);
  await running;
  expect(server.peek(Page, 'ns/done')).toBeDefined();
  expect(passes).toHaveLength(before);
  expect(clock.pending).toBe(0);
});

test('a reconcile that does not end is aborted when the process stops', async () => {
  let reason: unknown;
  const { clock, server, stop, start } = setUp(
    ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason;
          reject(signal.reason);
        });
      }),
  );
  server.put(Site, site('a'));
  const running = start();
  await clock.advance(1000);
  stop.abort();
  await clock.advance(19_000);
  expect(reason).toBeUndefined();
  await clock.advance(2000);
  await running;
  expect(reason).toEqual(new Error('the process stops'));
});

test('a start that may not list says what is missing, and gets ready when it may', async () => {
  const { clock, server, stop, lines, start, settle, passes } = setUp(async () => {});
  let forbidden = true;
  server.intercept = ({ kind }) => {
    if (forbidden && kind === 'Page') throw failure(403, 'Forbidden', 'pages is forbidden: User "x" cannot list');
  };
  server.put(Site, site('a'));
  const running = start();
  await clock.advance(31_000);
  const warning = lines.find(({ message }) => message === 'waiting for caches');
  expect(JSON.stringify(warning)).toContain('pages (fake server: pages is forbidden');
  expect(passes).toEqual([]);
  forbidden = false;
  await settle();
  expect(passes).toEqual(['ns/a']);
  stop.abort();
  await running;
});
