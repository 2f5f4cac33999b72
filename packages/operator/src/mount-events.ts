import {
  Event,
  type KubeObject,
  Pod,
  parseTimestamp,
  type ReconcileContext,
  type StoredObject,
} from '@openstack-operator/kube';
import { conditionOf } from '@openstack-operator/openstack';

/** What the kubelet says of pods that wait for their volumes, by the pod's uid. */
export interface MountEvents {
  readonly words: ReadonlyMap<string, string>;
  /** Milliseconds until it may have something to say of a pod that waits; undefined when none does. */
  readonly requeueAfter: number | undefined;
}

const none: MountEvents = { words: new Map(), requeueAfter: undefined };

/**
 * Milliseconds after a pod got its node at which its events are looked at: a mount that fails does so at once, and the
 * kubelet says after about two minutes for which volumes it still waits (kubelet, podAttachAndMountTimeout 2m3s).
 */
const looksAt = [20_000, 150_000];
/** Pods of one resource that are asked about in one reconcile: one of them is enough to say why. */
const mostPods = 3;
/** Events of one pod that are read. */
const mostEvents = 20;

interface Looked {
  readonly at: number;
  readonly words: string | undefined;
}

/**
 * A pod whose volume cannot be mounted says so in an event alone. Events are many and short-lived, and API servers keep
 * no cache of them: they are neither watched nor listed as a whole, but read for a pod that has been waiting for a while,
 * at most once between two of the moments above.
 */
export class MountEventReader {
  /** Key of the resource -> uid of the pod -> what was found last. */
  readonly #looked = new Map<string, Map<string, Looked>>();

  /** Reads the events of the resource's pods that wait for volumes. `service`: their `app.kubernetes.io/name`. */
  async read(context: ReconcileContext, service: string): Promise<MountEvents> {
    const { key, cache, clock, object } = context;
    const { name, namespace = '' } = object.metadata;
    // One that is Ready with a message has a node whose agents are not up.
    const ready = conditionOf(object, 'Ready');
    if (ready?.status === 'True' && !ready.message) return this.#nothing(key);
    const labelSelector = { matchLabels: { 'app.kubernetes.io/name': service, 'app.kubernetes.io/instance': name } };
    const waiting = cache.list(Pod, { namespace, labelSelector }).filter(waitsForVolumes);
    if (waiting.length === 0) return this.#nothing(key);
    const before = this.#looked.get(key);
    const looked = new Map<string, Looked>();
    let asked = 0;
    let next = Number.POSITIVE_INFINITY;
    for (const pod of waiting) {
      const { uid } = pod.metadata;
      const since = parseTimestamp(conditionOf(pod, 'PodScheduled')?.lastTransitionTime ?? '');
      if (Number.isNaN(since)) continue;
      const now = clock.now();
      let last = before?.get(uid);
      const due = looksAt.findLast((moment) => since + moment <= now);
      if (due !== undefined && (last === undefined || last.at < since + due) && asked < mostPods) {
        asked++;
        last = { at: now, words: (await lastFailure(context, pod)) ?? last?.words };
      }
      if (last !== undefined) looked.set(uid, last);
      const coming = looksAt.find((moment) => since + moment > now);
      if (coming !== undefined) next = Math.min(next, since + coming - now);
    }
    this.#looked.set(key, looked);
    const words = [...looked].flatMap(([uid, found]) =>
      found.words === undefined ? [] : [[uid, found.words] as const],
    );
    return { words: new Map(words), requeueAfter: Number.isFinite(next) ? next : undefined };
  }

  /** The resource is gone. */
  forget(key: string): void {
    this.#looked.delete(key);
  }

  #nothing(key: string): MountEvents {
    this.#looked.delete(key);
    return none;
  }
}

/** The newest message of a failed mount. Without it the condition says less, which is no reason to fail. */
async function lastFailure({ client, log, signal }: ReconcileContext, pod: StoredObject): Promise<string | undefined> {
  const { uid, namespace = '' } = pod.metadata;
  try {
    const { items } = await client.list(Event, {
      namespace,
      fieldSelector: `involvedObject.uid=${uid},reason=FailedMount`,
      limit: mostEvents,
      signal,
    });
    const newest = items.sort((a, b) => (timeOf(a) < timeOf(b) ? -1 : 1)).at(-1);
    return newest?.message;
  } catch (error) {
    if (signal.aborted) throw error;
    log.info('the events of a pod could not be read', { pod: pod.metadata.name, error });
    return undefined;
  }
}

/** When an event was seen last. */
function timeOf({ metadata, ...event }: KubeObject): string {
  const { lastTimestamp, eventTime } = event as { lastTimestamp?: string | null; eventTime?: string | null };
  return lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '';
}

/** It has a node, and a container that has not begun because the pod's volumes are not there yet. */
function waitsForVolumes(pod: StoredObject): boolean {
  if (conditionOf(pod, 'PodScheduled')?.status !== 'True') return false;
  const { initContainerStatuses = [], containerStatuses = [] } = (pod['status'] ?? {}) as Record<
    'initContainerStatuses' | 'containerStatuses',
    readonly { readonly state?: { readonly waiting?: { readonly reason?: string } } }[] | undefined
  >;
  return [...initContainerStatuses, ...containerStatuses].some(({ state }) =>
    ['ContainerCreating', 'PodInitializing'].includes(state?.waiting?.reason ?? ''),
  );
}
