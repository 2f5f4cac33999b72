import type { Kind, KubeObject, StoredObject } from '@openstack-operator/kube';
import { type ResourceId, Store, type StoreEvent, type StoreListener } from './store.ts';

/** The store as an API server sees it whose cache lags behind etcd: for reads alone. Who listens catches up. */
export class LaggingStore extends Store {
  readonly #store: Store;
  readonly #version: number;

  constructor(store: Store, versions: number) {
    super();
    this.#store = store;
    this.#version = Math.max(store.oldestVersion, store.version - versions);
  }

  override get version(): number {
    return this.#version;
  }

  override get oldestVersion(): number {
    return this.#store.oldestVersion;
  }

  override get<T extends KubeObject>(resource: ResourceId | Kind<T>, key: string): StoredObject<T> | undefined {
    const [first, second] = key.split('/');
    return this.list(resource).find(
      ({ metadata: { namespace, name } }) => name === (second ?? first) && namespace === (second && first),
    );
  }

  override list<T extends KubeObject>(resource: ResourceId | Kind<T>, namespace?: string): StoredObject<T>[] {
    return this.#store.listAt(resource, this.#version, namespace) as StoredObject<T>[];
  }

  override listAt(resource: ResourceId | Kind, version: number, namespace?: string): StoredObject[] {
    return this.#store.listAt(resource, Math.min(version, this.#version), namespace);
  }

  override since(resource: ResourceId | Kind, version: number): StoreEvent[] {
    return this.#store.since(resource, version).filter((event) => event.version <= this.#version);
  }

  override subscribe(resource: ResourceId | Kind | undefined, listener: StoreListener): () => void {
    if (resource !== undefined) for (const event of this.#store.since(resource, this.#version)) listener(event);
    return this.#store.subscribe(resource, listener);
  }
}
