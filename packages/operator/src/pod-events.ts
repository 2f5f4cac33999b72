import {
  DaemonSet,
  Event,
  Job,
  type Kind,
  type KubeObject,
  Pod,
  parseTimestamp,
  type ReconcileContext,
  StatefulSet,
  type StoredObject,
} from '@openstack-operator/kube';
import { conditionOf } from '@openstack-operator/openstack';
import { podsWith } from './component-pods.ts';

/**
 * What the kubelet says of pods that wait for their volumes, and what the controllers of Kubernetes say of workloads and
 * Jobs whose pods are refused, by the uid of the pod or the workload.
 */
export interface PodEvents {
  readonly words: ReadonlyMap<string, string>;
  /** Milliseconds until there may be something to say of one that waits; undefined when none does. */
  readonly requeueAfter: number | undefined;
}

/** Something that waits, and what Kubernetes says only in events of this reason. */
interface Waiting {
  readonly object: StoredObject;
  readonly reason: 'FailedMount' | 'FailedCreate';
  /** Milliseconds since the epoch; undefined where nothing but its being seen tells. */
  readonly since?: number;
  /** The newest pod of a workload: what was said before it is outdated. */
  readonly newest?: StoredObject;
}

interface Looked {
  readonly since: number;
  readonly newest: string | undefined;
  readonly at?: number;
  readonly words?: string | undefined;
}

/**
 * Milliseconds of waiting after which events are looked at. A mount that fails does so at once, and the kubelet says after
 * about two minutes for which volumes it still waits (kubelet, podAttachAndMountTimeout 2m3s). A refused pod is tried again
 * after up to 1000 s (controllers' default rate limiter): it may be refused for another reason then.
 */
const looksAt = { FailedMount: [20_000, 150_000], FailedCreate: [20_000, 150_000, 1_200_000] };
/** Pods of one resource that are asked about in one reconcile: one of them is enough to say why. */
const mostPods = 3;
/** Workloads of one resource that are asked about in one reconcile, and milliseconds until the next of them are. */
const mostWorkloads = 5;
const nextWorkloads = 2000;
/** Events of one object that are read. The API server does not bound how long their messages are. */
const mostEvents = 10;
/** Characters of a message that are kept. */
const longest = 1024;
/** Bytes of an answer that are read: ten events have some 10 KiB. */
const mostBytes = 2 ** 20;

/**
 * A pod whose volume cannot be mounted says so in an event alone, and so does a workload whose pods are refused. Events
 * are many and short-lived, and API servers keep no cache of them: they are neither watched nor listed as a whole, but
 * read for what has been waiting for a while, at most once between two of the moments above.
 */
export class PodEventReader {
  /** Key of the resource -> uid of what waits -> what was found last. */
  readonly #looked = new Map<string, Map<string, Looked>>();

  /** Reads the events of what of the resource waits. `service`: `app.kubernetes.io/name` of its pods. */
  async read(context: ReconcileContext, service: string): Promise<PodEvents> {
    const { key, clock } = context;
    const before = this.#looked.get(key);
    const looked = new Map<string, Looked>();
    const words = new Map<string, string>();
    let pods = 0;
    let workloads = 0;
    let next = Number.POSITIVE_INFINITY;
    for (const waiting of [...workloadsWithout(context), ...unmountedPods(context, service)]) {
      const { uid } = waiting.object.metadata;
      const now = clock.now();
      const newest = waiting.newest?.metadata.uid;
      const known = before?.get(uid);
      // One that got a pod since then is no longer refused for the same reason.
      let last = known?.newest === newest ? known : undefined;
      last ??= { since: waiting.since ?? now, newest };
      const { since, at } = last;
      const moments = looksAt[waiting.reason];
      const due = moments.findLast((moment) => since + moment <= now);
      const asks = due !== undefined && (at === undefined || at < since + due);
      if (asks && (waiting.reason === 'FailedCreate' ? workloads++ < mostWorkloads : pods++ < mostPods))
        last = { ...last, at: now, words: (await lastFailure(context, waiting)) ?? last.words };
      looked.set(uid, last);
      if (last.words !== undefined) words.set(uid, last.words);
      const coming = moments.find((moment) => since + moment > now);
      if (coming !== undefined) next = Math.min(next, since + coming - now);
    }
    if (workloads > mostWorkloads) next = Math.min(next, nextWorkloads);
    if (looked.size === 0) this.forget(key);
    else this.#looked.set(key, looked);
    return { words, requeueAfter: Number.isFinite(next) ? next : undefined };
  }

