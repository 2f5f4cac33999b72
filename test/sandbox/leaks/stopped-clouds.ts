import { setTimeout as sleep } from 'node:timers/promises';
import { controlPlane, createCloud, identityOnly } from '../rollout/cloud.ts';
import { living } from './living.ts';

/** Leads a cloud to the middle of its rollout and stops it there. Gives its store, and nothing that holds it. */
async function stopHalfway(): Promise<WeakRef<object>> {
  const cloud = await createCloud();
  await cloud.startOperator();
  await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
  await cloud.until(() => cloud.list('Pod').some(({ metadata }) => metadata.name.startsWith('my-cloud-mariadb')));
  await cloud.clock.advance(3000);
  if (cloud.isReady('Keystone', 'my-cloud-keystone')) throw new Error('it is Ready: this is not halfway');
  cloud.rehearsal.stop();
  return new WeakRef(cloud.rehearsal.sandbox.api.store);
}

const stores: WeakRef<object>[] = [];
for (let index = 0; index < 3; index++) stores.push(await stopHalfway());
const left = async () => {
  await living(AbortController); // collects the garbage
  return stores.filter((store) => store.deref() !== undefined).length;
};
let still = await left();
// What was told to stop has a moment to do so.
for (let looks = 0; still > 0 && looks < 100; looks++) {
  await sleep(50);
  still = await left();
}
console.log(`${still} of ${stores.length} clouds that were stopped are still in memory`);
