import { expect, test } from 'vitest';
import { sleep } from '../base/clock.ts';
import { noLog } from '../base/log.ts';
import { seededRandom } from '../base/random.ts';
import { virtualClock } from '../base/virtual-clock.ts';
import { defineKind, type StoredObject } from '../objects/objects.ts';
import { FakeServer, failure } from '../testing/fake-server.ts';
import { createEventRecorder } from './events.ts';

const Event = defineKind('events.k8s.io/v1', 'Event', 'events');
const text = { type: 'Normal', reason: 'DatabaseReady', action: 'Migrate', note: 'the database is there' } as const;

function about(name: string, namespace?: string): StoredObject {
  const metadata = { name, uid: `uid-${name}`, resourceVersion: '7', ...(namespace ? { namespace } : {}) };
  return { apiVersion: 'test.example/v1', kind: 'Thing', metadata };
}

function setUp() {
  const clock = virtualClock();
  const server = new FakeServer(clock);
  const recorder = createEventRecorder({
    client: server.client,
    clock,
    random: seededRandom(1),
    log: noLog,
    controller: 'test.example/operator',
    instance: 'operator-0',
  });
  return { clock, server, recorder, events: () => server.all(Event) };
}

test('an event says who, what, why about what', async () => {
  const { clock, recorder, events } = setUp();
  recorder.record(about('a', 'ns'), text);
  recorder.record(about('node'), { ...text, note: 'é'.repeat(2000) });
  await clock.advance(0);
  const [first, second] = events();
  expect(first).toMatchObject({
    metadata: { namespace: 'ns', name: expect.stringMatching(/^a\.[0-9a-f]{16}$/) },
    eventTime: '2026-01-01T00:00:00.000000Z',
    reportingController: 'test.example/operator',
    reportingInstance: 'operator-0',
    ...text,
    regarding: { apiVersion: 'test.example/v1', kind: 'Thing', namespace: 'ns', name: 'a', uid: 'uid-a' },
  });
  expect(second).toMatchObject({ metadata: { namespace: 'default' } });
  expect(Buffer.byteLength(String(second?.['note']))).toBeLessThanOrEqual(1024);
  expect(second?.['note']).toMatch(/^é+…$/);
  await recorder.close();
});

test('the same again becomes one event with a count, written seldom; a quiet series is forgotten', async () => {
  const { clock, server, recorder, events } = setUp();
  for (let i = 0; i < 100; i++) {
    recorder.record(about('a', 'ns'), text);
    await clock.advance(1000);
  }
  expect(events()).toHaveLength(1);
  expect(server.writes.length).toBeLessThan(5);
  await clock.advance(60_000);
  expect(events()[0]?.['series']).toEqual({ count: 100, lastObservedTime: '2026-01-01T00:01:39.000000Z' });
  await clock.advance(420_000);
  expect(clock.pending).toBe(0);
  recorder.record(about('a', 'ns'), text);
  await clock.advance(0);
  expect(events()).toHaveLength(2);
  await recorder.close();
});

test('closing writes what is counted', async () => {
  const { clock, recorder, events } = setUp();
  for (let i = 0; i < 3; i++) recorder.record(about('a', 'ns'), text);
  await recorder.close();
  expect(events()[0]?.['series']).toMatchObject({ count: 3 });
  expect(clock.pending).toBe(0);
});

test('counts reach the server in their order, however long each request is under way', async () => {
  const { clock, server, recorder, events } = setUp();
  const travels = [3000, 2000, 1000];
  server.intercept = () => sleep(clock, travels.shift() ?? 0);
  for (let i = 0; i < 3; i++) recorder.record(about('a', 'ns'), text);
  const closed = recorder.close();
  await clock.advance(10_000);
  await closed;
  expect(events()).toMatchObject([{ series: { count: 3 } }]);
});

test('one object cannot flood the cluster, and does not silence the others', async () => {
  const { clock, recorder, events } = setUp();
  for (let i = 0; i < 500; i++) recorder.record(about('noisy', 'ns'), { ...text, note: `${i}` });
  recorder.record(about('quiet', 'ns'), text);
  await clock.advance(0);
  expect(events()).toHaveLength(51);
  await clock.advance(30_000);
  for (let i = 500; i < 600; i++) recorder.record(about('noisy', 'ns'), { ...text, note: `${i}` });
  await clock.advance(0);
  expect(events()).toHaveLength(54);
  await recorder.close();
});

test('an API server that does not answer is sent a few events at once, and gets no more than a thousand to wait', async () => {
  const { clock, server, recorder, events } = setUp();
  let sent = 0;
  let running = 0;
  let most = 0;
  server.intercept = async () => {
    sent++;
    most = Math.max(most, ++running);
    await sleep(clock, 1000);
    running--;
  };
  for (let i = 0; i < 3000; i++) recorder.record(about(`thing-${i}`, 'ns'), text);
  await clock.advance(0);
  expect(sent).toBe(8);
  await clock.advance(200_000);
  expect([events().length, most]).toEqual([1000, 8]);
  server.intercept = () => Promise.resolve();
  recorder.record(about('late', 'ns'), text);
  await clock.advance(0);
  expect(events()).toHaveLength(1001);
  await recorder.close();
});

test('an event that is refused harms nobody', async () => {
  const { clock, server, recorder } = setUp();
  server.intercept = () => {
    throw failure(403, 'Forbidden', 'namespace ns is being terminated');
  };
  recorder.record(about('a', 'ns'), text);
  recorder.record({ apiVersion: 'v1', kind: 'Broken', metadata: {} } as unknown as StoredObject, text);
  await clock.advance(0);
  await recorder.close();
});
