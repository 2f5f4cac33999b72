import { isDeepStrictEqual } from 'node:util';
import type { Log } from '../base/log.ts';
import type { Cache, CacheReader } from '../cache/cache.ts';
import { wholeNamespace } from '../cache/informer-set.ts';
import type { ReflectorSelection } from '../cache/reflector.ts';
import type { Change, IndexFunction, Transform } from '../cache/store.ts';
import type { ObjectRef } from '../client/api.ts';
import {
  apiVersionOf,
  controllerOf,
  type Kind,
  type KubeObject,
  keyOf,
  type StoredObject,
} from '../objects/objects.ts';

/** Milliseconds after which an object is reconciled when nothing but its status changed. */
const STATUS_UPDATE_MS = 1000;

/** A kind whose objects are made by a controller: a change of one enqueues the object that controls it. */
export interface Owned {
  readonly kind: Kind;
  readonly selection?: ReflectorSelection;
  readonly transform?: Transform;
  /**
   * The part of an object that counts: an update that leaves it deeply equal enqueues nothing (default: the whole
   * object). Pure. Whatever `reconcile` reads of the object has to be in it.
   */
  readonly facts?: (object: StoredObject) => unknown;
  /** Predicate: which changes count (default: all). Pure. */
  readonly when?: (change: Change) => boolean;
  /** Milliseconds for which a change may wait for others, so that one reconcile answers them all (default: none). Pure. */
  readonly delay?: (change: Change) => number;
}

/** A kind whose objects a controller depends on: a change of one enqueues the objects that refer to it. */
export interface Watched<T extends KubeObject = KubeObject> extends Owned {
  /** What a reconciled object refers to; without `namespace`, its own. Pure. */
  readonly references?: (object: StoredObject<T>) => readonly ObjectRef[];
  /** Indexes of the kind, for `map` and `reconcile`, by a name that is unique among all that watch the kind. */
  readonly indexes?: Readonly<Record<string, IndexFunction>>;
  /** Which reconciled objects a changed one concerns; asked of its state before, too. Pure, but for the cache. */
  readonly map?: (changed: StoredObject, cache: CacheReader) => Iterable<ObjectRef>;
  /** Watch only objects that are referred to, each by a watch of its own: for kinds whose objects one may not list. */
  readonly individually?: boolean;
}

/** Options of `on`. */
export interface OnOptions<T extends KubeObject, O extends KubeObject> extends Omit<Watched<T>, 'kind' | 'map'> {
  readonly map?: (changed: StoredObject<O>, cache: CacheReader) => Iterable<ObjectRef>;
}

/**
 * Watches a kind. How its objects are mapped to the reconciled ones:
 * - the name of a field in `spec` that refers to it, `{name, namespace?, kind?}` or a list of these (an index is kept);
 * - a function from the changed object to the reconciled ones;
 * - `references`, a function from the reconciled object to what it refers to (an index is kept).
 *
 * @example
 * on(Database, 'databaseRef')
 * on(Secret, { references: ({ spec }) => [spec.secretRef], individually: true })
 */
export function on<T extends KubeObject = KubeObject, O extends KubeObject = KubeObject>(
  kind: Kind<O>,
  how: string | NonNullable<OnOptions<T, O>['map']> | OnOptions<T, O>,
): Watched<T> {
  if (typeof how === 'string') {
    return { kind, references: (object) => referencesIn(object, how, kind.kind) };
  }
  const options = typeof how === 'function' ? { map: how } : how;
  return { ...options, kind: kind as unknown as Kind } as Watched<T>;
}

function referencesIn(object: KubeObject, field: string, kind: string): ObjectRef[] {
  const value = (object['spec'] as Record<string, unknown> | undefined)?.[field];
  const list = (Array.isArray(value) ? value : [value]) as ({ name?: unknown; kind?: unknown } | undefined)[];
  return list.filter(
    (ref): ref is ObjectRef => typeof ref?.name === 'string' && (ref.kind === undefined || ref.kind === kind),
  );
}

