import { virtualClock } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { processClock } from './process-clock.ts';
import { type Schedule, scheduleOf, shrink } from './schedule.ts';

test('a seed is a schedule, and seeds differ', () => {
  expect(scheduleOf(7)).toEqual(scheduleOf(7));
  expect(new Set(Array.from({ length: 50 }, (_, seed) => JSON.stringify(scheduleOf(seed).incidents))).size).toBe(50);
});

test('a failing schedule shrinks to what makes it fail', async () => {
  const incidents = ['a', 'b', 'c', 'd'].map((fault, index) => ({ fault, at: index, lasts: 16_000, seed: index }));
  const fails = async ({ incidents: left }: Schedule) =>
    left.some(({ fault, lasts }) => fault === 'b' && lasts >= 4000) && left.some(({ fault }) => fault === 'd');
  const least = await shrink({ seed: 1, cloud: 'cache', incidents }, fails);
  expect(least.incidents.map(({ fault, lasts }) => [fault, lasts])).toEqual([
    ['b', 4000],
    ['d', 500],
  ]);
});

test('a process that stands still misses nothing, and sees that time has passed', async () => {
  const clock = virtualClock();
  const process = processClock(clock);
  const begun = clock.now();
  const seen: [string, number][] = [];
  const note = (what: string) => () => seen.push([what, process.now() - begun]);
  process.after(1000, note('timer'));
  process.after(2000, note('cancelled')).cancel();
  process.freeze();
  void process.awake().then(note('answer'));
  await clock.advance(30_000);
  expect(seen).toEqual([]);
  process.thaw(true);
  await clock.advance(0);
  expect(seen).toEqual([
    ['answer', 30_000],
    ['timer', 30_000],
  ]);
  process.step(-5000);
  expect(process.now() - begun).toBe(25_000);
});