  /** The resource is gone. */
  forget(key: string): void {
    this.#looked.delete(key);
  }
}

/** The newest message of a failure. Without it the condition says less, which is no reason to fail. */
async function lastFailure(
  { client, log, signal }: ReconcileContext,
  { object, reason, newest }: Waiting,
): Promise<string | undefined> {
  const { uid, name, namespace = '' } = object.metadata;
  try {
    const { items } = await client.list(Event, {
      namespace,
      fieldSelector: `involvedObject.uid=${uid},reason=${reason}`,
      limit: mostEvents,
      mostBytes,
      signal,
    });
    const last = items.sort((a, b) => (timeOf(a) < timeOf(b) ? -1 : 1)).at(-1);
    if (last === undefined || timeOf(last) < (newest?.metadata.creationTimestamp ?? '')) return undefined;
    // A part of a string keeps the whole of it in memory, unless it is copied.
    return last.message && Buffer.from(last.message.slice(0, longest)).toString();
  } catch (error) {
    if (signal.aborted) throw error;
    log.info('the events of an object could not be read', { kind: object.kind, name, error });
    return undefined;
  }
}

/** When an event was seen last. */
function timeOf({ metadata, ...event }: KubeObject): string {
  const { lastTimestamp, eventTime } = event as { lastTimestamp?: string | null; eventTime?: string | null };
  return lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '';
}

/** Workloads and Jobs of the resource that have fewer pods than they want. A Deployment says itself why (ReplicaFailure). */
function workloadsWithout({ cache, object }: ReconcileContext): Waiting[] {
  return ([DaemonSet, StatefulSet, Job] as Kind[])
    .filter((kind) => cache.has(kind))
    .flatMap((kind) => cache.controlledBy(kind, object))
    .filter(lacksPods)
    .map((workload) => {
      const [newest] = cache
        .controlledBy(Pod, workload)
        .sort((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1));
      return { object: workload, reason: 'FailedCreate', ...(newest === undefined ? {} : { newest }) };
    });
}

function lacksPods(workload: StoredObject): boolean {
  const status = (workload['status'] ?? {}) as Record<string, number | undefined>;
  const { replicas = 1 } = (workload['spec'] ?? {}) as { replicas?: number };
  switch (workload.kind) {
    case 'DaemonSet':
      return (status['currentNumberScheduled'] ?? 0) < (status['desiredNumberScheduled'] ?? 0);
    case 'StatefulSet':
      return (status['replicas'] ?? 0) < replicas;
    default: {
      const hasEnded = ['Complete', 'Failed'].some((type) => conditionOf(workload, type)?.status === 'True');
      return !hasEnded && (status['active'] ?? 0) === 0;
    }
  }
}

function unmountedPods({ cache, object }: ReconcileContext, service: string): Waiting[] {
  const { name, namespace = '' } = object.metadata;
  // One that is Ready with a message has a node whose agents are not up.
  const ready = conditionOf(object, 'Ready');
  if (ready?.status === 'True' && !ready.message) return [];
  const labels = { 'app.kubernetes.io/name': service, 'app.kubernetes.io/instance': name };
  return podsWith(cache, namespace, labels).flatMap((pod) => {
    const since = parseTimestamp(conditionOf(pod, 'PodScheduled')?.lastTransitionTime ?? '');
    return waitsForVolumes(pod) && !Number.isNaN(since) ? [{ object: pod, reason: 'FailedMount', since }] : [];
  });
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
