import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { TimeSlice } from '../base/time-slice.ts';
import type { Client, ObjectRef } from '../client/api.ts';
import { apiVersionOf, type Kind, type KubeObject, keyOf, type StoredObject } from '../objects/objects.ts';
import { compareResourceVersions } from '../objects/resource-version.ts';
import { type LabelSelector, matchesLabels, readSelector } from '../objects/selectors.ts';
import { Informer } from './informer.ts';
import { type Inform, InformerSet } from './informer-set.ts';
import type { ReflectorSelection } from './reflector.ts';
import type { Change, IndexFunction, Owner, Transform } from './store.ts';

/** Reads watched objects, which are frozen. Reading a kind that is not watched throws. */
export interface CacheReader {
  /** By reference, or by key (`namespace/name`, or `name`). */
  get<T extends KubeObject>(kind: Kind<T>, ref: ObjectRef | string): StoredObject<T> | undefined;
  list<T extends KubeObject>(
    kind: Kind<T>,
    options?: { namespace?: string; labelSelector?: string | LabelSelector },
  ): StoredObject<T>[];
  /** The objects that index `name` files under `value`. Always there: `namespace`. */
  byIndex<T extends KubeObject>(kind: Kind<T>, name: string, value: string): StoredObject<T>[];
  /** The objects whose controlling owner this is; never those of another namespace, whatever they say. */
  controlledBy<T extends KubeObject>(kind: Kind<T>, owner: Owner): StoredObject<T>[];
  /**
   * Whether all objects of the kind are known: it was listed, or the server does not serve it. Single-object watches count
   * only when their namespace is given: one object that may not be read does not hold back other namespaces.
   */
  synced(kind: Kind, namespace?: string): boolean;
  /** Whether the server serves the kind, as far as is known: false only after it answered 404. With single-object watches alone: true. */
  served(kind: Kind): boolean;
  /** Whether this cache watches the kind. */
  has(kind: Kind): boolean;
}

/** Options of a watch of a kind. */
export interface WatchKindOptions<T extends KubeObject = KubeObject> {
  /** Beside the cache's namespaces: one namespace, labels, fields. */
  readonly selection?: ReflectorSelection;
  /** That of the first watch of a selection counts. */
  readonly transform?: Transform<T>;
}

/** Options of `Cache`. */
export interface CacheOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Shared by all that works in this process: a burst of events lets timers have their turn. */
  readonly slice?: TimeSlice;
  /** Watch namespaced kinds in these only, each by a watch of its own, so that Roles are enough. */
  readonly namespaces?: readonly string[];
}

/** The watched objects of a cluster: an informer for each kind, namespace and selection. */
export class Cache implements CacheReader {
  readonly #options: CacheOptions;
  readonly #kinds = new Map<string, InformerSet>();
  readonly #waiting = new Set<() => void>();
  #started = false;

  constructor(options: CacheOptions) {
    this.#options = options;
  }

