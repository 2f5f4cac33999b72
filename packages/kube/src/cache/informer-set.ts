import type { ObjectRef } from '../client/api.ts';
import { type Kind, keyOf } from '../objects/objects.ts';
import { parseFieldSelector } from '../objects/selectors.ts';
import type { Informer } from './informer.ts';
import type { ReflectorSelection } from './reflector.ts';
import type { Change, IndexFunction } from './store.ts';

/** A selection of a kind, for as long as somebody uses it. */
interface Selected {
  readonly informer: Informer;
  /** Where it selects one object of a namespace by its name, or the whole namespace (name ''). */
  readonly only: Required<ObjectRef> | undefined;
  users: number;
}

/** Makes the informer of a selection, which is to call `onState` when it is listed first, begins to be served, or ends. */
export type Inform = (selection: ReflectorSelection, onState: () => void) => Informer;

/**
 * What a cache has of one kind: an informer for each selection that somebody uses, and who is told of changes. A selection
 * of one object by its name, of which there may be thousands, or of a whole namespace by `wholeNamespace`, concerns that
 * namespace alone.
 */
export class InformerSet {
  readonly kind: Kind;
  readonly indexes = new Map<string, IndexFunction>();
  readonly listeners = new Set<(change: Change) => void>();
  readonly stateListeners = new Set<(only: ObjectRef | undefined) => void>();
  readonly #selected = new Map<string, Selected>();
  readonly #broad = new Set<Informer>();
  /** Namespace -> key -> informer. */
  readonly #named = new Map<string, Map<string, Informer>>();
  /** What is not listed yet: namespace -> informers; those that are not of one object at undefined. */
  readonly #starting = new Map<string | undefined, Set<Informer>>();

  constructor(kind: Kind) {
    this.kind = kind;
  }

  /** The informers that can know objects of a namespace; without one, all. */
  informers(namespace?: string): Informer[] {
    const named = namespace === undefined ? [...this.#named.values()] : [this.#named.get(namespace)];
    return [...this.#broad, ...named.flatMap((informers) => [...(informers?.values() ?? [])])];
  }

  /** The informers that can know a key. */
  knowing(key: string): Informer[] {
    const end = key.indexOf('/') + 1;
    const named = this.#named.get(key.slice(0, Math.max(0, end - 1)));
    return [...this.#broad, ...[key, key.slice(0, end)].flatMap((one) => named?.get(one) ?? [])];
  }

  /** Informers of more than one object that are not synced. */
  get starting(): Informer[] {
    return [...(this.#starting.get(undefined) ?? [])];
  }

  /** Whether all lists are done, except those of single-object watches; with `namespace`, those of that namespace too. */
  synced(namespace?: string): boolean {
    return !this.#starting.has(undefined) && !this.#starting.has(namespace);
  }

  /** Whether the server serves it, as far as is known. */
  get served(): boolean {
    return this.#broad.values().every(({ state }) => state !== 'not-served');
  }

  addIndex(name: string, of: IndexFunction): void {
    this.indexes.set(name, of);
    for (const { informer } of this.#selected.values()) informer.store.addIndex(name, of);
  }

  /** Uses a selection. Gives what ends that: the last user stops its informer. */
  use(selection: ReflectorSelection, inform: Inform): () => Promise<void> {
    const id = JSON.stringify([selection.namespace, selection.labelSelector, selection.fieldSelector]);
    const selected = this.#selected.get(id) ?? this.#select(id, selection, inform);
    selected.users++;
    return async () => {
      if (--selected.users > 0) return;
      const { informer, only } = selected;
      this.#selected.delete(id);
      this.#broad.delete(informer);
      if (only) drop(this.#named, only.namespace, keyOf({ metadata: only }));
      if (drop(this.#starting, only?.namespace, informer)) this.#tell(only);
      await informer.stop();
    };
  }

  #select(id: string, selection: ReflectorSelection, inform: Inform): Selected {
    const only = this.kind.namespaced ? onlyObject(selection) : undefined;
    const informer = inform(selection, () => {
      if (informer.state !== 'starting') drop(this.#starting, only?.namespace, informer);
      this.#tell(only);
    });
    informer.store.onChange((change) => {
      for (const listener of this.listeners) listener(change);
    });
    const selected: Selected = { informer, only, users: 0 };
    this.#selected.set(id, selected);
    const starting = this.#starting.get(only?.namespace) ?? new Set();
    this.#starting.set(only?.namespace, starting.add(informer));
    if (only) {
      const named = this.#named.get(only.namespace) ?? new Map<string, Informer>();
      this.#named.set(only.namespace, named.set(keyOf({ metadata: only }), informer));
    } else this.#broad.add(informer);
    return selected;
  }

  #tell(only: ObjectRef | undefined): void {
    for (const listener of this.stateListeners) listener(only);
  }
}

/** Takes an entry out of a group, and an empty group away. Whether the entry was there. */
function drop<G, K>(
  groups: Map<G, { delete(key: K): boolean; readonly size: number }>,
  group: G,
  key: NoInfer<K>,
): boolean {
  const entries = groups.get(group);
  const had = entries?.delete(key) ?? false;
  if (entries?.size === 0) groups.delete(group);
  return had;
}

/** The selection of all objects of a namespace that concern nobody elsewhere. */
export function wholeNamespace(namespace: string): ReflectorSelection {
  return { namespace, fieldSelector: `metadata.namespace=${namespace}` };
}

/** The only object that a selection can be of, if it names one in a namespace; with name '' all of a `wholeNamespace`. */
function onlyObject({ namespace, labelSelector, fieldSelector }: ReflectorSelection): Required<ObjectRef> | undefined {
  if (namespace === undefined || labelSelector !== undefined || fieldSelector === undefined) return undefined;
  if (fieldSelector === wholeNamespace(namespace).fieldSelector) return { namespace, name: '' };
  const [condition, ...more] = parseFieldSelector(fieldSelector);
  if (condition?.path !== 'metadata.name' || condition.negated || more.length > 0) return undefined;
  return { namespace, name: condition.value };
}
