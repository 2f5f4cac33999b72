import { expect, test } from 'vitest';
import { sleep } from './clock.ts';
import { virtualClock } from './virtual-clock.ts';

test('an hour passes at once, in the order of the timers', async () => {
  const clock = virtualClock({ start: 0 });
  const seen: string[] = [];
  clock.after(3_600_000, () => seen.push('hour'));
  clock.after(1000, () => seen.push('second'));
  clock.after(1000, () => seen.push('second, set later'));
  clock.after(500, () => seen.push('cancelled')).cancel();
  await clock.run(() => seen.length === 3);
  expect(seen).toEqual(['second', 'second, set later', 'hour']);
  expect(clock.now()).toBe(3_600_000);
  expect(clock.pending).toBe(0);
});

test('promises come to rest before time moves', async () => {
  const clock = virtualClock({ start: 0 });
  let woken = -1;
  void (async () => {
    await sleep(clock, 10);
    for (let i = 0; i < 50; i++) await Promise.resolve();
    await sleep(clock, 10);
    woken = clock.now();
  })();
  clock.after(15, () => {});
  await clock.run(() => woken >= 0);
  expect(woken).toBe(20);
});

test('advance stops exactly at its time', async () => {
  const clock = virtualClock({ start: 0 });
  let ticks = 0;
  const tick = () => {
    ticks++;
    clock.after(10, tick);
  };
  tick();
  await clock.advance(35);
  expect([ticks, clock.now()]).toEqual([4, 35]);
});

test('says so when nothing is left to wait for, when the limit is reached, when time stands still', async () => {
  const clock = virtualClock();
  await expect(clock.run(() => false)).rejects.toThrow('nothing is left to wait for at 2026-01-01T00:00:00.000Z');
  clock.after(60_000, () => {});
  await expect(clock.run(() => false, { limit: 1000 })).rejects.toThrow('still false after 1 s; 1 timers are pending');
  const spin = () => {
    clock.after(0, spin);
  };
  spin();
  await expect(clock.run(() => false)).rejects.toThrow('timers fired while time stood still');
});
