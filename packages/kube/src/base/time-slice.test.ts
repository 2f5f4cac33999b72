import { expect, test } from 'vitest';
import { WorkQueue } from '../controller/queue.ts';
import { type Clock, realClock } from './clock.ts';
import { seededRandom } from './random.ts';
import { TimeSlice } from './time-slice.ts';

interface EventLoop {
  readonly clock: Clock;
  readonly work: (ms: number) => void;
  /** Goes round until nothing is left to do; gives the longest round in ms. */
  readonly run: () => Promise<{ longest: number }>;
}

/** An event loop whose time moves by nothing but work. */
function eventLoop(): EventLoop {
  let now = 0;
  let immediates: (() => void)[] = [];
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    after: (_, callback) => {
      clock.immediate(callback);
      return { cancel() {} };
    },
    immediate: (callback) => void immediates.push(callback),
  };
  return {
    clock,
    work: (ms: number) => {
      now += ms;
    },
    run: async () => {
      let longest = 0;
      for (let begun = -1; begun < now || immediates.length > 0; ) {
        begun = now;
        for (const callback of immediates.splice(0)) callback();
        // All promises come to rest.
        await new Promise<void>((resolve) => realClock.immediate(resolve));
        longest = Math.max(longest, now - begun);
      }
      return { longest };
    },
  };
}

test.each([1, 10, 40])(
  '%i queues together hold the event loop for no longer than a slice and two pieces of work',
  async (count) => {
    const { clock, work, run } = eventLoop();
    const slice = new TimeSlice(clock);
    const done: string[] = [];
    for (let q = 0; q < count; q++) {
      const queue = new WorkQueue({ clock, random: seededRandom(q), slice });
      queue.start(4, async (key) => {
        // One piece before the first turn, one after it.
        work(8);
        await slice.turn();
        work(8);
        done.push(`${q}/${key}`);
      });
      for (let i = 0; i < 10; i++) queue.add(`k${i}`);
    }
    const { longest } = await run();
    expect(new Set(done).size).toBe(count * 10);
    expect(longest).toBeLessThanOrEqual(10 + 2 * 8);
  },
);

test('every queue gets its turn: none waits for another to be empty', async () => {
  const { clock, work, run } = eventLoop();
  const slice = new TimeSlice(clock);
  const order: number[] = [];
  for (let q = 0; q < 3; q++) {
    const queue = new WorkQueue({ clock, random: seededRandom(q), slice });
    queue.start(1, async () => {
      work(20);
      order.push(q);
    });
    for (let i = 0; i < 20; i++) queue.add(`k${i}`);
  }
  await run();
  for (let i = 0; i < 60; i += 3) expect(new Set(order.slice(i, i + 3)).size).toBe(3);
});

test('work that is short goes on at once', async () => {
  const { clock, work, run } = eventLoop();
  const slice = new TimeSlice(clock);
  for (let i = 0; i < 10; i++) {
    expect(slice.turn()).toBeUndefined();
    work(1);
  }
  work(1);
  const turn = slice.turn();
  expect(turn).toBeInstanceOf(Promise);
  await run();
  await turn;
  expect(slice.turn()).toBeUndefined();
});
