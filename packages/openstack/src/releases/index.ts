import { epoxy } from './2025.1.ts';
import type { Release } from './release.ts';

/** Every release that this version can deploy, oldest first. */
export const releases: readonly Release[] = [epoxy];

/** The release that resources without `spec.release` get. */
export const defaultRelease: Release = epoxy;

/**
 * The name of the release of a resource: what its spec says, else the one that it has, so that another default of a new
 * operator changes no running cloud.
 */
export function releaseNameOf(spec: { readonly release?: string } = {}, deployed: string | undefined): string {
  return spec.release ?? deployed ?? defaultRelease.name;
}

/** The release of that name, if this version knows it. */
export function releaseNamed(name: string): Release | undefined {
  return releases.find((release) => release.name === name);
}
