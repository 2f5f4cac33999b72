import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { after, type ControllerOptions, controller, type ReconcileContext } from './controller.ts';
import { TerminalError } from './errors.ts';
import { FakeServer, failure } from './fake-server.ts';
import { createLog } from './log.ts';
import { createMetrics } from './metrics.ts';
import { controllerReference, defineKind, type KubeObject, type StoredObject } from './objects.ts';
import { ForeignObjectError } from './ownership.ts';
import { seededRandom } from './random.ts';
import { type RunOptions, type Runtime, run } from './run.ts';
import { virtualClock } from './virtual-clock.ts';
import { on } from './watches.ts';

interface Site extends KubeObject {
  spec: { pages?: number; databaseRef?: { name: string; namespace?: string }; secret?: string };
  status?: { pages?: number };
}
interface Page extends KubeObject {
  data?: Record<string, string>;
}
const Site = defineKind<Site>('test.example/v1', 'Site', 'sites');
const Page = defineKind<Page>('v1', 'Page', 'pages');
const Database = defineKind('test.example/v1', 'Database', 'databases');
const Hidden = defineKind('v1', 'Hidden', 'hiddens');

function site(name: string, spec: Site['spec'] = {}): Site {
  return { apiVersion: 'test.example/v1', kind: 'Site', metadata: { namespace: 'ns', name }, spec };
}

function page(name: string, data: Record<string, string> = {}): Page {
  return { apiVersion: 'v1', kind: 'Page', metadata: { name, namespace: 'ns' }, data };
}

const plain = (kind: string, name: string): KubeObject => ({
  apiVersion: kind === 'Database' ? 'test.example/v1' : 'v1',
  kind,
  metadata: { namespace: 'ns', name },
});

type Reconcile = (context: ReconcileContext<Site>) => Promise<ReturnType<typeof after> | void>;

function setUp(reconcile: Reconcile, options: Partial<ControllerOptions<Site>> = {}, more: Partial<RunOptions> = {}) {
  const clock = virtualClock();
  const server = new FakeServer(clock);
  const stop = new AbortController();
  const lines: { level: string; message: string; error?: unknown }[] = [];
  const passes: string[] = [];
  let runtime: Runtime | undefined;
  const site = controller(Site, {
    owns: [Page],
    watches: [on<Site>(Database, 'databaseRef')],
    ...options,
    reconcile: async (context) => {
      passes.push(context.key);
      return reconcile(context);
    },
  });
  const start = () =>
    run({
      name: 'test',
      controllers: [site],
      client: server.client,
      clock,
      random: seededRandom(1),
      log: createLog({ clock, write: (line) => lines.push(JSON.parse(line)) }),
      signal: stop.signal,
      started: (started) => {
        runtime = started;
      },
      ...more,
    });
  const settle = async () => {
    await clock.run(() => runtime?.idle === true);
    // News of the last writes still has to come in.
    await clock.advance(0);
    await clock.run(() => runtime?.idle === true);
  };
  return { clock, server, stop, lines, passes, start, settle, runtime: () => runtime as Runtime };
}

test('what is stated is made, put right, and told; a settled system writes nothing', async () => {
  const { clock, server, stop, start, settle, runtime } = setUp(async ({ object, apply, remove, cache, status }) => {
    const wanted = object.spec.pages ?? 0;
    for (let i = 0; i < wanted; i++) await apply(page(`${object.metadata.name}-${i}`, { text: 'hello' }));
    const mine = cache.byIndex(Page, 'controller', object.metadata.uid);
    for (const extra of mine.filter(({ metadata }) => Number(metadata.name.split('-')[1]) >= wanted)) {
      await remove(extra);
    }
    await status({ pages: wanted });
  });
  server.put(Site, site('a', { pages: 2 }));
  const running = start();
  await settle();
  const owner = server.peek(Site, 'ns/a') as StoredObject<Site>;
  expect(server.peek(Page, 'ns/a-1')).toMatchObject({
    data: { text: 'hello' },
    metadata: { ownerReferences: [controllerReference(owner)] },
  });
  expect(owner.status).toEqual({ pages: 2 });

  server.put(Page, { ...(server.peek(Page, 'ns/a-0') as Page), data: { text: 'by hand' } });
  server.remove(Page, 'ns/a-1');
  await settle();
  expect(server.peek(Page, 'ns/a-0')?.data).toEqual({ text: 'hello' });
  expect(server.peek(Page, 'ns/a-1')?.data).toEqual({ text: 'hello' });

  server.put(Site, { ...(server.peek(Site, 'ns/a') as Site), spec: { pages: 1 } });
  await settle();
  expect(server.all(Page).map(({ metadata }) => metadata.name)).toEqual(['a-0']);
  expect(server.peek(Site, 'ns/a')?.status).toEqual({ pages: 1 });

  const writes = server.writes.filter(({ verb }) => verb === 'apply status').length;
  runtime().resync();
  await settle();
  expect(server.writes.filter(({ verb }) => verb === 'apply status')).toHaveLength(writes);
  stop.abort();
  await running;
  expect(clock.pending).toBe(0);
});

