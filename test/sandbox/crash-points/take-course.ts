import { expect, test } from 'vitest';
import { type Course, courses } from './courses.ts';
import { killEverywhere, sample } from './crash-points.ts';
import { lifeWith } from './life.ts';
import { live } from './live.ts';

const wanted = process.env['CRASH_POINTS'];
const all = wanted === 'all' || wanted === 'every';

/**
 * Tries points of a cloud's rollout and of what comes after it: with `CRASH_POINTS=all` as many as the course says, with
 * `CRASH_POINTS=every` every one, which takes long, and a few in `make test`. Each course has a file of its own: these run side by side.
 */
export function takeCourse(name: keyof typeof courses): void {
  const course: Course = courses[name];
  const title = `an operator that is killed while a cloud takes its course (${name}) leaves the same objects`;
  test.skipIf(course.isApart && !all)(
    title,
    async () => {
      const phases = lifeWith(course);
      const undisturbed = await live(phases);
      const known = undisturbed.points;
      const chosen = sample(known, all ? (wanted === 'all' && course.most) || known.length : 10);
      const { points, chains, single } = await killEverywhere(phases, undisturbed, chosen);
      console.log(`${name}: ${points} of ${known.length} points: ${chains} lives of many deaths, ${single} of one`);
      for (const { name: phase } of phases) expect(undisturbed.ends.has(phase)).toBe(true);
      expect(known.length).toBeGreaterThan(100);
    },
    3_600_000,
  );
}
