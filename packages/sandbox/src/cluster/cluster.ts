import {
  apiVersionOf,
  type Clock,
  type Kind,
  type KubeObject,
  keyOf,
  type Random,
  timestamp,
} from '@openstack-operator/kube';
import type { Core, WriteRequest } from '../api/core.ts';
import { type DeleteRequest, deleteObject } from '../api/delete.ts';
import { StatusError } from '../api/status.ts';
import type { ResourceId } from '../api/store.ts';
import { createObject, replaceObject } from '../api/write.ts';
import { cloneJson, deepEqual } from '../resources/json.ts';
import { Namespace, Pod, type Stored } from './kinds.ts';
import { type ObjectChange, type ObjectSource } from './object-source.ts';

/**
 * One component's way to the API server from within its process: reads are the store's own frozen objects, writes go
 * through defaulting, validation and admission and are done when the call returns. Nothing can change between a read and
 * a write of the same synchronous piece of code, so there are no conflicts.
 */
export class Cluster implements ObjectSource {
  readonly clock: Clock;
  readonly random: Random;
  readonly #core: Core;
  readonly #manager: string;
  /** The registry looks through all its kinds; every change of any object asks. */
  readonly #kinds = new Map<ResourceId, Kind>();

  /** @param manager the component's name in managedFields: `kube-controller-manager`, `kubelet` */
  constructor(core: Core, manager: string) {
    this.#core = core;
    this.#manager = manager;
    this.clock = core.clock;
    this.random = core.random;
  }

  /** The same cluster, written to under another name. */
  as(manager: string): Cluster {
    return new Cluster(this.#core, manager);
  }

  /** Now, as `metav1.Time`. */
  now(): string {
    return timestamp(this.clock);
  }

  get<T extends KubeObject>(kind: Kind<T>, key: string): Stored<T> | undefined {
    return this.#core.store.get(kind, key);
  }

  list<T extends KubeObject>(kind: Kind<T>, namespace?: string): Stored<T>[] {
    return this.#core.store.list(kind, namespace) as Stored<T>[];
  }

  subscribe<T extends KubeObject>(kind: Kind<T>, listener: (change: ObjectChange<T>) => void): () => void {
    return this.#core.store.subscribe(kind, ({ type, object, old }) =>
      listener({
        key: keyOf(object),
        object: type === 'DELETED' ? undefined : (object as Stored<T>),
        old: old as Stored<T> | undefined,
      }),
    );
  }

