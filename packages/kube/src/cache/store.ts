import { controllerOf, type KubeObject, keyOf, type StoredObject } from '../objects/objects.ts';
import { compareResourceVersions } from '../objects/resource-version.ts';
import { intern } from './intern.ts';

/** A change of an object, reported after the store shows it. For a deletion `object` is the last known state. */
export interface Change<T extends KubeObject = KubeObject> {
  readonly type: 'added' | 'updated' | 'deleted';
  readonly object: StoredObject<T>;
  /** The state before, of an update. */
  readonly old?: StoredObject<T>;
}

/** The values under which an index files an object. Pure, and it never throws. */
export type IndexFunction<T extends KubeObject = KubeObject> = (object: StoredObject<T>) => readonly string[];

/** Makes an object smaller before it is stored. Pure; name, namespace, uid and resourceVersion must stay. */
export type Transform<T extends KubeObject = KubeObject> = (object: StoredObject<T>) => StoredObject<T>;

/** Options of `Store`. */
export interface StoreOptions<T extends KubeObject = KubeObject> {
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  readonly transform?: Transform<T>;
}

/** An owner of objects. A cluster-scoped owner has only the cluster-scoped objects it controls. */
export type Owner = { readonly metadata: Pick<StoredObject['metadata'], 'namespace' | 'uid'> };

/** Name of the index of objects by their controlling owner. */
const controlledBy = 'controlled-by';

function ownerKey(namespace: string | undefined, uid: string): string {
  return `${namespace ?? ''}/${uid}`;
}

interface Index<T extends KubeObject> {
  readonly of: IndexFunction<T>;
  /** Most values have one object, and a Set takes some 200 bytes. */
  readonly filed: Map<string, StoredObject<T> | Set<StoredObject<T>>>;
}

/**
 * The objects of one selection of one kind, frozen, by key, as far as this process knows. Two sources feed it: the
 * reader (`observe`, `drop`, `replace`, `advance`), in the server's order, and the answers to our own writes (`accept`,
 * `addTombstone`), which run ahead of the reader ("read your writes"). resourceVersions put both in one order: what is older
 * than what is known is refused. Where they have no order (see `compareResourceVersions`) the reader alone counts.
 *
 * An index `namespace` is always there, and one for `controlledBy`.
 */
export class Store<T extends KubeObject = KubeObject> {
  readonly #objects = new Map<string, StoredObject<T>>();
  readonly #indexes = new Map<string, Index<T>>();
  readonly #listeners = new Set<(change: Change<T>) => void>();
  /**
   * Tombstones, by uid: what we deleted (`gone`), or took out of the selection by that version, and of which the reader
   * has not said so yet.
   */
  readonly #tombstones = new Map<string, { readonly version: string; readonly gone: boolean }>();
  readonly #transform: Transform<T> | undefined;
  #version: string | undefined;

  constructor({ indexes = {}, transform }: StoreOptions<T> = {}) {
    this.#transform = transform;
    this.addIndex('namespace', (object) => [object.metadata.namespace ?? '']);
    this.addIndex(controlledBy, (object) => {
      const owner = controllerOf(object);
      return owner ? [ownerKey(object.metadata.namespace, owner.uid)] : [];
    });
    for (const [name, of] of Object.entries(indexes)) this.addIndex(name, of);
  }

  /** How far the reader has come; undefined before the first list. */
  get version(): string | undefined {
    return this.#version;
  }

  get size(): number {
    return this.#objects.size;
  }

  /** Deletions of ours that the reader has not confirmed yet. */
  get tombstones(): number {
    return this.#tombstones.size;
  }

  get(key: string): StoredObject<T> | undefined {
    return this.#objects.get(key);
  }

