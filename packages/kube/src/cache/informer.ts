import type { KubeObject, StoredObject } from '../objects/objects.ts';
import { matchesFields, matchesLabels, parseLabelSelector, type Requirement } from '../objects/selectors.ts';
import { Reflector, type ReflectorOptions, type ReflectorSelection, type ReflectorState } from './reflector.ts';
import { Store, type StoreOptions } from './store.ts';

/** How an `Informer` is made. */
export interface InformerOptions<T extends KubeObject = KubeObject>
  extends Omit<ReflectorOptions<T>, 'store'>,
    StoreOptions<T> {}

/** One selection of one kind: its store, and the reflector that feeds it. */
export class Informer<T extends KubeObject = KubeObject> {
  readonly selection: ReflectorSelection;
  readonly store: Store<T>;
  readonly #reflector: Reflector<T>;
  readonly #labels: readonly Requirement[] | undefined;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: InformerOptions<T>) {
    this.selection = options.selection ?? {};
    this.store = new Store(options);
    this.#reflector = new Reflector({ ...options, store: this.store });
    const { labelSelector } = this.selection;
    this.#labels = labelSelector === undefined ? undefined : parseLabelSelector(labelSelector);
  }

  get state(): ReflectorState {
    return this.#reflector.state;
  }

  /** What went wrong last; undefined while all is well. */
  get error(): unknown {
    return this.#reflector.error;
  }

  start(): void {
    this.#running ??= this.#reflector.run(this.#stop.signal);
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('the informer was stopped'));
    await this.#running;
  }

  /** Whether an object is one of this selection. */
  selects(object: StoredObject<T>): boolean {
    const { namespace, fieldSelector } = this.selection;
    if (namespace !== undefined && object.metadata.namespace !== namespace) return false;
    if (this.#labels && !matchesLabels(this.#labels, object.metadata.labels)) return false;
    return fieldSelector === undefined || matchesFields(fieldSelector, object);
  }

  /** The answer to a write of ours: stored, or taken out when it left the selection by it. */
  accept(object: StoredObject<T>): StoredObject<T> | undefined {
    if (this.selects(object)) return this.store.accept(object);
    this.store.evict(object);
    return undefined;
  }
}
