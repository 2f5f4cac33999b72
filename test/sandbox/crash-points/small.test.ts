import { describe, expect, test } from 'vitest';
import { killAt, killEverywhere, sample } from './crash-points.ts';
import { lifeOf, small } from './life.ts';
import { live } from './live.ts';

const all = process.env['CRASH_POINTS'] === 'all';

/**
 * The life of a small cloud: rollout, reconfiguration, scale, rotations, deletion. `make test` comes past every point
 * with many deaths in a run, and tries some of them alone; with CRASH_POINTS=all each has a run of its own.
 */
describe('an operator that is killed at any moment of the life of a small cloud', async () => {
  const phases = lifeOf(small);
  const undisturbed = await live(phases);

  test('with many deaths in a life, leaves the objects that an undisturbed one leaves', async () => {
    const { points, chains, single } = await killEverywhere(phases, undisturbed);
    console.log(`${points} points of ${undisturbed.writes} writes: ${chains} lives of many deaths, ${single} of one`);
    expect(points).toBeGreaterThan(120);
  }, 600_000);

  test(`with one death in a life, too: ${all ? 'every point' : 'some points'}`, async () => {
    const points = all ? undisturbed.points : sample(undisturbed.points, 6);
    for (const point of points) await killAt(point, phases, undisturbed);
    console.log(`${points.length} of ${undisturbed.points.length} points: a life of one death each`);
  }, 600_000);
});
