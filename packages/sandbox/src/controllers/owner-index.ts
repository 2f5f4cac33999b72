import { controllerOf, type Kind, type KubeObject, keyOf } from '@openstack-operator/kube';
import type { Cluster } from '../cluster/cluster.ts';
import type { Stored } from '../cluster/kinds.ts';

const NOBODY = '';

/** Objects of one kind by the uid of their controller. */
export class OwnerIndex<T extends KubeObject> {
  readonly #byOwner = new Map<string, Map<string, Stored<T>>>();

  constructor(cluster: Cluster, kind: Kind<T>) {
    cluster.subscribe(kind, ({ key, object, old }) => {
      if (old) this.#remove(uidOf(old), key);
      if (object) this.#add(uidOf(object), key, object);
    });
    for (const object of cluster.list(kind)) this.#add(uidOf(object), keyOf(object), object);
  }

  /** What that object controls, by name. */
  owned(owner: { metadata: { uid: string } }): Stored<T>[] {
    const found = [...(this.#byOwner.get(owner.metadata.uid)?.values() ?? [])];
    return found.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  /** What nobody controls. */
  orphans(namespace: string): Stored<T>[] {
    const all = [...(this.#byOwner.get(NOBODY)?.values() ?? [])];
    return all.filter(({ metadata }) => metadata.namespace === namespace);
  }

  get size(): number {
    return this.#byOwner.size;
  }

  #add(owner: string, key: string, object: Stored<T>): void {
    const objects = this.#byOwner.get(owner) ?? new Map<string, Stored<T>>();
    this.#byOwner.set(owner, objects);
    objects.set(key, object);
  }

  #remove(owner: string, key: string): void {
    const objects = this.#byOwner.get(owner);
    objects?.delete(key);
    if (objects?.size === 0) this.#byOwner.delete(owner);
  }
}

function uidOf(object: KubeObject): string {
  return controllerOf(object)?.uid ?? NOBODY;
}