/** What `watchAll` needs. */
export interface WatchAllOptions<T extends KubeObject> {
  /** Names the indexes; unique among the controllers of a cache. */
  readonly name: string;
  readonly kind: Kind<T>;
  /** Indexes of the reconciled kind. */
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  readonly owns: readonly Owned[];
  readonly watches: readonly Watched<T>[];
  readonly cache: Cache;
  readonly log: Log;
  /** Enqueues a key, after so many milliseconds. */
  readonly enqueue: (key: string, delay: number) => void;
}

/**
 * Watches every kind that a controller needs, and enqueues the keys that a change concerns. Returns a function that tells
 * whether all that the reconcile of an object may read is synced; the object is enqueued when that becomes true.
 */
export function watchAll<T extends KubeObject>(options: WatchAllOptions<T>): (object: StoredObject<T>) => boolean {
  const { kind, cache, enqueue, log } = options;
  const needs = new Set([kind, ...[...options.owns, ...options.watches].map((needed) => needed.kind)]);
  const elsewhere: ((object: StoredObject<T>) => boolean)[] = [];
  for (const needed of needs) {
    cache.onState(needed, (only) => {
      const { namespace } = only ?? {};
      for (const object of cache.list(kind, namespace === undefined ? {} : { namespace })) enqueue(keyOf(object), 0);
    });
  }
  const listen = (other: Owned, keys: (object: StoredObject) => Iterable<string>) => {
    cache.onChange(other.kind, (change: Change) => {
      const { object, old } = change;
      // During a first list each object would enqueue others; the end of the list enqueues all of them.
      if (!cache.synced(other.kind)) return;
      try {
        if (isSameFact(other, change) || other.when?.(change) === false) return;
        const delay = other.delay?.(change) ?? 0;
        for (const state of old ? [object, old] : [object]) for (const key of keys(state)) enqueue(key, delay);
      } catch (error) {
        log.error('a change could not be mapped to the objects it concerns', { error, changed: keyOf(object) });
      }
    });
  };

  for (const [name, of] of Object.entries(options.indexes ?? {})) cache.addIndex(kind, name, of);
  cache.watch(kind);
  cache.onChange(kind, (change) => enqueue(keyOf(change.object), isStatusUpdate(change) ? STATUS_UPDATE_MS : 0));
  for (const owned of options.owns) {
    cache.watch(owned.kind, owned);
    listen(owned, (object) => ownerKeys(object, kind));
  }
  for (const [i, watched] of options.watches.entries()) {
    const { references, indexes = {}, map } = watched;
    for (const [name, of] of Object.entries(indexes)) cache.addIndex(watched.kind, name, of);
    if (references) {
      const index = `${options.name}/${watched.kind.kind}/${i}`;
      const referred = (object: StoredObject<T>) => references(object).map((ref) => placed(ref, watched.kind, object));
      cache.addIndex(kind, index, (object) => referred(object).map((ref) => keyOf({ metadata: ref })));
      listen(watched, (object) => cache.byIndex(kind, index, keyOf(object)).map(keyOf));
      if (watched.individually) {
        watchReferred(options, watched, referred);
        elsewhere.push((object) => referred(object).every(({ namespace }) => cache.synced(watched.kind, namespace)));
        cache.onState(watched.kind, (only) => {
          const referring = only ? cache.byIndex(kind, index, keyOf({ metadata: only })) : [];
          for (const object of referring) enqueue(keyOf(object), 0);
        });
      }
    }
    if (map) {
      listen(watched, (object) => [...map(object, cache)].map((ref) => keyOf({ metadata: ref })));
    }
    if (!watched.individually) cache.watch(watched.kind, watched);
  }
  return (object) =>
    [...needs].every((needed) => cache.synced(needed, object.metadata.namespace)) &&
    elsewhere.every((known) => known(object));
}

function isSameFact({ facts }: Owned, { type, object, old }: Change): boolean {
  return facts !== undefined && type === 'updated' && old !== undefined && isDeepStrictEqual(facts(object), facts(old));
}

/**
 * Whether nothing but the status changed. Such an update is not answered at once: two writers that disagree on a status
 * (a stale cache, a lost lease) would answer each other as fast as the network allows.
 */
function isStatusUpdate({ type, object, old }: Change): boolean {
  const { generation } = object.metadata;
  return type === 'updated' && generation !== undefined && isDeepStrictEqual(demand(object), demand(old));
}

