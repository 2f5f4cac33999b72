import { describe, expect, test } from 'vitest';
import { killAt, killEverywhere, sample } from './crash-points.ts';
import { lifeOf, whole } from './life.ts';
import { live } from './live.ts';

const all = process.env['CRASH_POINTS'] === 'all';

/**
 * A rollout of the whole minimal cloud takes more than a second and has hundreds of points: a run of its own for each
 * would take ten minutes. `CRASH_POINTS=all` comes past every point with many deaths in a run (`killEverywhere` says
 * why that is as good), and tries some of them alone; `make test` takes a part of both.
 */
describe('an operator that is killed at any moment of the rollout of the whole minimal cloud', async () => {
  const [rollout] = lifeOf(whole);
  const phases = rollout === undefined ? [] : [rollout];
  const undisturbed = await live(phases);

  test('with many deaths in a rollout, leaves the objects that an undisturbed one leaves', async () => {
    const chosen = all ? undisturbed.points : sample(undisturbed.points, 20);
    const { points, chains, single } = await killEverywhere(phases, undisturbed, chosen);
    console.log(
      `${points} of ${undisturbed.points.length} points of ${undisturbed.writes} writes: ` +
        `${chains} rollouts of many deaths, ${single} of one`,
    );
    expect(undisturbed.points.length).toBeGreaterThan(300);
  }, 1_200_000);

  test('with one death in a rollout, too', async () => {
    for (const point of sample(undisturbed.points, all ? 20 : 1)) await killAt(point, phases, undisturbed);
  }, 600_000);
});
