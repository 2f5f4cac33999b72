import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { Clock } from '../base/clock.ts';
import { noLog } from '../base/log.ts';
import { seededRandom } from '../base/random.ts';
import { type VirtualClock, virtualClock } from '../base/virtual-clock.ts';
import type { Client } from '../client/api.ts';
import { controller } from '../controller/controller.ts';
import { run } from '../controller/run.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { ConnectionError } from '../objects/errors.ts';
import { Lease } from '../objects/kinds.ts';
import { defineKind } from '../objects/objects.ts';
import { FakeServer } from '../testing/fake-server.ts';
import { LeaderElection } from './leader-election.ts';

const Thing = defineKind('test.example/v1', 'Thing', 'things');
const thing = (name: string) => ({ apiVersion: 'test.example/v1', kind: 'Thing', metadata: { namespace: 'ns', name } });

/** A machine's clock that was set to another time. */
function skewed(clock: VirtualClock, skew: () => number): Clock {
  return { ...clock, now: () => clock.now() + skew() };
}

function cuttable(client: Client, offline: () => boolean): Client {
  return {
    ...client,
    replace: async (...request) => {
      if (offline()) throw new ConnectionError('ECONNREFUSED', 'offline');
      return client.replace(...request);
    },
  };
}

function candidate(identity: string, { client }: { client: Client }, clock: VirtualClock, skew = 0) {
  return new LeaderElection(
    { namespace: 'ns', name: 'lease', identity },
    { client, clock: skewed(clock, () => skew), random: seededRandom(identity.length), log: noLog },
  );
}

function setUp() {
  const clock = virtualClock();
  const server = new FakeServer(clock);
  const spec = () => server.peek(Lease, 'ns/lease')?.spec;
  return { clock, server, spec };
}

test('the first takes the lease and renews it; its times have six digits', async () => {
  const { clock, server, spec } = setUp();
  const one = candidate('one', server, clock);
  await one.acquire();
  expect(spec()).toEqual({
    holderIdentity: 'one',
    leaseDurationSeconds: 15,
    acquireTime: '2026-01-01T00:00:00.000000Z',
    renewTime: '2026-01-01T00:00:00.000000Z',
    leaseTransitions: 0,
  });
  await clock.advance(60_000);
  expect(one.leading).toBe(true);
  expect(one.left()).toBeGreaterThan(12_000);
  expect(spec()).toMatchObject({
    acquireTime: '2026-01-01T00:00:00.000000Z',
    renewTime: '2026-01-01T00:01:00.000000Z',
  });
  await one.release();
  expect(clock.pending).toBe(0);
});

test.each([0, 3_600_000, -3_600_000])(
  'the second waits as long as the first lives, with clocks %d ms apart',
  async (skew) => {
    const { clock, server, spec } = setUp();
    let offline = false;
    const one = candidate('one', { client: cuttable(server.client, () => offline) }, clock);
    const two = candidate('second', server, clock, skew);
    await one.acquire();
    const stop = new AbortController();
    const waiting = two.acquire(stop.signal);
    await clock.advance(120_000);
    expect([one.leading, two.leading]).toEqual([true, false]);
    expect(() => two.left()).toThrow('does not hold the lease');
    // The first one's machine loses its network.
    let lostAt = 0;
    one.signal.addEventListener('abort', () => {
      lostAt = clock.now();
    });
    const cut = clock.now();
    offline = true;
    await clock.run(() => two.leading);
    await waiting;
    expect(lostAt - cut).toBeLessThanOrEqual(10_000);
    expect(clock.now() - lostAt).toBeGreaterThanOrEqual(5000);
    expect(clock.now() - cut).toBeLessThan(21_000);
    expect(spec()).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 });
    expect(() => one.left()).toThrow('does not hold the lease');
    await two.release();
  },
);

test('a released lease is taken at once', async () => {
  const { clock, server, spec } = setUp();
  const one = candidate('one', server, clock);
  const two = candidate('second', server, clock);
  await one.acquire();
  const waiting = two.acquire();
  await clock.advance(10_000);
  await one.release();
  expect(spec()).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
  expect(one.signal.aborted).toBe(true);
  const released = clock.now();
  await clock.run(() => two.leading);
  await waiting;
  expect(clock.now() - released).toBeLessThan(5000);
  await two.release();
});

test('a lease that somebody takes by force is noticed with the next renewal', async () => {
  const { clock, server } = setUp();
  const one = candidate('one', server, clock);
  await one.acquire();
  await clock.advance(5000);
  const lease = server.peek(Lease, 'ns/lease') as Lease;
  server.put(Lease, { ...lease, spec: { ...lease.spec, holderIdentity: 'thief' } });
  await clock.advance(2100);
  expect([one.leading, one.signal.aborted]).toEqual([false, true]);
  expect(String(one.signal.reason)).toContain('"thief" holds the lease');
});

test('a leader that comes back in the last moment stays leader', async () => {
  const { clock, server, spec } = setUp();
  const held = (renewTime: string): Lease => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: 'ns', name: 'lease' },
    spec: { holderIdentity: 'one', leaseDurationSeconds: 15, renewTime },
  });
  server.put(Lease, held('2026-01-01T00:00:00.000000Z'));
  const two = candidate('second', server, clock);
  const waiting = two.acquire();
  let cameBack = 0;
  server.intercept = ({ verb }) => {
    if (verb !== 'replace' || cameBack > 0) return;
    cameBack = clock.now();
    server.put(Lease, held('2026-01-01T00:00:17.000000Z'));
  };
  await clock.run(() => cameBack > 0);
  await clock.advance(14_000);
  expect(spec()?.holderIdentity).toBe('one');
  await clock.run(() => two.leading);
  await waiting;
  await two.release();
});

