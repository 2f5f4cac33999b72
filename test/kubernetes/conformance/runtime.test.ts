import {
  ConfigMap,
  CustomResourceDefinition,
  controller,
  createEventRecorder,
  createLog,
  defineKind,
  ForeignObjectError,
  type KubeObject,
  LeaderElection,
  Lease,
  noLog,
  type ReconcileContext,
  type Runtime,
  realClock,
  realRandom,
  run,
  type StoredObject,
  sleep,
} from '@openstack-operator/kube';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestServer, testServer, uniqueName } from './server.ts';
import { siteOf } from './site.ts';

interface Site extends KubeObject {
  spec: { pages: number };
  status?: { pages?: number };
}

const group = `${uniqueName('runtime')}.example`;
const { kind: Site, definition } = siteOf<Site>(group);

let server: TestServer;
let namespace: string;
beforeAll(async () => {
  server = await testServer();
  namespace = await server.namespace();
});
afterAll(async () => {
  await server.client.delete(CustomResourceDefinition, { name: `sites.${group}` }).catch(() => {});
});

/** Waits for news that come over the wire, at most 20 s. */
async function eventually(what: string, holds: () => unknown): Promise<void> {
  const end = realClock.now() + 20_000;
  while (!(await holds())) {
    if (realClock.now() > end) throw new Error(`not within 20 s: ${what}`);
    await sleep(realClock, 10);
  }
}

function page(name: string, text = 'hello'): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data: { text } };
}

const text = async (name: string) =>
  (await server.client.get(ConfigMap, { namespace, name }).catch(() => undefined))?.data?.['text'];

function start(reconcile: (context: ReconcileContext<Site>) => Promise<void>, client = server.client) {
  const stop = new AbortController();
  const lines: string[] = [];
  let runtime: Runtime | undefined;
  const running = run({
    name: 'conformance',
    controllers: [controller(Site, { owns: [ConfigMap], reconcile })],
    client,
    clock: realClock,
    random: realRandom,
    log: createLog({ clock: realClock, write: (line) => lines.push(line) }),
    signal: stop.signal,
    namespaces: [namespace],
    started: (started) => {
      runtime = started;
    },
  });
  const end = async () => {
    stop.abort();
    await running;
  };
  return { end, lines, runtime: () => runtime };
}

test('a controller waits for its API, makes what is stated, puts it right, and then writes nothing', async () => {
  const { end, runtime } = start(async ({ object, apply, status }) => {
    for (let i = 0; i < object.spec.pages; i++) await apply(page(`page-${i}`));
    await status({ pages: object.spec.pages });
  });
  await eventually('controllers work', runtime);
  await server.client.create(CustomResourceDefinition, definition);
  await eventually('the definition is served', () => server.client.list(Site, { namespace }).catch(() => undefined));
  const site = { apiVersion: `${group}/v1`, kind: 'Site', metadata: { namespace, name: 'a' }, spec: { pages: 2 } };
  const made = await server.client.create<Site>(Site, site);
  await eventually('the pages are there', () => text('page-1'));
  const one = await server.client.get(ConfigMap, { namespace, name: 'page-0' });
  expect(one.metadata.ownerReferences).toMatchObject([
    { kind: 'Site', name: 'a', uid: made.metadata.uid, controller: true },
  ]);

  await server.client.patch(ConfigMap, { namespace, name: 'page-0' }, 'merge', { data: { text: 'by hand' } });
  await server.client.delete(ConfigMap, { namespace, name: 'page-1' });
  await eventually('the field is corrected', async () => (await text('page-0')) === 'hello');
  await eventually('the object is corrected', async () => (await text('page-1')) === 'hello');

  const status = async () => (await server.client.get(Site, { namespace, name: 'a' })).status;
  await eventually('the status is told', async () => (await status())?.pages === 2);
  const versions = async () => {
    const pages = await server.client.list(ConfigMap, { namespace });
    const sites = await server.client.list(Site, { namespace });
    return [...pages.items, ...sites.items].map(({ metadata }) => metadata.resourceVersion);
  };
  await eventually('the queue is empty', () => runtime()?.idle);
  const before = await versions();
  runtime()?.resync();
  await eventually('the queue is empty', () => runtime()?.idle);
  expect(await versions()).toEqual(before);
  await end();
});

