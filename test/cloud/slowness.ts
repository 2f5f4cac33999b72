import { realClock } from '@openstack-operator/kube';

/**
 * How many times slower than alone this machine is now: wall time over processor time of a program that only computes.
 * 1 when nothing else runs. Bounds are stated for that, and stretched by it.
 */
export function slowness(): number {
  const began = realClock.now();
  const { user } = process.cpuUsage();
  let spent = 0;
  while (spent < 200_000) {
    for (let i = 0, sum = 0; i < 1e6; i++) sum += Math.sqrt(i);
    spent = process.cpuUsage().user - user;
  }
  return Math.max(1, (realClock.now() - began) / (spent / 1000));
}