function demand(object: StoredObject | undefined): unknown {
  const { resourceVersion: _version, managedFields: _fields, ...metadata } = object?.metadata ?? {};
  return metadata;
}

function ownerKeys(object: StoredObject, kind: Kind): string[] {
  const owner = controllerOf(object);
  // The version does not count: a child keeps the reference while its owner's API moves on.
  if (owner?.kind !== kind.kind || owner.apiVersion.split('/', 1)[0] !== apiVersionOf(kind).split('/', 1)[0]) return [];
  return [keyOf({ metadata: placed({ name: owner.name }, kind, object) })];
}

/** A reference with the namespace that it means. */
function placed({ name, namespace }: ObjectRef, kind: Kind, from: { metadata: { namespace?: string } }): ObjectRef {
  const meant = kind.namespaced ? (namespace ?? from.metadata.namespace) : undefined;
  return meant === undefined ? { name } : { namespace: meant, name };
}

/** Single-object watches in a namespace; beyond that one watch covers the namespace. Each costs some 13 KiB and a stream. */
const MOST_EACH = 64;

/** What is referred to in a namespace, and its watches: one for each object, or one for all of them. */
interface Place {
  /** Key -> how many refer to it. */
  readonly users: Map<string, number>;
  readonly each: Map<string, () => Promise<void>>;
  whole?: () => Promise<void>;
  /** Ends waiting for the first list of `whole`. */
  unlisten?: () => void;
}

/** Watches what each reconciled object refers to, for as long as it does. */
function watchReferred<T extends KubeObject>(
  { kind, cache, log }: WatchAllOptions<T>,
  watched: Watched<T>,
  referred: (object: StoredObject<T>) => ObjectRef[],
): void {
  const places = new Map<string | undefined, Place>();
  const stop = (key: string, end: (() => Promise<void>) | undefined): void => {
    end?.().catch((error: unknown) => log.error('a watch could not be ended', { error, watched: key }));
  };
  const add = (key: string, { namespace, name }: ObjectRef) => {
    const place: Place = places.get(namespace) ?? { users: new Map(), each: new Map() };
    places.set(namespace, place);
    const users = place.users.get(key) ?? 0;
    place.users.set(key, users + 1);
    if (users > 0 || place.whole) return;
    if (namespace !== undefined && place.each.size === MOST_EACH) {
      place.whole = cache.watch(watched.kind, { ...watched, selection: wholeNamespace(namespace) });
      // What is known by single watches stays known until all is: nothing may seem absent to a running reconcile.
      place.unlisten = cache.onState(watched.kind, (only) => {
        if (only?.namespace !== namespace || !cache.synced(watched.kind, namespace)) return;
        place.unlisten?.();
        for (const [one, end] of place.each) stop(one, end);
        place.each.clear();
      });
      return;
    }
    const selection = { ...(namespace === undefined ? {} : { namespace }), fieldSelector: `metadata.name=${name}` };
    place.each.set(key, cache.watch(watched.kind, { ...watched, selection }));
  };
  const remove = (key: string, { namespace }: ObjectRef) => {
    const place = places.get(namespace);
    const users = place?.users.get(key) ?? 0;
    if (!place || users > 1) return void place?.users.set(key, users - 1);
    place.users.delete(key);
    stop(key, place.each.get(key));
    place.each.delete(key);
    if (place.users.size > 0) return;
    place.unlisten?.();
    stop(`all of ${namespace}`, place.whole);
    places.delete(namespace);
  };

  /** Key of the reconciled object -> key of what it refers to -> the reference. */
  const references = new Map<string, ReadonlyMap<string, ObjectRef>>();
  cache.onChange(kind, ({ type, object }) => {
    const had = references.get(keyOf(object)) ?? new Map<string, ObjectRef>();
    const wanted = new Map(
      (type === 'deleted' ? [] : referred(object)).map((ref) => [keyOf({ metadata: ref }), ref] as const),
    );
    for (const [key, ref] of wanted) if (!had.has(key)) add(key, ref);
    for (const [key, ref] of had) if (!wanted.has(key)) remove(key, ref);
    if (wanted.size > 0) references.set(keyOf(object), wanted);
    else references.delete(keyOf(object));
  });
}