  /** The kinds that are watched. */
  get kinds(): Kind[] {
    return [...this.#kinds.values()].map(({ kind }) => kind);
  }

  /** The watched kind that an object says it is of. */
  kindOf<T extends KubeObject>(object: T): Kind<T> | undefined {
    for (const { kind } of this.#kinds.values()) {
      if (kind.kind === object.kind && apiVersionOf(kind) === object.apiVersion) return kind as Kind<T>;
    }
    return undefined;
  }

  /**
   * Watches a kind, from now on when the cache runs. Equal selections share one watch. Returns a function that ends it:
   * the last user of a selection stops its watch.
   */
  watch<T extends KubeObject>(kind: Kind<T>, options: WatchKindOptions<T> = {}): () => Promise<void> {
    const set = this.#ensureInformerSet(kind);
    const inform: Inform = (selection, onState) =>
      this.#inform(set, selection, onState, options as unknown as WatchKindOptions);
    const ends = this.#selections(kind, options.selection ?? {}).map((selection) => set.use(selection, inform));
    return async () => {
      await Promise.all(ends.splice(0).map((end) => end()));
    };
  }

  /** Adds an index to a kind, over what is known of it already too. */
  addIndex<T extends KubeObject>(kind: Kind<T>, name: string, of: IndexFunction<T>): void {
    this.#ensureInformerSet(kind).addIndex(name, of as unknown as IndexFunction);
  }

  /** Begins to read. */
  start(): void {
    this.#started = true;
    for (const informer of this.#all) informer.start();
  }

  /** Ends all watches. What is known stays readable. */
  async stop(): Promise<void> {
    this.#started = false;
    await Promise.all(this.#all.map((informer) => informer.stop()));
  }

  /** Resolves once everything that is watched is synced. @throws the signal's reason when aborted before */
  async untilSynced(signal?: AbortSignal): Promise<void> {
    const done = () => this.kinds.every((kind) => this.synced(kind));
    while (!done()) {
      signal?.throwIfAborted();
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#waiting.delete(wake);
          signal?.removeEventListener('abort', wake);
          resolve();
        };
        this.#waiting.add(wake);
        signal?.addEventListener('abort', wake);
      });
    }
  }

