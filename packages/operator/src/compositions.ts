import { isDeepStrictEqual } from 'node:util';
import type { StoredObject } from '@openstack-operator/kube';
import type { Composition, Surroundings } from '@openstack-operator/openstack';
import { type NodeInterest, nodeInterestOf } from './node-interest.ts';
import { recorded } from './recorded.ts';

/** Composes one kind. */
type Compose = (resource: StoredObject, surroundings: Surroundings) => Composition;

interface Known {
  readonly isSame: (now: Surroundings) => boolean;
  readonly resource: StoredObject;
  readonly composition: Composition;
}

/** Compositions of resources at rest that are kept, of one kind. */
const mostAtRest = 16;

/**
 * The last composition of each resource that is not at rest, made anew only when something changes that was read for it:
 * nearly all reconciles of a rollout are about what became of the objects, not about what is wanted. The same objects also
 * keep their digests.
 */
export class Compositions {
  readonly #compose: Compose;
  readonly #known = new Map<string, Known>();
  readonly #nodes = new Map<string, NodeInterest>();
  /** What came to rest, longest ago first. */
  readonly #resting = new Set<string>();

  constructor(compose: Compose) {
    this.#compose = compose;
  }

  /** What the resource leads to. `key`: `namespace/name`. */
  of(key: string, object: StoredObject, gathered: Surroundings): Composition {
    this.#resting.delete(key);
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
    const { surroundings, wasAsked, seal } = recorded(now);
    const composition = this.#compose(resource, surroundings);
    this.#nodes.set(key, nodeInterestOf(composition, wasAsked('nodes')));
    this.#known.set(key, { resource, isSame: seal(), composition });
    return composition;
  }

  /** What the last composition of a resource has to do with nodes; undefined before the first. */
  nodes(key: string): NodeInterest | undefined {
    return this.#nodes.get(key);
  }

  /**
   * Nothing is awaited of the resource. What it leads to is kept for a while, as what happens to it comes in bursts (the
   * Job of an audit); then it is composed anew when it is looked at again.
   */
  rest(key: string): void {
    this.#resting.delete(key);
    this.#resting.add(key);
    for (const oldest of this.#resting) {
      if (this.#resting.size <= mostAtRest) break;
      this.#known.delete(oldest);
      this.#resting.delete(oldest);
    }
  }

  /** The resource is gone. */
  forget(key: string): void {
    this.#known.delete(key);
    this.#resting.delete(key);
    this.#nodes.delete(key);
  }
}

/** By cached object: the same again, so that it is digested once. */
const known = new WeakMap<StoredObject, StoredObject>();

/**
 * What compose may know of a status: of which cloud the resource is, what its Jobs have found, which members they did not bring
 * where they belong, and when its data have begun anew.
 */
const composedBy = ['cloud', 'found', 'refusedMembers', 'data'] as const;

/** What somebody wants of an object, without what has become of it. */
function stated(object: StoredObject): StoredObject {
  const before = known.get(object);
  if (before !== undefined) return before;
  const { apiVersion, kind, metadata, spec, status } = object;
  const { name, namespace, uid, generation, labels, annotations, ownerReferences } = metadata;
  const kept = { name, namespace, uid, generation, labels, annotations, ownerReferences };
  const all = (status ?? {}) as Readonly<Record<string, unknown>>;
  const remembered = Object.fromEntries(
    composedBy.flatMap((field) => (all[field] === undefined ? [] : [[field, all[field]]])),
  );
  const defined = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined));
  const result = {
    apiVersion,
    kind,
    metadata: { ...defined, name, uid, resourceVersion: '' },
    spec,
    ...(Object.keys(remembered).length === 0 ? {} : { status: remembered }),
  };
  known.set(object, result);
  return result;
}
