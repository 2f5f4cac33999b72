import { expect, test } from 'vitest';
import { controlPlane, createCloud, identityOnly } from '../rollout/cloud.ts';
import { living } from './living.ts';

/** Leads a cloud to the middle of its rollout and stops it there. Gives its store, and nothing that holds it. */
async function stopHalfway(): Promise<WeakRef<object>> {
  const cloud = await createCloud();
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
  await cloud.until(() => cloud.list('Pod').some(({ metadata }) => metadata.name.startsWith('my-cloud-mariadb')));
  await cloud.clock.advance(3000);
  expect(cloud.isReady('Keystone', 'my-cloud-keystone'), 'it is only halfway').toBe(false);
  cloud.rehearsal.stop();
  return new WeakRef(cloud.rehearsal.sandbox.api.store);
}

test('nothing stays of embedded clouds that are stopped in the middle of a rollout', async () => {
  const stores: WeakRef<object>[] = [];
  for (let index = 0; index < 3; index++) stores.push(await stopHalfway());
  // What was told to stop has a moment to do so. To count what lives collects the garbage.
  const left = async () => {
    await living(AbortController);
    return stores.filter((store) => store.deref() !== undefined).length;
  };
  await expect.poll(left, { timeout: 10_000 }).toBe(0);
});
