import { seededRandom } from '@openstack-operator/kube';

/** Some of them, the same ones for the same seed. */
export function sampleOf<T>(all: readonly T[], size: number, seed: number): T[] {
  const random = seededRandom(seed);
  const left = [...all];
  return Array.from({ length: Math.min(size, left.length) }, () =>
    left.splice(Math.floor(random.next() * left.length), 1),
  ).flat();
}
