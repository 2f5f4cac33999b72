import { expect, test } from 'vitest';
import { courses } from './courses.ts';
import { killEverywhere, sample } from './crash-points.ts';
import { lifeWith } from './life.ts';
import { live } from './live.ts';

const all = process.env['CRASH_POINTS'] === 'all';

/**
 * Tries points of what comes after the rollout: every one with `CRASH_POINTS=all`, a part of them in `make test`.
 * Each course has a file of its own: these run side by side.
 */
export function takeCourse(name: keyof typeof courses): void {
  test(`an operator that is killed while a cloud takes its course (${name}) leaves the same objects`, async () => {
    const phases = lifeWith(courses[name]);
    const undisturbed = await live(phases);
    const later = undisturbed.points.filter((point) => !/^(start|rollout): /.test(point));
    const { points, chains, single } = await killEverywhere(phases, undisturbed, all ? later : sample(later, 10));
    console.log(`${name}: ${points} of ${later.length} points: ${chains} lives of many deaths, ${single} of one`);
    for (const { name: phase } of phases) expect(undisturbed.ends.has(phase)).toBe(true);
    expect(later.length).toBeGreaterThan(50);
  }, 1_200_000);
}
