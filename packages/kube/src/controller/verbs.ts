import { isDeepStrictEqual } from 'node:util';
import type { Cache } from '../cache/cache.ts';
import type { Client, DeleteOptions, ObjectRef } from '../client/api.ts';
import { ApiError, isApiError, TerminalError } from '../objects/errors.ts';
import {
  apiVersionOf,
  controllerReference,
  type Kind,
  type KubeObject,
  keyOf,
  type StoredObject,
} from '../objects/objects.ts';
import { ForeignObjectError, isControlledBy } from '../objects/ownership.ts';
import type { LastAppliedCache } from './last-applied.ts';

/**
 * Who owns an object. By default it gets a controller reference to the reconciled object, and an existing object is ours
 * when it has that reference. An object that must outlive the reconciled one has no owner; then `ours` decides.
 */
export type Ownership =
  | { readonly owned?: true; readonly ours?: (live: StoredObject) => boolean }
  | { readonly owned: false; readonly ours: (live: StoredObject) => boolean };

/** The writes of a reconcile. All of them throw `ApiError` (409: another writer was faster; the reconcile is repeated) and `LeadershipLostError`. */
export interface Verbs<T extends KubeObject = KubeObject> {
  /**
   * Writes an object by server-side apply: fields that were applied before and are absent now are removed. Sends nothing
   * when the same configuration was applied last and the object has not changed since.
   * @throws ForeignObjectError when an object of that name is somebody else's
   */
  readonly apply: <C extends KubeObject>(object: C, ownership?: Ownership) => Promise<StoredObject<C>>;
  /**
   * Creates an object that is generated once (a password, a key). An existing one of ours is kept as it is.
   * @throws ForeignObjectError when an object of that name is somebody else's
   */
  readonly create: <C extends KubeObject>(object: C, ownership?: Ownership) => Promise<StoredObject<C>>;
  /**
   * Deletes exactly this state of this object (uid and resourceVersion), in the background unless told otherwise.
   * An object that no longer exists is no error.
   */
  readonly remove: (
    object: StoredObject,
    options?: Pick<DeleteOptions, 'propagationPolicy' | 'gracePeriodSeconds'>,
  ) => Promise<void>;
  /** Applies the whole status of the reconciled object; sends nothing when it is cached like that. */
  readonly status: (status: T['status']) => Promise<void>;
}

/** What verbs are made of. */
export interface VerbsOptions<T extends KubeObject> {
  /** The reconciled object and its kind. */
  readonly object: StoredObject<T>;
  readonly kind: Kind<T>;
  readonly client: Client;
  readonly cache: Cache;
  /** Shared by all reconciles of the controller. */
  readonly lastApplied: LastAppliedCache;
  /** Field manager of `apply` and `create`; status is applied by `<fieldManager>-status`. */
  readonly fieldManager: string;
  readonly signal: AbortSignal;
}

/**
 * No object ever has this resourceVersion: etcd's first write makes 2. An apply under it makes an object, and is a
 * conflict where there is one (tested on the real server), so that nobody has to look before.
 */
const NEVER = '1';

