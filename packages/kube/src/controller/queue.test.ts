import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { sleep } from '../base/clock.ts';
import { seededRandom } from '../base/random.ts';
import { virtualClock } from '../base/virtual-clock.ts';
import { WorkQueue } from './queue.ts';

function setUp(seed = 1) {
  const clock = virtualClock({ start: 0 });
  return { clock, queue: new WorkQueue({ clock, random: seededRandom(seed) }) };
}

const action = fc.record({
  at: fc.nat(50),
  do: fc.constantFrom('add', 'later', 'retry', 'forget'),
  key: fc.constantFrom('ns/a', 'ns/b', 'c'),
  ms: fc.nat(30),
});

test('no key is worked on twice at once; every wish is met by work that begins after it; nothing is left', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { maxLength: 40 }),
      fc.integer({ min: 1, max: 3 }),
      fc.nat(),
      async (actions, workers, seed) => {
        const { clock, queue } = setUp(seed);
        const random = seededRandom(seed);
        const running = new Set<string>();
        const begun = new Map<string, number[]>();
        queue.start(workers, async (key) => {
          expect(running.has(key)).toBe(false);
          expect(running.size).toBeLessThan(workers);
          running.add(key);
          begun.set(key, [...(begun.get(key) ?? []), clock.now()]);
          await sleep(clock, Math.floor(random.next() * 20));
          running.delete(key);
        });
        const wishes: { key: string; at: number; by: number }[] = [];
        for (const { at, do: what, key, ms } of actions) {
          clock.after(at, () => {
            if (what === 'forget') return queue.forget(key);
            if (what === 'add') queue.add(key);
            const delay = what === 'later' ? ms : what === 'retry' ? queue.addRateLimited(key) : 0;
            if (what === 'later') queue.addAfter(key, ms);
            wishes.push({ key, at, by: at + delay });
          });
        }
        await clock.run(() => clock.now() >= 50 || clock.pending === 0, { limit: 60 }).catch(() => {});
        await clock.advance(3_000_000);
        for (const { key, at } of wishes) expect(begun.get(key)?.some((time) => time >= at)).toBe(true);
        for (const key of ['ns/a', 'ns/b', 'c']) queue.forget(key);
        expect([queue.depth, queue.active, queue.delayed, queue.failing]).toEqual([0, 0, 0, 0]);
        expect(clock.pending).toBe(0);
      },
    ),
    { numRuns: 200 },
  );
});

test('a key that is added while it waits runs once, while it runs once more, in the order of coming', async () => {
  const { clock, queue } = setUp();
  const log: string[] = [];
  queue.add('a');
  queue.add('b');
  queue.add('a');
  queue.start(1, async (key) => {
    log.push(key);
    if (log.length === 1) for (const again of ['a', 'a', 'b', 'c']) queue.add(again);
    await sleep(clock, 10);
  });
  await clock.advance(1000);
  expect(log).toEqual(['a', 'b', 'a', 'c']);
});

test('whoever adds a key runs nobody else’s code', async () => {
  const { clock, queue } = setUp();
  let ran = false;
  queue.start(1, async () => {
    ran = true;
  });
  queue.add('a');
  expect(ran).toBe(false);
  await clock.advance(0);
  expect(ran).toBe(true);
});

test('the back-off doubles from 5 ms to 1000 s, and begins anew after forget', async () => {
  const { clock, queue } = setUp();
  const delays: number[] = [];
  queue.start(1, async (key) => {
    if (delays.length < 22) delays.push(queue.addRateLimited(key));
    else queue.forget(key);
  });
  queue.add('a');
  await clock.advance(10_000_000);
  delays.forEach((delay, i) => {
    expect(delay).toBeGreaterThanOrEqual(Math.min(1_000_000, 5 * 2 ** i));
    expect(delay).toBeLessThanOrEqual(Math.min(1_000_000, 5 * 2 ** i * 1.5));
  });
  expect(queue.failing).toBe(0);
  expect(queue.addRateLimited('a')).toBeLessThan(8);
});

test('of several delays the earliest counts; work that begins before drops them', async () => {
  const { clock, queue } = setUp();
  const times: number[] = [];
  queue.start(1, async () => {
    times.push(clock.now());
  });
  queue.addAfter('a', 500);
  queue.addAfter('a', 100);
  queue.addAfter('a', 900);
  await clock.advance(2000);
  queue.addAfter('a', 500);
  queue.add('a');
  await clock.advance(2000);
  expect(times).toEqual([100, 2000]);
});

test('stop waits for what runs and begins nothing more', async () => {
  const { clock, queue } = setUp();
  const log: string[] = [];
  queue.start(1, async (key) => {
    log.push(`begin ${key}`);
    await sleep(clock, 100);
    log.push(`end ${key}`);
  });
  queue.add('a');
  queue.add('b');
  queue.addAfter('c', 50);
  await clock.advance(10);
  void queue.stop().then(() => log.push('stopped'));
  queue.add('d');
  await clock.advance(1000);
  expect(log).toEqual(['begin a', 'end a', 'stopped']);
});

test('the longest work is the oldest that runs', async () => {
  const { clock, queue } = setUp();
  queue.start(2, (key) => sleep(clock, key === 'slow' ? 1000 : 100));
  queue.add('slow');
  expect(queue.longest).toBe(0);
  await clock.advance(400);
  queue.add('quick');
  await clock.advance(50);
  expect(queue.longest).toBe(450);
  await clock.advance(1000);
  expect(queue.longest).toBe(0);
});

test('work that never waits lets timers have their turn', async () => {
  // A clock that moves while work is done, as the real one does.
  const virtual = virtualClock({ start: 0 });
  let spent = 0;
  const clock = { ...virtual, monotonic: () => virtual.monotonic() + spent };
  const queue = new WorkQueue({ clock, random: seededRandom(1) });
  let done = 0;
  let atTimer = -1;
  for (let i = 0; i < 100; i++) queue.add(`k${i}`);
  virtual.after(0, () => {
    atTimer = done;
  });
  queue.start(1, async () => {
    spent += 5;
    done++;
  });
  await virtual.run(() => done === 100 && atTimer >= 0);
  expect(atTimer).toBeLessThan(5);
});

test('thousands of one namespace hold up those of another by one key', async () => {
  const { clock, queue } = setUp();
  const worked: string[] = [];
  for (let i = 0; i < 1000; i++) queue.add(`many/${i}`);
  queue.add('few/a');
  queue.add('few/b');
  queue.add('cluster-scoped');
  queue.start(1, async (key) => {
    worked.push(key);
    await sleep(clock, 60);
  });
  await clock.advance(400);
  expect(worked).toEqual(['many/0', 'few/a', 'cluster-scoped', 'many/1', 'few/b', 'many/2', 'many/3']);
  expect(queue.depth).toBe(996);
});
