import { realClock } from '@openstack-operator/kube';
import { clean } from '../clean.ts';
import { connectOutside, disconnectOutside } from './outside.ts';

/** Removes what an earlier run has left, and at the end what this one has made; says how long the suite took. */
export async function setup(): Promise<() => Promise<void>> {
  const began = realClock.now();
  await clean();
  await connectOutside();
  return async () => {
    await clean();
    await disconnectOutside();
    process.stdout.write(`\ntest-cloud-durability: ${Math.round((realClock.now() - began) / 1000)} s\n`);
  };
}