  /** Every change of every kind. */
  subscribeAll(listener: (kind: Kind, change: ObjectChange) => void): () => void {
    return this.#core.store.subscribe(undefined, ({ type, resource, object, old }) => {
      const kind = this.kindAt(resource);
      if (kind) listener(kind, { key: keyOf(object), object: type === 'DELETED' ? undefined : object, old });
    });
  }

  /** The kind on a shelf of the store, in one of its versions. */
  kindAt(resource: ResourceId): Kind | undefined {
    let kind = this.#kinds.get(resource);
    if (!kind) {
      kind = this.#core.registry.versionsOf(resource)[0]?.type.kind;
      if (kind) this.#kinds.set(resource, kind);
    }
    return kind;
  }

  /** Takes the finalizer `kubernetes` from a namespace, and removes it when that was the last. */
  finalize(namespace: string): void {
    const live = this.get(Namespace, namespace);
    if (!live) return;
    const finalizers = (live.spec?.finalizers ?? []).filter((name) => name !== 'kubernetes');
    const stored = this.#core.store.put(Namespace, { ...live, spec: finalizers.length > 0 ? { finalizers } : {} });
    if (finalizers.length === 0 && !stored.metadata.finalizers?.length) this.#core.store.remove(Namespace, namespace);
  }

  /** Every kind that is served, once, in one of its versions. */
  kinds(): Kind[] {
    const seen = new Map(this.#core.registry.all().map(({ id, type }) => [id, type.kind]));
    return [...seen.values()];
  }

  /** The kind that an owner reference names, if it is served. */
  kindOf(apiVersion: string, kind: string): Kind | undefined {
    return this.#core.registry.findKind(apiVersion, kind)?.type.kind;
  }

  /** @throws StatusError such as 409 AlreadyExists, 422 Invalid, 403 when the namespace is being deleted */
  create<T extends KubeObject>(kind: Kind<T>, object: T): Stored<T> {
    const body = { ...cloneJson(object), apiVersion: apiVersionOf(kind), kind: kind.kind };
    const { namespace = '', name = '' } = object.metadata;
    return createObject(this.#core, this.#write(kind, namespace, name), body) as Stored<T>;
  }

  /**
   * Changes an object: `change` gets a copy and works on it; false leaves everything as it is. Undefined when the object
   * is not there. A change that comes to nothing is no write.
   */
  update<T extends KubeObject>(
    kind: Kind<T>,
    key: string,
    change: (draft: Stored<T>) => boolean | void,
    subresource = '',
  ): Stored<T> | undefined {
    const live = this.get(kind, key);
    if (live === undefined) return undefined;
    const draft = draftOf(live);
    if (change(draft) === false || deepEqual(draft, live)) return live;
    const { namespace = '', name } = live.metadata;
    return replaceObject(this.#core, this.#write(kind, namespace, name, subresource), draft).object as Stored<T>;
  }

  /** Sets the status of an object, as a whole. */
  updateStatus<T extends KubeObject & { status?: unknown }>(
    kind: Kind<T>,
    key: string,
    status: T['status'],
  ): Stored<T> | undefined {
    return this.update(
      kind,
      key,
      (draft) => {
        draft.status = cloneJson(status);
      },
      'status',
    );
  }

  /** Binds a pod to a node, as POST to its `binding` does: the only way to set `spec.nodeName`. */
  bind(pod: Stored<Pod>, nodeName: string): void {
    const others = pod.status?.conditions?.filter(({ type }) => type !== 'PodScheduled') ?? [];
    const scheduled = {
      type: 'PodScheduled',
      status: 'True',
      lastProbeTime: null as unknown as string,
      lastTransitionTime: this.now(),
    };
    const { nominatedNodeName: _, ...status } = pod.status ?? {};
    this.#core.store.put(Pod, {
      ...pod,
      spec: { ...pod.spec, nodeName },
      status: { ...status, conditions: [...others, scheduled] },
    });
  }

  /** Deletes an object; one that is not there (any more, or under that uid) is no error. */
  delete(kind: Kind, object: { metadata: KubeObject['metadata'] }, options: DeleteRequest = {}): void {
    const { namespace = '', name = '', uid } = object.metadata;
    try {
      deleteObject(this.#core, this.#write(kind, namespace, name), {
        ...options,
        ...(uid && { preconditions: { uid } }),
      });
    } catch (error) {
      if (!(error instanceof StatusError) || (error.status.code !== 404 && error.status.code !== 409)) throw error;
    }
  }

  #write(kind: Kind, namespace: string, name: string, subresource = ''): WriteRequest {
    const served = this.#core.registry.find(kind.group, kind.version, kind.plural);
    if (served === undefined) throw new Error(`${kind.kind} (${apiVersionOf(kind)}) is not served by this sandbox`);
    return {
      served,
      namespace,
      name,
      subresource,
      user: { name: `system:${this.#manager}`, groups: ['system:masters'] },
      manager: this.#manager,
      dryRun: false,
      warn: () => {},
    };
  }
}

/** Whether the API server refused with this HTTP status. */
export function refusedWith(error: unknown, code: number): boolean {
  return error instanceof StatusError && error.status.code === code;
}

/** A copy to work on; who manages its fields is not copied, as no change is made to that. */
function draftOf<T extends KubeObject>(live: T): T {
  const { managedFields, ...metadata } = live.metadata;
  const draft = cloneJson({ ...live, metadata });
  return managedFields === undefined ? draft : { ...draft, metadata: { ...draft.metadata, managedFields } };
}