test('many candidates at once: one leads', async () => {
  const { clock, server } = setUp();
  server.latency = 30;
  const all = Array.from({ length: 10 }, (_, i) => candidate(`c${'x'.repeat(i)}`, server, clock));
  const stop = new AbortController();
  const waiting = all.map((one) => one.acquire(stop.signal).catch(() => {}));
  for (let i = 0; i < 60; i++) {
    await clock.advance(1000);
    expect(all.filter(({ leading }) => leading).length).toBeLessThanOrEqual(1);
  }
  expect(all.filter(({ leading }) => leading)).toHaveLength(1);
  stop.abort();
  server.latency = 0;
  const ended = Promise.all([...waiting, ...all.map((one) => one.release())]);
  await clock.advance(1000);
  await ended;
  expect(clock.pending).toBe(0);
});

test.each([
  ['a blocked process', { now: 9500, monotonic: 9500 }],
  ['a process that was stopped while the clock was set back', { now: -60_000, monotonic: 9500 }],
  ['a process of a machine that was suspended', { now: 9500, monotonic: 0 }],
])('%s that wakes up after its deadline writes nothing', async (_, passed) => {
  const { clock, server } = setUp();
  let asleep = { now: 0, monotonic: 0 };
  const own = {
    ...clock,
    now: () => clock.now() + asleep.now,
    monotonic: () => clock.monotonic() + asleep.monotonic,
  };
  const one = new LeaderElection(
    { namespace: 'ns', name: 'lease', identity: 'one' },
    { client: server.client, clock: own, random: seededRandom(1), log: noLog },
  );
  await one.acquire();
  await clock.advance(1000);
  expect(one.left()).toBe(14_000);
  // No timer fires in this time.
  asleep = passed;
  expect(() => one.left()).toThrow('does not hold the lease');
  expect(one.signal.aborted).toBe(true);
});

test('leadership lost in the middle: no write is begun afterwards, and run says so', async () => {
  const { clock, server } = setUp();
  server.put(Thing, thing('a'));
  const registry = new Registry();
  let passes = 0;
  const running = run({
    name: 'test',
    controllers: [
      controller(Thing, {
        reconcile: async ({ client, clock }) => {
          passes++;
          for (let i = 0; ; i++) {
            await client.apply(Thing, { ...thing('written'), count: i }, { fieldManager: 'test' });
            await new Promise<void>((resolve) => void clock.after(500, resolve));
          }
        },
      }),
    ],
    client: server.client,
    clock,
    random: seededRandom(1),
    log: noLog,
    metrics: createMetrics(registry),
    signal: new AbortController().signal,
    leaderElection: { namespace: 'ns', name: 'lease', identity: 'one' },
  });
  const outcome = running.then(
    () => 'ended',
    (error: unknown) => String(error),
  );
  await clock.advance(30_000);
  expect(await registry.metrics()).toContain('leader_election_master_status{name="lease"} 1');
  let cutAt = 0;
  server.intercept = ({ kind, verb }) => {
    if (kind === 'Lease' && verb !== 'get') {
      cutAt ||= clock.now();
      throw new ConnectionError('ECONNRESET', 'gone');
    }
  };
  await clock.advance(60_000);
  expect(await outcome).toContain('LeadershipLostError: leadership is lost: the lease was not renewed in time');
  const things = server.writes.filter(({ kind }) => kind === 'Thing');
  expect(things.length).toBeGreaterThan(60);
  // The last renewal was sent at most one retry period before the cut.
  expect(things.at(-1)?.at).toBeLessThanOrEqual(cutAt + 10_000);
  expect(passes).toBeGreaterThan(0);
  expect(await registry.metrics()).toContain('leader_election_master_status{name="lease"} 0');
  expect(clock.pending).toBe(0);
});

test('a standby has warm caches, and works when the leader is gone', async () => {
  const { clock, server } = setUp();
  server.put(Thing, thing('a'));
  const passes: string[] = [];
  const start = (identity: string, signal: AbortSignal) =>
    run({
      name: 'test',
      controllers: [
        controller(Thing, {
          reconcile: async ({ key }) => {
            passes.push(`${identity} ${key}`);
          },
        }),
      ],
      client: server.client,
      clock,
      random: seededRandom(identity.length),
      log: noLog,
      signal,
      leaderElection: { namespace: 'ns', name: 'lease', identity },
    });
  const [first, second] = [new AbortController(), new AbortController()];
  const one = start('one', first.signal);
  await clock.advance(0);
  const two = start('second', second.signal);
  await clock.advance(60_000);
  expect(passes).toEqual(['one ns/a']);
  const lists = server.requests.filter(({ verb }) => verb === 'watch').length;
  first.abort();
  await clock.run(() => passes.length === 2, { limit: 5000 });
  await one;
  expect(passes).toEqual(['one ns/a', 'second ns/a']);
  expect(server.requests.filter(({ verb }) => verb === 'watch')).toHaveLength(lists);
  second.abort();
  await clock.advance(1000);
  await two;
  expect(clock.pending).toBe(0);
});
