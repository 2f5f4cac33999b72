import { describe, expect, test } from 'vitest';
import { killEverywhere, sample } from './crash-points.ts';
import { lifeOf, whole } from './life.ts';
import { live } from './live.ts';

const all = process.env['CRASH_POINTS'] === 'all';

/** What comes after the rollout. `CRASH_POINTS=all` tries every point, `make test` a part of them. */
describe('an operator that is killed while the whole minimal cloud is changed and deleted', async () => {
  const phases = lifeOf(whole);
  const undisturbed = await live(phases);
  const later = undisturbed.points.filter((point) => !/^(start|rollout): /.test(point));

  test('leaves the objects that an undisturbed one leaves', async () => {
    const { points, chains, single } = await killEverywhere(phases, undisturbed, all ? later : sample(later, 10));
    console.log(`${points} of ${later.length} points: ${chains} lives of many deaths, ${single} of one`);
    for (const { name } of phases) expect(undisturbed.ends.has(name)).toBe(true);
    expect(later.length).toBeGreaterThan(100);
  }, 1_200_000);
});
