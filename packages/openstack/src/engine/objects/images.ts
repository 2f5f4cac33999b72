import type { Release } from '../../releases/release.ts';
import type { ServiceSpec } from '../vocabulary/surroundings.ts';

/** Whose image it is, and what decides about it. */
export interface ImageOptions {
  readonly component: string;
  readonly main: boolean;
  readonly spec: ServiceSpec;
  readonly release: Release;
}

/** What is wrong with a component's image: nobody publishes it where it is looked for. */
export function imageProblem(image: string, options: ImageOptions): string | undefined {
  const { component, spec, release } = options;
  const isElsewhere = ownImage(options) !== undefined || spec.imageRegistry !== undefined;
  if (isElsewhere || release.images.has(image)) return undefined;
  return `spec.images.${component}: ${release.registry} has no image ${image} of ${release.name}; state one, or imageRegistry, a registry that has it`;
}

function ownImage({ component, main, spec }: ImageOptions): string | undefined {
  return spec.images?.[component] ?? (main ? spec.image : undefined);
}

/**
 * Reference of a component's image. What the resource says wins, most special first: `images[component]`, `image` (the
 * main component's alone), `imageRegistry` and `imageTag` (the same names elsewhere), the release.
 */
export function imageOf(image: string, options: ImageOptions): string {
  const { spec, release } = options;
  return ownImage(options) ?? `${spec.imageRegistry ?? release.registry}/${image}:${spec.imageTag ?? release.tag}`;
}
