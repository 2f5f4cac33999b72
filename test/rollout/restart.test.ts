import { describe, expect, test } from 'vitest';
import { controlPlane, createCloud, readyCloud } from './cloud.ts';
import { differences, finalObjects } from './normalise.ts';

/** Points of the rollout at which the operator dies, and in how many rollouts: a whole cloud takes its time. */
const points = 20;
const rollouts = 5;

describe('an operator that is killed', () => {
  test(`at any of ${points} points of the rollout, reaches the same final objects`, async () => {
    const { cloud: whole } = await readyCloud();
    const expected = finalObjects(whole.rehearsal.objects());
    const writes = await countWrites();
    for (let first = 1; first <= rollouts; first++) {
      const deaths = Array.from({ length: points / rollouts }, (_, turn) =>
        Math.max(1, Math.floor((writes * (first + turn * rollouts)) / (points + 1))),
      );
      const cloud = await killedAfter(deaths);
      const difference = differences(expected, finalObjects(cloud.rehearsal.objects()));
      expect(difference, `killed after writes ${deaths.join(', ')} of ${writes}`).toEqual([]);
      cloud.rehearsal.stop();
    }
  }, 120_000);
});

/** Writes of the operator in one undisturbed rollout. */
async function countWrites(): Promise<number> {
  const cloud = await createCloud();
  const operator = await cloud.startOperator();
  let writes = 0;
  operator.onWrite(() => {
    writes++;
  });
  await cloud.settle(cloud.rehearsal.create(controlPlane()));
  await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
  return writes;
}

/**
 * A rollout whose operator dies after each of these numbers of writes, and is started again a second later. After a
 * restart there may be fewer writes left than in an undisturbed rollout: at the latest it dies when the cloud is Ready.
 */
async function killedAfter(deaths: readonly number[]) {
  const cloud = await createCloud();
  const isReady = () => cloud.isReady('OpenStackControlPlane', 'my-cloud');
  let writes = 0;
  let operator = await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane()));
  for (const death of deaths) {
    let killed = false;
    const kill = () => {
      killed = true;
      operator.kill();
    };
    operator.onWrite(() => {
      if (++writes >= death && !killed) kill();
    });
    await cloud.until(() => killed || isReady());
    if (!killed) kill();
    await cloud.clock.advance(1000);
    operator = await cloud.startOperator();
  }
  await cloud.until(isReady);
  await cloud.clock.advance(5000);
  await cloud.until(isReady);
  return cloud;
}
