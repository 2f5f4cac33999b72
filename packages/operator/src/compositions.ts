import { isDeepStrictEqual } from 'node:util';
import type { StoredObject } from '@openstack-operator/kube';
import type { Composition, Surroundings } from '@openstack-operator/openstack';
import { recorded } from './recorded.ts';

/** Composes one kind. */
type Compose = (resource: StoredObject, surroundings: Surroundings) => Composition;

interface Known {
  readonly isSame: (now: Surroundings) => boolean;
  readonly resource: StoredObject;
  readonly composition: Composition;
}

/**
 * The last composition of each resource, made anew only when something changes that was read for it: nearly all passes of
 * a rollout are about what became of the objects, not about what is wanted. The same objects also keep their digests.
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
    const now: Surroundings = {
      ...gathered,
      reference(field) {
        const resolved = gathered.reference(field);
        return resolved !== undefined && 'found' in resolved ? { found: stated(resolved.found) } : resolved;
      },
    };
    const known = this.#known.get(key);
    if (known !== undefined && isDeepStrictEqual(known.resource, resource) && known.isSame(now)) {
      this.#known.set(key, { ...known, resource });
      return known.composition;
    }
    const { surroundings, seal } = recorded(now);
    const composition = this.#compose(resource, surroundings);
    this.#known.set(key, { resource, isSame: seal(), composition });
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

/** By cached object: the same again, so that it is digested once. */
const known = new WeakMap<StoredObject, StoredObject>();

/** What somebody wants of an object, without what has become of it: compose may not know that, but of which cloud it is. */
function stated(object: StoredObject): StoredObject {
  const before = known.get(object);
  if (before !== undefined) return before;
  const { apiVersion, kind, metadata, spec, status } = object;
  const { name, namespace, uid, labels, annotations, ownerReferences } = metadata;
  const kept = { name, namespace, uid, labels, annotations, ownerReferences };
  const { cloud } = (status ?? {}) as { cloud?: string };
  const defined = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined));
  const result = {
    apiVersion,
    kind,
    metadata: { ...defined, name, uid, resourceVersion: '' },
    spec,
    ...(cloud === undefined ? {} : { status: { cloud } }),
  };
  known.set(object, result);
  return result;
}
