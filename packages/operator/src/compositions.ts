import { isDeepStrictEqual } from 'node:util';
import type { StoredObject } from '@openstack-operator/kube';
import type { Composition, Surroundings } from '@openstack-operator/openstack';

/** Composes one kind. */
type Compose = (resource: StoredObject, surroundings: Surroundings) => Composition;

interface Known {
  readonly resource: StoredObject;
  readonly surroundings: Surroundings;
  readonly composition: Composition;
}

/**
 * The last composition of each resource, made anew only when something changes that it follows from: nearly all passes
 * of a rollout are about what became of the objects, not about what is wanted. The same objects also keep their digests.
 */
export class Compositions {
  readonly #compose: Compose;
  readonly #known = new Map<string, Known>();

  constructor(compose: Compose) {
    this.#compose = compose;
  }

  /** What the resource leads to. `key`: `namespace/name`. */
  of(key: string, object: StoredObject, gathered: Surroundings): Composition {
    const resource = stated(object);
    const references = Object.entries(gathered.references).map(([field, resolved]) => [
      field,
      'found' in resolved ? { found: stated(resolved.found) } : resolved,
    ]);
    const surroundings = { ...gathered, references: Object.fromEntries(references) };
    const known = this.#known.get(key);
    if (
      known !== undefined &&
      isDeepStrictEqual(known.resource, resource) &&
      isDeepStrictEqual(known.surroundings, surroundings)
    )
      return known.composition;
    const composition = this.#compose(resource, surroundings);
    this.#known.set(key, { resource, surroundings, composition });
    return composition;
  }

  /** What a resource was composed to last; undefined before its first time. */
  last(key: string): Composition | undefined {
    return this.#known.get(key)?.composition;
  }

  /** The resource is gone. */
  forget(key: string): void {
    this.#known.delete(key);
  }
}

/** What somebody wants of an object, without what has become of it: compose may not know that, but of which cloud it is. */
function stated({ apiVersion, kind, metadata, spec, status }: StoredObject): StoredObject {
  const { name, namespace, uid, labels, annotations, ownerReferences } = metadata;
  const kept = { name, namespace, uid, labels, annotations, ownerReferences };
  const { cloud } = (status ?? {}) as { cloud?: string };
  const defined = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined));
  return {
    apiVersion,
    kind,
    metadata: { ...defined, name, uid, resourceVersion: '' },
    spec,
    ...(cloud === undefined ? {} : { status: { cloud } }),
  };
}
