import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { noLog } from '../base/log.ts';
import { seededRandom } from '../base/random.ts';
import { virtualClock } from '../base/virtual-clock.ts';
import { Cache } from '../cache/cache.ts';
import type { Client } from '../client/api.ts';
import { createClient } from '../client/client.ts';
import { FakeServer } from '../testing/fake-server.ts';
import { Page, page } from '../testing/sites.ts';
import type { Transport } from '../transport/transport.ts';
import { guardedClient, LeadershipLostError } from './guarded-client.ts';

const me = { fieldManager: 'me' };
const x = { namespace: 'ns', name: 'x' };

async function setUp() {
  const clock = virtualClock();
  const server = new FakeServer(clock);
  const cache = new Cache({ client: server.client, clock, random: seededRandom(1), log: noLog });
  cache.watch(Page);
  cache.start();
  await cache.untilSynced();
  // From here on the watch says nothing: what the cache knows it knows from our writes.
  server.loses = () => true;
  const lost = new AbortController();
  let left = 15_000;
  const client = guardedClient({
    client: server.client,
    cache,
    clock,
    signal: new AbortController().signal,
    leadership: {
      signal: lost.signal,
      left: () => {
        if (left <= 0) throw new LeadershipLostError('too late');
        return left;
      },
    },
  });
  const setLeft = (ms: number) => {
    left = ms;
  };
  return { clock, server, cache, client, lost, setLeft };
}

test('every write’s answer is in the cache, except of a dry run', async () => {
  const { server, cache, client } = await setUp();
  const value = () => cache.get(Page, 'ns/x')?.data?.['value'];
  await client.create(Page, page('x', { value: '1' }), { dryRun: true });
  expect(value()).toBeUndefined();
  const made = await client.apply(Page, page('x', { value: '2' }), me);
  expect(value()).toBe('2');
  await client.replace(Page, { ...made, data: { value: '3' } });
  expect(value()).toBe('3');
  await client.patch(Page, x, 'merge', { data: { value: '4' } });
  expect(value()).toBe('4');
  await client.delete(Page, x);
  expect(cache.get(Page, 'ns/x')).toBeUndefined();
  server.put(Page, page('x'));
  await client.patch(Page, x, 'merge', { data: { value: '5' } });
  expect(value()).toBe('5');
});

test('an object that we wanted to delete and that is gone already is gone from the cache', async () => {
  const { server, cache, client } = await setUp();
  await client.create(Page, page('x'));
  server.remove(Page, 'ns/x');
  await expect(client.delete(Page, x)).rejects.toThrow('not found');
  expect(cache.get(Page, 'ns/x')).toBeUndefined();
});

/** Every write that a client offers. */
const writesOf = (client: Client): readonly (() => Promise<unknown>)[] => [
  () => client.create(Page, page('x')),
  () => client.replace(Page, page('x')),
  () => client.apply(Page, page('x'), me),
  () => client.patch(Page, x, 'merge', {}),
  () => client.delete(Page, x),
  () => client.deleteCollection(Page, {}),
];

test('without leadership no write is sent', async () => {
  const { server, client, setLeft } = await setUp();
  setLeft(0);
  for (const write of writesOf(client)) {
    await expect(write()).rejects.toThrow('too late');
  }
  expect(server.writes).toEqual([]);
});

test('a write that is to be tried again is not, once leadership has run out', async () => {
  const { clock, cache } = await setUp();
  let attempts = 0;
  let left = 15_000;
  const transport: Transport = {
    request: async () => {
      attempts++;
      return { status: 429, headers: { 'retry-after': '2' }, body: Readable.from([]) };
    },
    close: async () => {},
  };
  const never = new AbortController().signal;
  const client = guardedClient({
    client: createClient({ transport, clock }),
    cache,
    clock,
    signal: never,
    leadership: {
      signal: never,
      left: () => {
        if (left <= 0) throw new LeadershipLostError('too late');
        return left;
      },
    },
  });
  for (const write of writesOf(client)) {
    [attempts, left] = [0, 15_000];
    const outcome = write().catch((error: unknown) => error);
    await clock.advance(1000);
    left = 0;
    await clock.advance(5000);
    expect([attempts, await outcome]).toEqual([1, new LeadershipLostError('too late')]);
  }
});

test('a write that runs when leadership is lost is aborted', async () => {
  const { clock, server, client, lost } = await setUp();
  server.latency = 1000;
  const before = clock.pending;
  const outcome = client.apply(Page, page('x'), me).catch((error: unknown) => error);
  await clock.advance(500);
  lost.abort(new LeadershipLostError('lost'));
  expect(await outcome).toEqual(new LeadershipLostError('lost'));
  expect(clock.pending).toBe(before);
});

test('no write is waited for longer than the lease lasts', async () => {
  const { clock, server, client, setLeft } = await setUp();
  server.latency = 60_000;
  setLeft(7000);
  const begun = clock.now();
  let ended = 0;
  const outcome = client.apply(Page, page('x'), me).catch((error: unknown) => {
    ended = clock.now() - begun;
    return error;
  });
  await clock.advance(20_000);
  expect([ended, String(await outcome)]).toEqual([7000, 'ConnectionError: no answer to a write within 7000 ms']);
});