  /** The kinds that are not synced yet, with what went wrong last. */
  unsynced(): { kind: Kind; error: unknown }[] {
    return this.kinds.flatMap((kind) => this.#informerSet(kind).starting.map(({ error }) => ({ kind, error })));
  }

  get<T extends KubeObject>(kind: Kind<T>, ref: ObjectRef | string): StoredObject<T> | undefined {
    const key = typeof ref === 'string' ? ref : keyOf({ metadata: ref });
    let newest: StoredObject<T> | undefined;
    for (const { store } of this.#knowing(kind, key)) {
      const found = store.get(key);
      if (found && (!newest || isNewer(found, newest))) newest = found;
    }
    return newest;
  }

  list<T extends KubeObject>(
    kind: Kind<T>,
    { namespace, labelSelector }: { namespace?: string; labelSelector?: string | LabelSelector } = {},
  ): StoredObject<T>[] {
    const informers = this.#informers(kind, namespace);
    const objects = merge(
      informers.map(({ store }) => (namespace === undefined ? store.list() : store.byIndex('namespace', namespace))),
    );
    if (labelSelector === undefined) return objects;
    const requirements = readSelector(labelSelector);
    return objects.filter((object) => matchesLabels(requirements, object.metadata.labels));
  }

  byIndex<T extends KubeObject>(kind: Kind<T>, name: string, value: string): StoredObject<T>[] {
    return merge(this.#informers(kind).map(({ store }) => store.byIndex(name, value)));
  }

  controlledBy<T extends KubeObject>(kind: Kind<T>, owner: Owner): StoredObject<T>[] {
    return merge(this.#informers(kind, owner.metadata.namespace).map(({ store }) => store.controlledBy(owner)));
  }

  synced(kind: Kind, namespace?: string): boolean {
    return this.#informerSet(kind).synced(namespace);
  }

  served(kind: Kind): boolean {
    return this.#informerSet(kind).served;
  }

  has(kind: Kind): boolean {
    return this.#kinds.has(idOf(kind));
  }

  /** Calls back, synchronously, after every change of the kind's objects. Returns what ends it. */
  onChange<T extends KubeObject>(kind: Kind<T>, listener: (change: Change<T>) => void): () => void {
    const { listeners } = this.#ensureInformerSet(kind);
    listeners.add(listener as unknown as (change: Change) => void);
    return () => listeners.delete(listener as unknown as (change: Change) => void);
  }

  /**
   * Calls back when the kind is listed first, begins to be served, or ends; with the object of a single-object watch,
   * or with its namespace and no name. Returns what ends it.
   */
  onState(kind: Kind, listener: (only: ObjectRef | undefined) => void): () => void {
    const { stateListeners } = this.#ensureInformerSet(kind);
    stateListeners.add(listener);
    return () => stateListeners.delete(listener);
  }

  /** The answer to a write of ours. Gives what is cached now: the same or something newer; undefined if nothing is. */
  accept<T extends KubeObject>(kind: Kind<T>, object: StoredObject<T>): StoredObject<T> | undefined {
    if (!this.has(kind)) return undefined;
    const key = keyOf(object);
    for (const informer of this.#knowing(kind, key)) informer.accept(object);
    return this.get(kind, key);
  }

  /** We deleted an object, and it is gone. */
  addTombstone(kind: Kind, object: { metadata: StoredObject['metadata'] }): void {
    if (!this.has(kind)) return;
    for (const { store } of this.#knowing(kind, keyOf(object))) store.addTombstone(object);
  }

  #ensureInformerSet(kind: Kind): InformerSet {
    const id = idOf(kind);
    let set = this.#kinds.get(id);
    if (!set) {
      set = new InformerSet(kind);
      set.stateListeners.add(() => {
        for (const wake of this.#waiting) wake();
      });
      this.#kinds.set(id, set);
    }
    return set;
  }

  #inform(
    { kind, indexes }: InformerSet,
    selection: ReflectorSelection,
    onState: () => void,
    { transform }: WatchKindOptions,
  ): Informer {
    const { client, clock, random, log, slice } = this.#options;
    const informer = new Informer({
      client,
      kind,
      selection,
      clock,
      random,
      log: log.with({ watch: `${kind.plural}.${apiVersionOf(kind)}`, ...selection }),
      indexes: Object.fromEntries(indexes),
      ...(slice ? { slice } : {}),
      ...(transform ? { transform } : {}),
      onState,
    });
    if (this.#started) informer.start();
    return informer;
  }

  /** One selection a namespace, where the cache is bound to namespaces. */
  #selections(kind: Kind, selection: ReflectorSelection): ReflectorSelection[] {
    const { namespaces } = this.#options;
    if (!kind.namespaced || namespaces === undefined || selection.namespace !== undefined) return [selection];
    return namespaces.map((namespace) => ({ ...selection, namespace }));
  }

  #informers<T extends KubeObject>(kind: Kind<T>, namespace?: string): Informer<T>[] {
    return this.#informerSet(kind).informers(namespace) as unknown as Informer<T>[];
  }

  #knowing<T extends KubeObject>(kind: Kind<T>, key: string): Informer<T>[] {
    return this.#informerSet(kind).knowing(key) as unknown as Informer<T>[];
  }

  #informerSet(kind: Kind): InformerSet {
    const set = this.#kinds.get(idOf(kind));
    if (set) return set;
    throw new Error(
      `${kind.kind}.${apiVersionOf(kind)} is read from the cache but not watched: add it to what the controller owns or watches`,
    );
  }

  get #all(): Informer[] {
    return [...this.#kinds.values()].flatMap((set) => set.informers());
  }
}

/** Asked at every read: made once for each kind. */
const ids = new WeakMap<Kind, string>();

function idOf(kind: Kind): string {
  let id = ids.get(kind);
  if (id === undefined) ids.set(kind, (id = `${kind.plural}.${apiVersionOf(kind)}`));
  return id;
}

function isNewer(a: StoredObject, b: StoredObject): boolean {
  return (compareResourceVersions(a.metadata.resourceVersion, b.metadata.resourceVersion) ?? 0) > 0;
}

/** Selections may overlap: of an object that several of them know, the newest state. */
function merge<T extends KubeObject>(lists: StoredObject<T>[][]): StoredObject<T>[] {
  if (lists.length === 1) return lists[0] as StoredObject<T>[];
  const merged = new Map<string, StoredObject<T>>();
  for (const list of lists) {
    for (const object of list) {
      const other = merged.get(keyOf(object));
      if (!other || isNewer(object, other)) merged.set(keyOf(object), object);
    }
  }
  return [...merged.values()];
}
