import {
  ForeignObjectError,
  Job,
  type KubeObject,
  Node,
  Pod,
  parseTimestamp,
  type StoredObject,
} from '@openstack-operator/kube';
import { annotations, conditionOf, digest, prefix } from '@openstack-operator/openstack';
import { ownershipOf } from './ownership.ts';
import { type Pass, readLive } from './pass.ts';
import { endAudit } from './schedules.ts';
import type { Again } from './write.ts';

/** As many failures lead to the longest wait. */
const mostAttempts = 4;

/** Milliseconds before a failed Job is run again: 1 minute, then doubled up to 16. */
const retryAfter = (attempt: number): number => 60_000 * 2 ** Math.min(attempt, mostAttempts);

/** Annotation that counts how often a Job of the same inputs failed. */
const attemptAnnotation = `${prefix}/attempt`;

/**
 * Runs a Job once for each set of inputs. Other inputs while one is running: it is left to end, a running migration is
 * never killed, unless it is certain that its container never started. A failed Job is run again after a while, or at once when its
 * inputs change. Its finished digest is in the resource's status, so that a Job that was cleaned up does not run again.
 */
export async function keepJob(
  pass: Pass,
  stated: KubeObject,
  finishedJobs: Readonly<Record<string, string>>,
): Promise<Again> {
  const { name = '', namespace = '' } = stated.metadata;
  const inputs = stated.metadata.annotations?.[annotations.inputs];
  const live = await readLive(pass, Job, { name, namespace });
  if (live === undefined) {
    if (finishedJobs[name] !== inputs && !isStillRunning(pass, stated)) await run(pass, stated, 0);
    return undefined;
  }
  if (ownershipOf(pass.object, false).ours?.(live) !== true) throw new ForeignObjectError(live, pass.object);
  if (live.metadata.deletionTimestamp !== undefined) return undefined;
  const failed = conditionOf(live, 'Failed');
  const ended = failed?.status === 'True' || conditionOf(live, 'Complete')?.status === 'True';
  if (live.metadata.annotations?.[annotations.inputs] !== inputs) {
    const wait = ended ? 0 : untilReplaceable(pass, live);
    if (wait === 0) await again(pass, live, stated, 0);
    return wait === 0 ? undefined : wait;
  }
  if (!ended && isMisplaced(pass, live, stated)) {
    await again(pass, live, stated, 0);
    return undefined;
  }
  if (failed?.status !== 'True') return undefined;
  const attempt = attemptOf(live);
  const wait = parseTimestamp(failed.lastTransitionTime) + retryAfter(attempt) - pass.clock.now();
  if (wait > 0) return wait;
  await again(pass, live, stated, attempt + 1);
  return undefined;
}

/** How often it had failed before. What is no such number is somebody else's, and takes no wait away. */
function attemptOf({ metadata }: StoredObject): number {
  const noted = metadata.annotations?.[attemptAnnotation] ?? '0';
  return /^\d+$/.test(noted) ? Number(noted) : mostAttempts;
}

/** Deletes the old run first; where its end takes a moment (its pods), that end wakes this resource again. */
async function again(pass: Pass, live: StoredObject, stated: KubeObject, attempt: number): Promise<void> {
  await pass.remove(live);
  const { name, namespace = '' } = live.metadata;
  if (pass.cache.get(Job, { name, namespace }) === undefined) await run(pass, stated, attempt);
}

async function run(pass: Pass, stated: KubeObject, attempt: number): Promise<void> {
  if (await endAudit(pass, stated)) return;
  const notes = attempt === 0 ? {} : { [attemptAnnotation]: String(attempt) };
  const metadata = { ...stated.metadata, annotations: { ...stated.metadata.annotations, ...notes } };
  await pass.create({ ...stated, metadata }, ownershipOf(pass.object, false));
}