/** Makes the verbs of one reconcile. */
export function createVerbs<T extends KubeObject>(options: VerbsOptions<T>): Verbs<T> {
  const { object: owner, client, cache, lastApplied, fieldManager, signal } = options;

  /** The object as it is to be written: in its namespace, with its owner. */
  function desiredOf<C extends KubeObject>(
    kind: Kind<C>,
    object: C,
    ownership: Ownership,
  ): C & { metadata: ObjectRef } {
    const { name } = object.metadata;
    if (name === undefined)
      throw new TerminalError('NO_NAME', `a ${object.kind} without metadata.name cannot be applied or created`);
    const namespace = kind.namespaced ? (object.metadata.namespace ?? owner.metadata.namespace) : undefined;
    const metadata = { ...object.metadata, name, ...(namespace === undefined ? {} : { namespace }) };
    if (ownership.owned !== false) {
      // The garbage collector deletes what refers to an owner in another namespace.
      if (owner.metadata.namespace !== undefined && owner.metadata.namespace !== namespace) {
        throw new TerminalError(
          'OWNER_NAMESPACE',
          `${object.kind} ${keyOf({ metadata })} cannot be owned by ${owner.kind} ${keyOf(owner)}: ` +
            'an owner is in the namespace of what it owns, or cluster-scoped',
        );
      }
      metadata.ownerReferences = [...(metadata.ownerReferences ?? []), controllerReference(owner)];
    }
    return { ...object, metadata };
  }

  function kindOf<C extends KubeObject>(object: C): Kind<C> {
    const kind = cache.kindOf(object);
    if (kind) return kind;
    throw new TerminalError(
      'UNKNOWN_KIND',
      `${object.kind} (${object.apiVersion}) is not watched: add it to what the controller owns or watches`,
    );
  }

  function assertOurs(live: StoredObject, { ours }: Ownership): void {
    if (!(ours ? ours(live) : isControlledBy(live, owner))) throw new ForeignObjectError(live, owner);
  }

  async function live<C extends KubeObject>(kind: Kind<C>, ref: ObjectRef): Promise<StoredObject<C> | undefined> {
    try {
      return await client.get(kind, ref, { signal });
    } catch (error) {
      if (isApiError(error, 404)) return undefined;
      throw error;
    }
  }

  /** Makes an object by apply; or, when there is one that the cache does not know, gives that. */
  async function makeOrFind<C extends KubeObject>(
    kind: Kind<C>,
    desired: C & { metadata: ObjectRef },
  ): Promise<{ isNew: boolean; object: StoredObject<C> }> {
    const metadata = { ...desired.metadata, resourceVersion: NEVER };
    try {
      const object = await client.apply(kind, { ...desired, metadata }, { fieldManager });
      return { isNew: true, object: noted(kind, desired, object) };
    } catch (error) {
      const object = isApiError(error, 409) ? await live(kind, refOf(desired)) : undefined;
      if (!object) throw error;
      cache.accept(kind, object);
      return { isNew: false, object };
    }
  }

  /** Remembers the outcome of an apply. */
  function noted<C extends KubeObject>(kind: Kind<C>, desired: C, answer: StoredObject<C>): StoredObject<C> {
    const cached = cache.get(kind, keyOf(answer));
    if (cached) lastApplied.record(desired, answer, cached);
    return answer;
  }

  return {
    async apply(object, ownership = {}) {
      const kind = kindOf(object);
      const desired = desiredOf(kind, object, ownership);
      let known = cache.get(kind, keyOf(desired));
      if (!known) {
        const made = await makeOrFind(kind, desired);
        if (made.isNew) return made.object;
        known = made.object;
      }
      assertOurs(known, ownership);
      if (lastApplied.has(desired, known)) return known;
      const metadata = { ...desired.metadata, uid: known.metadata.uid };
      try {
        return noted(kind, desired, await client.apply(kind, { ...desired, metadata }, { fieldManager, force: true }));
      } catch (error) {
        throw asConflict(error);
      }
    },

    async create(object, ownership = {}) {
      const kind = kindOf(object);
      const desired = desiredOf(kind, object, ownership);
      const known = cache.get(kind, keyOf(desired));
      if (known) {
        assertOurs(known, ownership);
        return known;
      }
      try {
        return await client.create(kind, desired, { fieldManager });
      } catch (error) {
        if (!isApiError(error, 409) || error.reason !== 'AlreadyExists') throw error;
        const found = await live(kind, refOf(desired));
        if (!found) throw error;
        assertOurs(found, ownership);
        return cache.accept(kind, found) ?? found;
      }
    },

    async remove(object, { propagationPolicy = 'Background', gracePeriodSeconds } = {}) {
      const { uid, resourceVersion } = object.metadata;
      const grace = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
      try {
        await client.delete(kindOf(object), refOf(object), { uid, resourceVersion, propagationPolicy, ...grace });
      } catch (error) {
        if (!isApiError(error, 404)) throw error;
      }
    },

    async status(status) {
      const { kind } = options;
      const known = cache.get(kind, keyOf(owner)) ?? owner;
      // As it will be on the wire: fields that are undefined are none.
      const wanted: unknown = status === undefined ? undefined : JSON.parse(JSON.stringify(status));
      if (isDeepStrictEqual(known['status'], wanted)) return;
      const metadata = { ...refOf(owner), uid: owner.metadata.uid };
      const body = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, status: wanted };
      await client.apply<KubeObject>(kind, body, {
        fieldManager: `${fieldManager}-status`,
        subresource: 'status',
        force: true,
      });
    },
  };
}

/**
 * A uid that is not there (any more) is a conflict. The server says so only when there is no object; when there is
 * another one of that name, it calls the uid an immutable field (seen on 1.36).
 */
function asConflict(error: unknown): unknown {
  if (!isApiError(error, 422)) return error;
  const causes = error.status.details?.causes ?? [];
  if (causes.length === 0 || causes.some(({ field }) => field !== 'metadata.uid')) return error;
  const message = 'the object was deleted and made anew in the meantime';
  return new ApiError({ ...error.status, code: 409, reason: 'Conflict', message }, error.message);
}

function refOf({ metadata: { namespace, name } }: { metadata: { namespace?: string; name: string } }): ObjectRef {
  return namespace === undefined ? { name } : { namespace, name };
}
