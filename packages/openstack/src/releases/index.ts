import { epoxy } from './2025.1.ts';
import type { Release } from './release.ts';

/** Every release that this version can deploy, oldest first. */
export const releases: readonly Release[] = [epoxy];

/** The release that resources without `spec.release` get. */
export const defaultRelease: Release = epoxy;

/** The release of that name, if this version knows it. */
export function releaseNamed(name: string): Release | undefined {
  return releases.find((release) => release.name === name);
}
