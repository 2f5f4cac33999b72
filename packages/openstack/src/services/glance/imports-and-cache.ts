import type { OwnedOptions } from '../../engine/configuration/user-config.ts';
import { bytesOf } from '../../engine/names/quantity.ts';
import type { Sidecar } from '../../engine/vocabulary/component.ts';
import { type Layer, layered } from '../../oslo/layers.ts';
import type { Glance } from './kind.ts';

type Spec = Partial<Glance['spec']>;

/** Whether pods keep copies of images. */
export const caches = ({ imageCache }: Spec): boolean => imageCache !== undefined;

/** What becomes of images that are imported. Copies between stores pass by it. */
function imports({ imageImport: { convertTo } = {} }: Spec): Layer {
  if (convertTo === undefined) return {};
  return {
    image_import_opts: { image_import_plugins: '[image_conversion]' },
    image_conversion: { output_format: convertTo },
  };
}

/** Copies of images on the disk of the node, of which the database knows by the address of the pod. */
function cache({ imageCache }: Spec): Layer {
  if (imageCache === undefined) return {};
  return {
    DEFAULT: {
      image_cache_dir: '/var/lib/glance/image-cache',
      image_cache_max_size: bytesOf(imageCache.maxSize) ?? 0,
    },
    paste_deploy: { flavor: 'keystone+cachemanagement' },
  };
}

/** Options that follow from what a spec says of imports and of copies; the later ones count. */
export const importsAndCache = (spec: Spec): readonly Layer[] => [imports(spec), cache(spec)];

/** The same options, with the field that users set instead. */
export function ownedByImportsAndCache(spec: Spec): OwnedOptions {
  const owned = (field: string, layer: Layer): OwnedOptions =>
    Object.fromEntries(
      Object.entries(layer).map(([section, options]) => [
        section,
        Object.fromEntries(Object.keys(options).map((option) => [option, field])),
      ]),
    );
  return layered(
    owned('spec.imageImport.convertTo', imports(spec)),
    owned('spec.imageCache', cache(spec)),
  ) as OwnedOptions;
}

/** Glance itself never removes a copy for want of room; what does is a program, and has to see the files. */
export const pruner: Sidecar = {
  name: 'cache-pruner',
  runs: {
    script: `while sleep 300; do
  glance-cache-pruner || true
  glance-cache-cleaner || true
done
`,
  },
  resources: { cpu: '5m', memory: '192Mi' },
};
