import type { Release } from '../../releases/release.ts';
import type { ServiceSpec } from '../vocabulary/surroundings.ts';

/**
 * Reference of a component's image. What the resource says wins, most special first: `images[component]`, `image` (the
 * main component's alone), `imageRegistry` and `imageTag` (the same names elsewhere), the release.
 */
export function imageOf(
  image: string,
  options: { component: string; main: boolean; spec: ServiceSpec; release: Release },
): string {
  const { component, main, spec, release } = options;
  const own = spec.images?.[component] ?? (main ? spec.image : undefined);
  return own ?? `${spec.imageRegistry ?? release.registry}/${image}:${spec.imageTag ?? release.tag}`;
}