  list(): StoredObject<T>[] {
    return [...this.#objects.values()];
  }

  /** The objects that the index files under `value`. @throws Error when there is no such index */
  byIndex(name: string, value: string): StoredObject<T>[] {
    const index = this.#indexes.get(name);
    if (!index) throw new Error(`no index "${name}"; there are: ${[...this.#indexes.keys()].join(', ')}`);
    const filed = index.filed.get(value);
    if (filed === undefined) return [];
    return filed instanceof Set ? [...filed] : [filed];
  }

  /**
   * The objects whose controlling owner this is: those of its namespace, because an owner reference names an owner in
   * the namespace of the object that carries it. A uid alone could stand in an object of anybody.
   */
  controlledBy({ metadata: { namespace, uid } }: Owner): StoredObject<T>[] {
    return this.byIndex(controlledBy, ownerKey(namespace, uid));
  }

  /** Adds an index, over what is there already too. The same name again replaces it. */
  addIndex(name: string, of: IndexFunction<T>): void {
    const index: Index<T> = { of, filed: new Map() };
    this.#indexes.set(name, index);
    for (const object of this.#objects.values()) file(index, object);
  }

  /** Calls back, synchronously, after every change. Returns what ends it. */
  onChange(listener: (change: Change<T>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** What is stored of an object: without managedFields (half of its size), transformed, frozen, of bounded depth. */
  prepare(object: StoredObject<T>): StoredObject<T> {
    // Assigned, not deleted: `delete` turns the object into a dictionary of half as much again.
    const metadata = { ...object.metadata, managedFields: undefined } as unknown as StoredObject<T>['metadata'];
    const stripped = { ...object, metadata };
    return intern(this.#transform ? this.#transform(stripped) : stripped);
  }

  /** The reader saw this state (ADDED, MODIFIED). */
  observe(object: StoredObject<T>): void {
    const { resourceVersion } = object.metadata;
    this.advance(resourceVersion);
    if (this.#isOutdated(object)) return;
    const stored = this.#objects.get(keyOf(object));
    if (stored && isNotNewer(resourceVersion, stored.metadata.resourceVersion)) return;
    this.#set(this.prepare(object));
  }

  /** The reader saw this object go (DELETED): `object` carries the version of its going. */
  drop(object: StoredObject<T>): void {
    const { resourceVersion, uid } = object.metadata;
    this.advance(resourceVersion);
    const tombstone = this.#tombstones.get(uid);
    if (tombstone) {
      // News of an earlier version is that it left the selection once before.
      const order = compareResourceVersions(resourceVersion, tombstone.version) ?? 1;
      if (order >= 0) this.#tombstones.delete(uid);
    }
    const key = keyOf(object);
    const stored = this.#objects.get(key);
    if (!stored) return;
    const order = compareResourceVersions(resourceVersion, stored.metadata.resourceVersion);
    if (order === undefined ? stored.metadata.uid === uid : order >= 0) this.#delete(key);
  }

  /** The reader has come this far (BOOKMARK). */
  advance(version: string): void {
    if (this.#version !== undefined && isNotNewer(version, this.#version)) return;
    this.#version = version;
    // Of what left the selection before that there is nothing more to be told.
    for (const [uid, tombstone] of this.#tombstones) {
      if (!tombstone.gone && (compareResourceVersions(version, tombstone.version) ?? 0) >= 0)
        this.#tombstones.delete(uid);
    }
  }

  /**
   * The reader has the whole list, of this version, prepared: what is not in it is gone, unless a write of ours is
   * newer than the list. A list that is older than what the reader knew means that the server's history was set back
   * (a restored backup): then the list alone counts.
   */
  replace(objects: Iterable<StoredObject<T>>, version: string): void {
    const reset = this.#version !== undefined && (compareResourceVersions(version, this.#version) ?? 0) < 0;
    const listed = new Map<string, StoredObject<T>>();
    const uids = new Set<string>();
    for (const object of objects) {
      listed.set(keyOf(object), object);
      uids.add(object.metadata.uid);
    }
    for (const [uid, tombstone] of this.#tombstones) {
      // A list that is older than what we deleted does not have it yet: the reader will still tell of it.
      const tells = (compareResourceVersions(version, tombstone.version) ?? 0) >= 0;
      if (reset || (tells && !uids.has(uid))) this.#tombstones.delete(uid);
    }
    this.#version = version;
    for (const [key, stored] of this.#objects) {
      if (listed.has(key)) continue;
      const ahead = (compareResourceVersions(stored.metadata.resourceVersion, version) ?? -1) > 0;
      if (reset || !ahead) this.#delete(key);
    }
    for (const [key, object] of listed) {
      if (this.#isOutdated(object)) continue;
      const stored = this.#objects.get(key);
      const { resourceVersion } = object.metadata;
      const old = stored && isNotNewer(resourceVersion, stored.metadata.resourceVersion);
      // Of a history that begins anew the same version may be another object.
      if (!old || reset) this.#set(object);
    }
  }

  /** Nothing is there any more, and nothing is known (the API is not served). */
  clear(): void {
    this.#version = undefined;
    this.#tombstones.clear();
    for (const key of this.#objects.keys()) this.#delete(key);
  }

  /**
   * The answer to a write of ours. Refused when it is not newer than what is stored; when nothing is stored, and it is
   * not newer than the reader's progress, then the object has gone since. Gives what is stored now.
   */
  accept(object: StoredObject<T>): StoredObject<T> | undefined {
    const { resourceVersion } = object.metadata;
    const stored = this.#objects.get(keyOf(object));
    if (this.#isOutdated(object)) return stored;
    const known = stored?.metadata.resourceVersion ?? this.#version ?? '0';
    if ((compareResourceVersions(resourceVersion, known) ?? 0) <= 0) return stored;
    const prepared = this.prepare(object);
    // Another object of this name: what the reader still has to say of the one before it is old.
    if (stored && stored.metadata.uid !== object.metadata.uid) {
      this.#tombstones.set(stored.metadata.uid, { version: stored.metadata.resourceVersion, gone: true });
    }
    this.#set(prepared);
    return prepared;
  }

  /**
   * We deleted this object, and it did not stay for a finalizer. What the reader still has to say of it is old; that it
   * stays away is sure when the delete was bound to the resourceVersion that is known here.
   */
  addTombstone(object: { metadata: StoredObject['metadata'] }): void {
    const key = keyOf(object);
    const stored = this.#objects.get(key);
    // When it is not there any more, the reader was faster, and no news of it is to come.
    if (stored?.metadata.uid !== object.metadata.uid) return;
    this.#tombstones.set(stored.metadata.uid, { version: stored.metadata.resourceVersion, gone: true });
    this.#delete(key);
  }

  /** By a write of ours, which this is the answer to, this object left the selection. */
  evict(object: StoredObject<T>): void {
    const key = keyOf(object);
    const { uid, resourceVersion } = object.metadata;
    const stored = this.#objects.get(key);
    if (stored?.metadata.uid !== uid) return;
    if ((compareResourceVersions(resourceVersion, stored.metadata.resourceVersion) ?? 0) <= 0) return;
    this.#tombstones.set(uid, { version: resourceVersion, gone: false });
    this.#delete(key);
  }

  /** Whether this is old news of what we deleted or took out. */
  #isOutdated({ metadata: { uid, resourceVersion } }: StoredObject<T>): boolean {
    const tombstone = this.#tombstones.get(uid);
    if (!tombstone) return false;
    if (tombstone.gone || isNotNewer(resourceVersion, tombstone.version)) return true;
    this.#tombstones.delete(uid);
    return false;
  }

  #set(object: StoredObject<T>): void {
    const key = keyOf(object);
    const old = this.#objects.get(key);
    this.#objects.set(key, object);
    for (const index of this.#indexes.values()) {
      if (old) unfile(index, old);
      file(index, object);
    }
    this.#tell(old ? { type: 'updated', object, old } : { type: 'added', object });
  }

  #delete(key: string): void {
    const object = this.#objects.get(key);
    if (!object) return;
    this.#objects.delete(key);
    for (const index of this.#indexes.values()) unfile(index, object);
    this.#tell({ type: 'deleted', object });
  }

  #tell(change: Change<T>): void {
    for (const listener of this.#listeners) listener(change);
  }
}

function isNotNewer(version: string, than: string): boolean {
  const order = compareResourceVersions(version, than);
  return order !== undefined && order <= 0;
}

function file<T extends KubeObject>(index: Index<T>, object: StoredObject<T>): void {
  for (const value of index.of(object)) {
    const filed = index.filed.get(value);
    if (filed instanceof Set) filed.add(object);
    else index.filed.set(value, filed === undefined || filed === object ? object : new Set([filed, object]));
  }
}

function unfile<T extends KubeObject>(index: Index<T>, object: StoredObject<T>): void {
  for (const value of index.of(object)) {
    const filed = index.filed.get(value);
    if (filed instanceof Set) filed.delete(object);
    if (filed === object || (filed instanceof Set && filed.size === 0)) index.filed.delete(value);
  }
}
