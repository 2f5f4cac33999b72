import { intern, type Kind, type KubeObject, keyOf, type StoredObject } from '@openstack-operator/kube';
import { expired } from './status.ts';

/** `plural.group` (`plural` in the core group): names a kind's shelf in the store, whatever the version. */
export type ResourceId = string;

/** The shelf that a kind's objects lie on. Events are in two groups, and on one shelf. */
export function resourceIdOf(kind: Pick<Kind, 'group' | 'plural'>): ResourceId {
  if (kind.group === 'events.k8s.io' && kind.plural === 'events') return 'events';
  return kind.group ? `${kind.plural}.${kind.group}` : kind.plural;
}

/** One change. `object` is the state after it; of a deletion the last state, at the deletion's resourceVersion. */
export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly resource: ResourceId;
  readonly object: StoredObject;
  /** What was there before; absent when ADDED. */
  readonly old?: StoredObject;
  readonly version: number;
}

/** Called for every change, synchronously, in order, before the write returns. */
export type StoreListener = (event: StoreEvent) => void;

/** Objects as etcd keeps them: one revision counter, a bounded history, frozen values. */
export class Store {
  readonly #shelves = new Map<ResourceId, Map<string, StoredObject>>();
  readonly #sortedKeys = new Map<ResourceId, string[]>();
  readonly #listeners = new Map<ResourceId | undefined, Set<StoreListener>>();
  readonly #pending: StoreEvent[] = [];
  #history: StoreEvent[] = [];
  #version: number;
  #compacted: number;
  readonly #historyLimit: number;

  constructor(options: { historyLimit?: number; firstVersion?: number } = {}) {
    this.#historyLimit = options.historyLimit ?? 10_000;
    // What was before it is forgotten, as after a compaction.
    this.#version = options.firstVersion ?? 100;
    this.#compacted = this.#version;
  }

  /** The newest revision. */
  get version(): number {
    return this.#version;
  }

  /** The oldest revision that `since` and `listAt` still know. */
  get oldestVersion(): number {
    return this.#compacted;
  }

  get<T extends KubeObject>(resource: ResourceId | Kind<T>, key: string): StoredObject<T> | undefined {
    return this.#shelves.get(idOf(resource))?.get(key) as StoredObject<T> | undefined;
  }

  /** Sorted by key, as etcd gives them. */
  list<T extends KubeObject>(resource: ResourceId | Kind<T>, namespace?: string): StoredObject<T>[] {
    const id = idOf(resource);
    const shelf = this.#shelves.get(id);
    const keys = this.#sortedKeys.get(id) ?? [];
    if (!shelf) return [];
    // A slash ends a namespace's name in a key, and `0` comes next after it: what begins with both lies between.
    const [begin, end] =
      namespace === undefined ? [0, keys.length] : [placeOf(`${namespace}/`, keys), placeOf(`${namespace}0`, keys)];
    const found: StoredObject[] = [];
    for (let index = begin; index < end; index++) {
      const object = shelf.get(keys[index] as string);
      if (object) found.push(object);
    }
    return found as StoredObject<T>[];
  }

  /**
   * The objects as they were at a revision.
   * @throws StatusError 410 when that revision is forgotten
   */
  listAt(resource: ResourceId | Kind, version: number, namespace?: string): StoredObject[] {
    const id = idOf(resource);
    if (version < this.#compacted) throw expired(`too old resource version: ${version}`);
    const later = this.#history.filter((event) => event.version > version && event.resource === id);
    if (later.length === 0) return this.list(id, namespace);
    const then = new Map(this.#shelves.get(id));
    for (const event of later.reverse()) {
      if (event.old) then.set(keyOf(event.old), event.old);
      else then.delete(keyOf(event.object));
    }
    return [...then.entries()]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, object]) => object)
      .filter((object) => namespace === undefined || object.metadata.namespace === namespace);
  }

  /**
   * What happened to a kind after a revision.
   * @throws StatusError 410 when that is forgotten
   */
  since(resource: ResourceId | Kind, version: number): StoreEvent[] {
    const id = idOf(resource);
    if (version < this.#compacted) throw expired(`too old resource version: ${version} (${this.#compacted})`);
    return this.#history.filter((event) => event.version > version && event.resource === id);
  }

  /** Stores an object (created or changed) at the next revision and tells the listeners. */
  put(resource: ResourceId | Kind, object: KubeObject): StoredObject {
    const id = idOf(resource);
    let shelf = this.#shelves.get(id);
    if (!shelf) this.#shelves.set(id, (shelf = new Map()));
    const key = keyOf(object);
    const old = shelf.get(key);
    const stored = this.#atNextVersion(object);
    shelf.set(key, stored);
    if (!old) this.#keysOf(id).splice(placeOf(key, this.#keysOf(id)), 0, key);
    this.#record({
      type: old ? 'MODIFIED' : 'ADDED',
      resource: id,
      object: stored,
      ...(old && { old }),
      version: this.#version,
    });
    return stored;
  }

  /** Removes an object at the next revision; gives its last state, or undefined when there was none. */
  remove(resource: ResourceId | Kind, key: string): StoredObject | undefined {
    const id = idOf(resource);
    const shelf = this.#shelves.get(id);
    const old = shelf?.get(key);
    if (!shelf || !old) return undefined;
    shelf.delete(key);
    this.#keysOf(id).splice(placeOf(key, this.#keysOf(id)), 1);
    const last = this.#atNextVersion(old);
    this.#record({ type: 'DELETED', resource: id, object: last, old, version: this.#version });
    return last;
  }

  /** Listens to one kind, or to all; the function returned ends it. */
  subscribe(resource: ResourceId | Kind | undefined, listener: StoreListener): () => void {
    const id = resource === undefined ? undefined : idOf(resource);
    let listeners = this.#listeners.get(id);
    if (!listeners) this.#listeners.set(id, (listeners = new Set()));
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** Forgets the history, as etcd's compaction does: older watches and continue tokens get 410. */
  compact(): void {
    this.#history = [];
    this.#compacted = this.#version;
  }

  #keysOf(id: ResourceId): string[] {
    let keys = this.#sortedKeys.get(id);
    if (!keys) this.#sortedKeys.set(id, (keys = []));
    return keys;
  }

  #atNextVersion(object: KubeObject): StoredObject {
    this.#version += 1;
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) };
    // An API server keeps what it has accepted, however deep it is.
    return intern({ ...object, metadata }, Number.POSITIVE_INFINITY) as StoredObject;
  }

  #record(event: StoreEvent): void {
    this.#history.push(event);
    // Dropped in blocks: shifting one entry at each write would copy the whole history each time.
    if (this.#history.length > this.#historyLimit * 2) {
      const dropped = this.#history.splice(0, this.#history.length - this.#historyLimit);
      this.#compacted = dropped.at(-1)?.version ?? this.#compacted;
    }
    // A listener that writes must not make others see its event before this one.
    this.#pending.push(event);
    if (this.#pending.length > 1) return;
    for (let next = this.#pending[0]; next; next = this.#pending[0]) {
      try {
        const listeners = [this.#listeners.get(next.resource), this.#listeners.get(undefined)];
        for (const listener of listeners.flatMap((set) => [...(set ?? [])])) listener(next);
      } finally {
        this.#pending.shift();
      }
    }
  }
}

function idOf(resource: ResourceId | Kind): ResourceId {
  return typeof resource === 'string' ? resource : resourceIdOf(resource);
}

/** Where a key is in a sorted list, or would be. */
function placeOf(key: string, keys: readonly string[]): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