test('an object of somebody else is left alone, and the error names who has it', async () => {
  const errors: unknown[] = [];
  const { server, stop, start, settle } = setUp(async ({ apply, create }) => {
    for (const [verb, name] of [
      [apply, 'theirs'],
      [create, 'theirs'],
      [apply, 'unseen'],
      [create, 'loose'],
    ] as const) {
      await verb(page(name, { mine: 'yes' })).catch((error: unknown) => errors.push(error));
    }
  });
  const other = server.put(Site, site('other'));
  server.put(Page, {
    ...page('theirs'),
    metadata: { namespace: 'ns', name: 'theirs', ownerReferences: [controllerReference(other)] },
  });
  server.put(Page, { ...page('loose'), metadata: { ...page('loose').metadata, managedFields: [{ manager: 'helm' }] } });
  server.remove(Site, 'ns/other');
  server.put(Site, site('a'));
  server.intercept = async ({ verb, key }) => {
    // Comes while the first request about it is on its way: no cache knows it.
    if (verb === 'get' && key === 'ns/unseen' && !server.peek(Page, key)) server.put(Page, page('unseen'));
  };
  const running = start();
  await settle();
  expect(errors.slice(0, 4).every((error) => error instanceof ForeignObjectError)).toBe(true);
  const holders = errors.slice(0, 4).map((error) => (error as ForeignObjectError).holder);
  expect(holders).toEqual([
    `belongs to Site other (uid ${other.metadata.uid})`,
    `belongs to Site other (uid ${other.metadata.uid})`,
    'has no controlling owner',
    'has no controlling owner',
  ]);
  expect(server.writes.filter(({ verb }) => verb === 'apply')).toEqual([]);
  expect(server.all(Page).some((stored) => stored['data'] !== undefined && 'mine' in (stored['data'] as object))).toBe(
    false,
  );
  stop.abort();
  await running;
});

test('an object that vanished is not made anew by accident, but by the next pass', async () => {
  let first = true;
  const { server, stop, lines, start, settle } = setUp(async ({ apply, cache }) => {
    if (first && cache.get(Page, 'ns/x')) {
      first = false;
      server.loses = () => true;
      server.remove(Page, 'ns/x');
    }
    await apply(page('x', { made: first ? 'first' : 'again' }));
  });
  server.put(Site, site('a'));
  const running = start();
  await settle();
  expect(lines.some(({ message }) => message.includes('conflict'))).toBe(true);
  expect(server.peek(Page, 'ns/x')).toBeUndefined();
  server.loses = () => false;
  server.expire();
  await settle();
  expect(server.peek(Page, 'ns/x')?.data).toEqual({ made: 'again' });
  stop.abort();
  await running;
});

test('an object that was made anew by somebody else meanwhile is not taken over', async () => {
  let again = false;
  const errors: unknown[] = [];
  const { server, stop, lines, start, settle } = setUp(async ({ apply, cache }) => {
    if (again && cache.get(Page, 'ns/x')?.metadata.ownerReferences) {
      server.remove(Page, 'ns/x');
      server.put(Page, page('x', { made: 'by somebody else' }));
    }
    await apply(page('x', { made: 'by us' })).catch((error: unknown) => {
      errors.push(error);
      throw error;
    });
  });
  server.put(Site, site('a'));
  const running = start();
  await settle();
  again = true;
  server.put(Site, site('a', { pages: 1 }));
  await settle();
  expect(errors.map((error) => (error as { code?: unknown }).code)).toEqual([409, 'FOREIGN_OBJECT']);
  expect(lines.some(({ message }) => message.includes('conflict'))).toBe(true);
  expect(server.peek(Page, 'ns/x')?.data).toEqual({ made: 'by somebody else' });
  stop.abort();
  await running;
});

test('what is generated once is kept, also when the cache does not know it yet', async () => {
  let generated = 0;
  const { server, stop, start, settle, runtime } = setUp(async ({ create }) => {
    const kept = await create(page('password', { value: `secret-${++generated}` }));
    expect(kept.data).toEqual({ value: 'secret-1' });
  });
  server.put(Site, site('a'));
  server.loses = (event) => event.type !== 'BOOKMARK' && event.object.kind === 'Page';
  const running = start();
  await settle();
  expect(generated).toBe(2);
  stop.abort();
  await running;
  expect(runtime().cache.get(Page, 'ns/password')?.data).toEqual({ value: 'secret-1' });
  expect(server.writes.filter(({ verb }) => verb === 'create')).toHaveLength(1);
});

test('a change of what is referred to wakes who refers to it, also across a change of the reference', async () => {
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

test('what may only be seen by name is followed by name, for as long as somebody refers to it', async () => {
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
  server.remove(Site, 'ns/a');
  await clock.advance(1000);
  const asked = server.requests.filter(({ kind }) => kind === 'Hidden').length;
  await clock.advance(3_600_000);
  expect(server.requests.filter(({ kind }) => kind === 'Hidden')).toHaveLength(asked);
  stop.abort();
  await running;
});

test('an API that is installed later is picked up, and wakes everybody who waits for it', async () => {
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
      return after(60_000);
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
  error = undefined;
  await clock.advance(1000);
  const calm = passes.length;
  await clock.advance(600_000);
  expect(passes.length - calm).toBe(10);
  stop.abort();
  await running;
  const text = await registry.metrics();
  expect(text).toContain('controller_runtime_terminal_reconcile_errors_total{controller="site"} 1');
  expect(text).toContain('controller_runtime_reconcile_panics_total{controller="site"} 1');
  expect(text).toMatch(/controller_runtime_reconcile_total\{controller="site",result="requeue_after"\} 1[01]/);
  expect(text).toContain('workqueue_depth{name="site",controller="site"} 0');
  expect(text).toContain('controller_runtime_max_concurrent_reconciles{controller="site"} 4');
});

test('stopping lets running passes end, and starts none', async () => {
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

test('a pass that does not end is broken off when the process stops', async () => {
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
