import type { Informer } from './informer.ts';
import { type Kind, keyOf } from './objects.ts';
import type { ReflectorSelection } from './reflector.ts';
import type { Change, IndexFunction } from './store.ts';

/** A selection of a kind, for as long as somebody uses it. */
interface Selected {
  readonly informer: Informer;
  /** The only key that it can know, where it selects one object by its name. */
  readonly only: string | undefined;
  users: number;
  /** Users for whom the kind is not synced without it. */
  needed: number;
  /** Of users that follow it apart. */
  readonly listeners: Set<() => void>;
}

/** Makes the informer of a selection, which is to call `onState` when it is listed first, begins to be served, or ends. */
export type Inform = (selection: ReflectorSelection, onState: () => void) => Informer;

/** What a cache has of one kind: an informer for each selection that somebody uses, and who is told of changes. */
export class FollowedKind {
  readonly kind: Kind;
  readonly indexes = new Map<string, IndexFunction>();
  readonly listeners = new Set<(change: Change) => void>();
  readonly stateListeners = new Set<() => void>();
  readonly #selected = new Map<string, Selected>();
  /** Those that may know several objects, and the others by their only key: there may be thousands of these. */
  readonly #broad = new Set<Selected>();
  readonly #named = new Map<string, Selected>();

  constructor(kind: Kind) {
    this.kind = kind;
  }

  get informers(): Informer[] {
    return [...this.#selected.values()].map(({ informer }) => informer);
  }

  /** The informers without which the kind is not synced. */
  *needed(): Generator<Informer> {
    for (const { informer, needed } of this.#selected.values()) if (needed > 0) yield informer;
  }

  /** The informers that can know a key. */
  knowing(key: string): Informer[] {
    const one = this.#named.get(key);
    return [...this.#broad, ...(one ? [one] : [])].map(({ informer }) => informer);
  }

  addIndex(name: string, of: IndexFunction): void {
    this.indexes.set(name, of);
    for (const { informer } of this.#selected.values()) informer.store.addIndex(name, of);
  }

  /** Uses a selection; with `onState` apart from the kind. The last user to end it stops its informer. */
  use(selection: ReflectorSelection, onState: (() => void) | undefined, inform: Inform) {
    const id = JSON.stringify([selection.namespace, selection.labelSelector, selection.fieldSelector]);
    const selected = this.#selected.get(id) ?? this.#select(id, selection, inform);
    // A function of its own: two users may hand in the same one.
    const listener = onState && (() => onState());
    selected.users++;
    if (listener) selected.listeners.add(listener);
    else selected.needed++;
    const end = async (): Promise<void> => {
      if (listener) selected.listeners.delete(listener);
      else selected.needed--;
      if (--selected.users > 0) return;
      this.#selected.delete(id);
      this.#broad.delete(selected);
      if (selected.only !== undefined) this.#named.delete(selected.only);
      await selected.informer.stop();
    };
    return { informer: selected.informer, end };
  }

  #select(id: string, selection: ReflectorSelection, inform: Inform): Selected {
    const informer = inform(selection, () => {
      for (const listener of selected.listeners) listener();
      if (selected.needed > 0) for (const listener of this.stateListeners) listener();
    });
    informer.store.onChange((change) => {
      for (const listener of this.listeners) listener(change);
    });
    const only = onlyKey(this.kind, selection);
    const selected: Selected = { informer, only, users: 0, needed: 0, listeners: new Set() };
    this.#selected.set(id, selected);
    if (only === undefined) this.#broad.add(selected);
    else this.#named.set(only, selected);
    return selected;
  }
}

/** The key of the only object that a selection can be of, if it names one. */
function onlyKey(kind: Kind, { namespace, labelSelector, fieldSelector }: ReflectorSelection): string | undefined {
  const [, name] = /^metadata\.name=([^,]+)$/.exec(fieldSelector ?? '') ?? [];
  if (name === undefined || labelSelector !== undefined) return undefined;
  if (!kind.namespaced) return name;
  return namespace === undefined ? undefined : keyOf({ metadata: { namespace, name } });
}
