import { realClock } from '@openstack-operator/kube';
import { clean } from '../clean.ts';
import { answers, ready } from './health.ts';

/** Removes what an earlier run has left, and at the end what this one has made; says how long the suite took. */
export async function setup(): Promise<() => Promise<void>> {
  const began = realClock.now();
  // An earlier run may have been ended in the midst of it.
  await ready(600);
  await answers(600);
  await clean();
  return async () => {
    await clean();
    process.stdout.write(`\ntest-cloud-chaos: ${Math.round((realClock.now() - began) / 1000)} s\n`);
  };
}
