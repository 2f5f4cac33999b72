import { expect, test } from 'vitest';
import { explain, play } from './play.ts';
import { scheduleOf } from './schedule.ts';

/** How many are played: FAULT_SCHEDULES, as `make test-faults` sets it; `make test` has its first part of them. */
const schedules = Number(process.env['FAULT_SCHEDULES'] ?? 50);

/** Plays every second schedule: two files of these run side by side. */
export function playHalf(first: 1 | 2): void {
  test(`${schedules / 2} schedules of faults end with the objects of an undisturbed cloud`, async () => {
    for (let seed: number = first; seed <= schedules; seed += 2) {
      const schedule = scheduleOf(seed);
      const found = await play(schedule);
      if (found.length > 0) expect.fail(await explain(schedule, found));
    }
  }, 1_200_000);
}