test('what somebody else deleted or made anew meanwhile is a conflict, and is not taken over', async () => {
  let blind = false;
  const seen: { code?: unknown; name: string }[] = [];
  // A watch that falls behind: what the controller knows is old.
  const client = {
    ...server.client,
    async *watch(...request: Parameters<typeof server.client.watch>) {
      for await (const event of server.client.watch(...request)) {
        if (!blind || event.type === 'BOOKMARK' || event.object.kind !== 'ConfigMap') yield event as never;
      }
    },
  };
  const { end } = start(async ({ object, apply }) => {
    if (object.spec.pages === 0) return;
    await apply(page('contested', `of ${object.spec.pages}`)).catch((error: Error & { code?: unknown }) => {
      seen.push({ code: error.code, name: error.name });
      throw error;
    });
  }, client);
  const ref = { namespace, name: 'contested' };
  const wake = (pages: number) => server.client.patch(Site, { namespace, name: 'a' }, 'merge', { spec: { pages } });
  await wake(3);
  await eventually('it is made', () => text('contested'));
  await eventually('the pass is over', async () => (await wake(4)) && (await text('contested')));

  blind = true;
  await server.client.delete(ConfigMap, ref);
  await wake(5);
  await eventually('the pass meets that it is gone', () => seen.length > 0);
  expect(seen[0]).toEqual({ code: 409, name: 'ApiError' });
  expect(await text('contested')).toBeUndefined();

  seen.length = 0;
  await server.client.create(ConfigMap, page('contested', 'by somebody else'));
  await wake(6);
  await eventually('the pass meets that it is another one', () => seen.length > 0);
  expect(seen[0]).toEqual({ code: 409, name: 'ApiError' });
  expect(await text('contested')).toBe('by somebody else');
  await wake(0);
  await end();

  const anew = start(async ({ apply }) => {
    await apply(page('contested')).catch((error: unknown) => {
      if (error instanceof ForeignObjectError) seen.push({ code: error.holder, name: error.name });
    });
  });
  await eventually('it is known as foreign', () => seen.some(({ name }) => name === 'ForeignObjectError'));
  expect(await text('contested')).toBe('by somebody else');
  await anew.end();
});

test('a deletion is bound to what is known: nothing newer, nothing of the same name', async () => {
  const old = await server.client.create(ConfigMap, page('precious'));
  await server.client.patch(ConfigMap, { namespace, name: 'precious' }, 'merge', { data: { text: 'changed' } });
  const refused: unknown[] = [];
  const { end } = start(async ({ remove }) => {
    await remove(old).catch((error: { code?: unknown }) => refused.push(error.code));
    await remove({ ...old, metadata: { ...old.metadata, name: 'never-was' } });
  });
  await eventually('it was tried', () => refused.length > 0);
  expect(refused[0]).toBe(409);
  expect(await text('precious')).toBe('changed');
  await end();
});

test('two candidates for one lease: the second leads as soon as the first gives it back', async () => {
  const candidate = (identity: string) =>
    new LeaderElection(
      { namespace, name: 'lease', identity, leaseDuration: 6000, renewDeadline: 4000, retryPeriod: 100 },
      { client: server.client, clock: realClock, random: realRandom, log: noLog },
    );
  const [one, two] = [candidate('one'), candidate('two')];
  await one.acquire();
  const second = two.acquire();
  await sleep(realClock, 500);
  expect([one.leading, two.leading]).toEqual([true, false]);
  await one.release();
  const released = await server.client.get(Lease, { namespace, name: 'lease' });
  expect(released.spec?.holderIdentity).not.toBe('one');
  await second;
  const lease = await server.client.get(Lease, { namespace, name: 'lease' });
  expect(lease.spec).toMatchObject({ holderIdentity: 'two', leaseTransitions: 1 });
  expect(lease.spec?.renewTime).toMatch(/\.\d{6}Z$/);
  await two.release();
});

test('events are taken, and counted as a series', async () => {
  const recorder = createEventRecorder({
    client: server.client,
    clock: realClock,
    random: realRandom,
    log: createLog({
      clock: realClock,
      write: (line) => {
        throw new Error(line);
      },
    }),
    controller: 'conformance.example/runtime',
    instance: 'conformance-0',
  });
  const about: StoredObject = await server.client.create(ConfigMap, page('eventful'));
  const events = async () => {
    const { items } = await server.client.list(defineKind('events.k8s.io/v1', 'Event', 'events'), { namespace });
    return items.filter((event) => (event['regarding'] as { uid?: string }).uid === about.metadata.uid);
  };
  const event = { type: 'Warning', reason: 'Lost', action: 'Search', note: 'ü'.repeat(800) } as const;
  recorder.record(about, event);
  await eventually('the event is there', async () => (await events()).length > 0);
  recorder.record(about, event);
  recorder.record(about, event);
  await recorder.close();
  const [one, ...more] = await events();
  expect(more).toEqual([]);
  expect(one).toMatchObject({ type: 'Warning', reason: 'Lost', action: 'Search', series: { count: 3 } });
});
