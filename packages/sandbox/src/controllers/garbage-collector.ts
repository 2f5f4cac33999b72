import { type Kind, keyOf, type OwnerReference } from '@openstack-operator/kube';
import { resourceIdOf } from '../api/store.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { EventRecorder } from '../cluster/events.ts';
import type { Stored } from '../cluster/kinds.ts';
import { Worklist } from '../cluster/worklist.ts';
import type { Controller } from './controller.ts';

const FOREGROUND = 'foregroundDeletion';
const ORPHAN = 'orphan';

interface Item {
  readonly kind: Kind;
  readonly key: string;
}

/**
 * Deletes what has lost its owners, and carries foreground and orphaning deletions out (pkg/controller/garbagecollector).
 * An owner is looked up by name in the dependent's own namespace: across namespaces it counts as absent.
 */
export class GarbageCollector implements Controller {
  readonly name = 'garbage-collector-controller';
  readonly #cluster: Cluster;
  readonly #recorder: EventRecorder;
  readonly #worklist: Worklist;
  readonly #unsubscribe: () => void;
  /** Owner's uid -> its dependents. */
  readonly #dependents = new Map<string, Map<string, Item>>();

  constructor(cluster: Cluster, onError: (what: string, error: unknown) => void) {
    this.#cluster = cluster;
    this.#recorder = new EventRecorder(cluster, this.name);
    this.#worklist = new Worklist({
      clock: cluster.clock,
      handle: (id) => this.#handle(id),
      onError: (id, error) => onError(`garbage collector: ${id}`, error),
    });
    this.#unsubscribe = cluster.subscribeAll((kind, { key, object, old }) => this.#observe({ kind, key }, object, old));
    for (const kind of cluster.kinds()) {
      for (const object of cluster.list(kind)) this.#observe({ kind, key: keyOf(object) }, object, undefined);
    }
  }

  get ready(): number {
    return this.#worklist.ready;
  }

  get size(): number {
    return this.#dependents.size + this.#worklist.size;
  }

  stop(): void {
    this.#unsubscribe();
    this.#worklist.stop();
  }

  #observe(item: Item, object: Stored | undefined, old: Stored | undefined): void {
    const id = idOf(item);
    const before = old?.metadata.ownerReferences ?? [];
    const after = object?.metadata.ownerReferences ?? [];
    if (before !== after) {
      for (const { uid } of before) {
        const dependents = this.#dependents.get(uid);
        dependents?.delete(id);
        if (dependents?.size === 0) this.#dependents.delete(uid);
      }
      for (const { uid } of after) {
        const dependents = this.#dependents.get(uid) ?? new Map<string, Item>();
        this.#dependents.set(uid, dependents);
        dependents.set(id, item);
      }
      // An owner that waits for its dependents may be free to go now.
      for (const reference of before) this.#wakeOwner(reference, old?.metadata.namespace);
      if (after.length > 0 && (!old || before.length !== after.length)) this.#worklist.add(id);
    }
    if (object === undefined) {
      this.#worklist.forget(id);
      for (const dependent of this.#dependents.get(old?.metadata.uid ?? '')?.keys() ?? [])
        this.#worklist.add(dependent);
      return;
    }
    if (
      object.metadata.deletionTimestamp &&
      object.metadata.finalizers?.some((name) => name === FOREGROUND || name === ORPHAN)
    ) {
      this.#worklist.add(id);
    }
  }

  #wakeOwner({ apiVersion, kind: kindName, name }: OwnerReference, namespace: string | undefined): void {
    const kind = this.#cluster.kindOf(apiVersion, kindName);
    if (!kind) return;
    const key = kind.namespaced ? `${namespace}/${name}` : name;
    const finalizers = this.#cluster.get(kind, key)?.metadata.finalizers;
    if (finalizers?.includes(FOREGROUND)) this.#worklist.add(idOf({ kind, key }));
  }

  #handle(id: string): void {
    const item = itemOf(id, this.#cluster);
    const object = item && this.#cluster.get(item.kind, item.key);
    if (!item || !object) return this.#worklist.forget(id);
    const { deletionTimestamp, finalizers = [], uid } = object.metadata;
    if (deletionTimestamp && finalizers.includes(ORPHAN)) return this.#orphan(item, uid);
    if (deletionTimestamp && finalizers.includes(FOREGROUND)) return this.#foreground(item, uid);
    if (object.metadata.ownerReferences?.length) this.#collect(item, object);
  }

  /** Lets the dependents go free, then the owner. */
  #orphan(item: Item, uid: string): void {
    for (const dependent of Array.from(this.#dependents.get(uid)?.values() ?? [])) this.#release(dependent, [uid]);
    this.#removeFinalizer(item, ORPHAN);
  }

  /** The owner goes when nothing that blocks it is left. */
  #foreground(item: Item, uid: string): void {
    const dependents = [...(this.#dependents.get(uid)?.entries() ?? [])];
    const blocking = dependents.filter(([, { kind, key }]) =>
      this.#cluster
        .get(kind, key)
        ?.metadata.ownerReferences?.some((owner) => owner.uid === uid && owner.blockOwnerDeletion),
    );
    if (blocking.length === 0) this.#removeFinalizer(item, FOREGROUND);
    for (const [id] of dependents) this.#worklist.add(id);
  }

  /** Deletes a dependent whose owners are all gone or going. */
  #collect(item: Item, object: Stored): void {
    if (object.metadata.deletionTimestamp) return;
    const { ownerReferences = [] } = object.metadata;
    const absent: string[] = [];
    const waiting: string[] = [];
    for (const reference of ownerReferences) {
      const state = this.#ownerState(reference, object);
      if (state === 'absent') absent.push(reference.uid);
      else if (state === 'waiting') waiting.push(reference.uid);
      // One owner that lives, or that nobody can look up, keeps it.
    }
    const solid = ownerReferences.length - absent.length - waiting.length;
    if (absent.length + waiting.length === 0) return;
    if (solid > 0) return this.#release(item, [...absent, ...waiting]);
    const { uid, finalizers = [] } = object.metadata;
    const own = this.#dependents.get(uid)?.size ?? 0;
    const policy =
      waiting.length > 0 && own > 0
        ? 'Foreground'
        : finalizers.includes(ORPHAN)
          ? 'Orphan'
          : finalizers.includes(FOREGROUND)
            ? 'Foreground'
            : 'Background';
    this.#cluster.delete(item.kind, object, { propagationPolicy: policy });
  }

  #ownerState(reference: OwnerReference, dependent: Stored): 'solid' | 'absent' | 'waiting' {
    const kind = this.#cluster.kindOf(reference.apiVersion, reference.kind);
    if (!kind) return 'solid';
    const { namespace } = dependent.metadata;
    if (kind.namespaced && namespace === undefined) {
      const message = `ownerRef [${reference.apiVersion}/${reference.kind}, namespace: , name: ${reference.name}, uid: ${reference.uid}] does not exist in namespace ""`;
      this.#recorder.record(dependent, 'OwnerRefInvalidNamespace', message, { type: 'Warning' });
      return 'solid';
    }
    const owner = this.#cluster.get(kind, kind.namespaced ? `${namespace}/${reference.name}` : reference.name);
    if (owner?.metadata.uid !== reference.uid) return 'absent';
    const foreground = owner.metadata.deletionTimestamp && owner.metadata.finalizers?.includes(FOREGROUND);
    return foreground && reference.blockOwnerDeletion ? 'waiting' : foreground ? 'absent' : 'solid';
  }

  #release({ kind, key }: Item, uids: readonly string[]): void {
    this.#cluster.update(kind, key, ({ metadata }) => {
      const rest = (metadata.ownerReferences ?? []).filter(({ uid }) => !uids.includes(uid));
      if (rest.length > 0) metadata.ownerReferences = rest;
      else delete metadata.ownerReferences;
    });
  }

  #removeFinalizer({ kind, key }: Item, finalizer: string): void {
    this.#cluster.update(kind, key, ({ metadata }) => {
      metadata.finalizers = (metadata.finalizers ?? []).filter((name) => name !== finalizer);
    });
  }
}

function idOf({ kind, key }: Item): string {
  return `${resourceIdOf(kind)}|${key}`;
}

function itemOf(id: string, cluster: Cluster): Item | undefined {
  const at = id.indexOf('|');
  const kind = cluster.kindAt(id.slice(0, at));
  return kind && { kind, key: id.slice(at + 1) };
}
