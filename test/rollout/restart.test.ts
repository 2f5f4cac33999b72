import { describe, expect, test } from 'vitest';
import { controlPlane, createCloud, readyCloud } from './cloud.ts';
import { differences, finalObjects } from './normalise.ts';

describe('an operator that is killed', () => {
  test('at any of 20 points of the rollout, reaches the same final objects', async () => {
    const { cloud: whole } = await readyCloud();
    const expected = finalObjects(whole.rehearsal.objects());
    const writes = await countWrites();
    for (let point = 1; point <= 20; point++) {
      const after = Math.max(1, Math.floor((writes * point) / 21));
      const cloud = await killedAfter(after);
      const difference = differences(expected, finalObjects(cloud.rehearsal.objects()));
      expect(difference, `killed after write ${after} of ${writes}`).toEqual([]);
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

async function killedAfter(count: number) {
  const cloud = await createCloud();
  const operator = await cloud.startOperator();
  let writes = 0;
  let killed = false;
  operator.onWrite(() => {
    if (++writes < count || killed) return;
    killed = true;
    operator.kill();
  });
  await cloud.settle(cloud.rehearsal.create(controlPlane()));
  await cloud.until(() => killed);
  await cloud.clock.advance(1000);
  await cloud.startOperator();
  await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
  return cloud;
}
