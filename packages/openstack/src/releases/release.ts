import { imagesOf } from '@openstack-operator/facts/images';

/** One OpenStack release as data. */
export interface Release {
  /** Such as `2025.1`. */
  readonly name: string;
  /** Such as `epoxy`. */
  readonly series: string;
  /** Where its images are published by default. */
  readonly registry: string;
  readonly tag: string;
  /** Names of the images that are published there. */
  readonly images: ReadonlySet<string>;
  /** Releases from which it can be reached directly: the one before it, and the SLURP before that. */
  readonly from: readonly string[];
}

/** A release with its images. @throws when nothing is known of them: a mistake in the release's folder */
export function defineRelease(release: Omit<Release, 'registry' | 'tag' | 'images'>): Release {
  const images = imagesOf(release.name);
  if (images === undefined) throw new Error(`release ${release.name}: packages/facts knows no images of it`);
  const { registry, tag, names } = images;
  return { ...release, registry, tag, images: new Set(Object.values(names).flat()) };
}
