import { controllerOf, type Kind, type KubeObject, keyOf } from '@openstack-operator/kube';
import type { Cluster } from '../cluster/cluster.ts';
import { EventRecorder } from '../cluster/events.ts';
import type { Stored } from '../cluster/kinds.ts';
import type { ObjectChange } from '../cluster/object-source.ts';
import { Worklist } from '../cluster/worklist.ts';
import { type LabelSelector, selectorMatches } from '../resources/metadata.ts';

/** A running controller. */
export interface Controller {
  readonly name: string;
  /** Keys that wait now. */
  readonly ready: number;
  /** Entries in its per-key maps; 0 when nothing is left to look after. */
  readonly size: number;
  stop(): void;
}

/** What a controller works with. */
export interface ControllerContext {
  readonly cluster: Cluster;
  readonly recorder: EventRecorder;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Looks at a key again later. */
  readonly wakeAfter: (key: string, ms: number) => void;
}

/** Which keys a change of another kind concerns. */
export interface Wake {
  subscribe(cluster: Cluster, add: (key: string) => void): () => void;
}

/** A control loop over one kind: level-triggered, synchronous, one key at a time. */
export interface ControllerDefinition<T extends KubeObject> {
  /** As it stands in events: `deployment-controller`. */
  readonly name: string;
  readonly kind: Kind<T>;
  readonly wakes?: readonly Wake[];
  /** Compares what is with what should be, and does the next thing. A throw is a retry with back-off. */
  reconcile(object: Stored<T>, key: string, context: ControllerContext): void;
  /** The object has gone. */
  forget?(key: string, context: ControllerContext): void;
}

/** Starts a controller: every object that exists, and every one that changes or is woken, is reconciled. */
export function startController<T extends KubeObject>(
  cluster: Cluster,
  definition: ControllerDefinition<T>,
  onError: (what: string, error: unknown) => void,
): Controller {
  const { name, kind, wakes = [] } = definition;
  const recorder = new EventRecorder(cluster, name);
  const contextNow = (): ControllerContext => ({
    cluster,
    recorder,
    now: cluster.clock.now(),
    wakeAfter: (key, ms) => worklist.addAfter(key, ms),
  });
  const worklist = new Worklist({
    clock: cluster.clock,
    handle: (key) => {
      const object = cluster.get(kind, key);
      if (object) return definition.reconcile(object, key, contextNow());
      worklist.forget(key);
      definition.forget?.(key, contextNow());
    },
    onError: (key, error) => onError(`${name}: ${kind.kind} ${key}`, error),
  });
  const add = (key: string) => worklist.add(key);
  const subscriptions = [
    cluster.subscribe(kind, ({ key }) => add(key)),
    ...wakes.map((wake) => wake.subscribe(cluster, add)),
  ];
  for (const object of cluster.list(kind)) add(keyOf(object));
  return {
    name,
    get ready() {
      return worklist.ready;
    },
    get size() {
      return worklist.size;
    },
    stop: () => {
      for (const unsubscribe of subscriptions) unsubscribe();
      worklist.stop();
    },
  };
}

/** Wakes the controller of a changed object, when it is of that kind. */
export function ownerOf<T extends KubeObject>(kind: Kind<T>, ownerKind: Kind): Wake {
  return wakeBy(kind, ({ object, old }) => {
    const keys = [object, old].flatMap((state) => {
      const owner = state && controllerOf(state);
      if (owner?.kind !== ownerKind.kind) return [];
      return [state?.metadata.namespace ? `${state.metadata.namespace}/${owner.name}` : owner.name];
    });
    return new Set(keys);
  });
}

/** Wakes the keys that `keysOf` gives. */
export function wakeBy<T extends KubeObject>(
  kind: Kind<T>,
  keysOf: (change: ObjectChange<T>, cluster: Cluster) => Iterable<string>,
): Wake {
  return {
    subscribe: (cluster, add) =>
      cluster.subscribe(kind, (change) => {
        for (const key of keysOf(change, cluster)) add(key);
      }),
  };
}

/** Wakes those whose selector meets an object that nobody controls: it is theirs to adopt. */
export function orphansOf<T extends KubeObject & { spec: { selector?: LabelSelector } }>(
  orphans: Kind,
  kind: Kind<T>,
): Wake {
  return wakeBy(orphans, ({ object }, cluster) => {
    if (!object || controllerOf(object)) return [];
    return cluster
      .list(kind, object.metadata.namespace ?? '')
      .filter(({ spec }) => selectorMatches(spec.selector, object.metadata.labels ?? {}))
      .map(keyOf);
  });
}