/** Milliseconds without any pod after which a Job is taken as one that gets none: a quota or an admission rule refuses it. */
const podless = 30_000;
/** Milliseconds for which a kubelet that reports that a container has not begun may be late. */
const lateness = 600_000;

/**
 * Milliseconds until a Job that has not ended may be replaced: 0 when nothing of it can have run, undefined while it
 * runs or may run. That no container is reported proves nothing, as kubelet and watch may lag: what counts is a pod that has no
 * node, an image that cannot be had, a container that the kubelet of a node that is Ready has not begun for long.
 */
function untilReplaceable(pass: Pass, job: StoredObject): Again {
  const since = (timestamp = '', ms = 0) => Math.max(0, parseTimestamp(timestamp) + ms - pass.clock.now());
  const pods = pass.cache.controlledBy(Pod, job);
  const { active = 0, succeeded = 0, failed = 0 } = (job['status'] ?? {}) as Record<string, number | undefined>;
  if (pods.length === 0)
    return active + succeeded + failed > 0 ? undefined : since(job.metadata.creationTimestamp, podless);
  const waits = pods.map((pod) => {
    const { nodeName } = (pod['spec'] ?? {}) as { nodeName?: string };
    if (nodeName === undefined) return conditionOf(pod, 'PodScheduled')?.status === 'False' ? 0 : undefined;
    const containers = containersOf(pod);
    const hasStarted = containers.some(({ state, lastState }) => state?.waiting === undefined || lastState?.terminated);
    if (containers.length === 0 || hasStarted) return undefined;
    if (containers.some(({ state }) => withoutImage.has(state?.waiting?.reason ?? ''))) return 0;
    const node = pass.cache.has(Node) ? pass.cache.get(Node, { name: nodeName }) : undefined;
    if (node !== undefined && conditionOf(node, 'Ready')?.status !== 'True') return undefined;
    return since(pod.metadata.creationTimestamp, lateness);
  });
  return waits.reduce<Again>(
    (most, wait) => (most === undefined || wait === undefined ? undefined : Math.max(most, wait)),
    0,
  );
}

/** Reasons for which a kubelet does not begin a container: nothing of it has run. */
const withoutImage = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'CreateContainerConfigError',
]);

/**
 * Whether it waits for a node with other demands than those of now: its pods have no node, and could not get one. A pod
 * with a node is left alone, whatever it shows.
 */
function isMisplaced(pass: Pass, live: StoredObject, stated: KubeObject): boolean {
  const pods = pass.cache.controlledBy(Pod, live);
  const waiting = pods.length > 0 && pods.every((pod) => (pod['spec'] as { nodeName?: string }).nodeName === undefined);
  return waiting && placeOf(live) !== placeOf(stated);
}

/** Where the pods of a Job may run, as a digest. */
function placeOf(job: KubeObject): string {
  const { spec } = (job['spec'] as { template: { spec: Record<string, unknown> } }).template;
  return digest(['tolerations', 'nodeSelector', 'priorityClassName'].map((field) => spec[field] ?? null));
}

/**
 * Whether a container of an earlier run, whose Job was deleted by hand, has not ended yet: of a migration there is one
 * at a time. The end of its pod wakes the resource.
 */
function isStillRunning(pass: Pass, { metadata: { namespace = '', labels } }: KubeObject): boolean {
  const labelSelector = { matchLabels: { ...labels } };
  return pass.cache
    .list(Pod, { namespace, labelSelector })
    .some((pod) => containersOf(pod).some(({ state }) => state?.running !== undefined));
}

function containersOf(pod: StoredObject): Container[] {
  const status = (pod['status'] ?? {}) as { initContainerStatuses?: Container[]; containerStatuses?: Container[] };
  return [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
}

interface Container {
  readonly state?: {
    readonly waiting?: { readonly reason?: string };
    readonly running?: unknown;
    readonly terminated?: unknown;
  };
  readonly lastState?: { readonly terminated?: unknown };
}
