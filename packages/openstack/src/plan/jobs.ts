import {
  ForeignObjectError,
  Job,
  type KubeObject,
  Node,
  Pod,
  parseTimestamp,
  type StoredObject,
} from '@openstack-operator/kube';
import { digest } from '../engine/names/digest.ts';
import { annotations } from '../engine/names/names.ts';
import { conditionOf } from '../engine/status/conditions.ts';
import { type Action, type ActionReason, nothing, type Plan } from './action.ts';
import { withAnnotation } from './applied.ts';
import { isAuditRunning, runningAudits } from './audits.ts';
import type { Live } from './live.ts';
import { ownershipOf } from './ownership.ts';

/** As many failures lead to the longest wait. */
const mostAttempts = 4;

/** Milliseconds before a failed Job is run again: 1 minute, then doubled up to 16. */
const retryAfter = (attempt: number): number => 60_000 * 2 ** Math.min(attempt, mostAttempts);

/**
 * Runs a Job once for each set of inputs. Other inputs while one is running: it is left to end, a running migration is
 * never killed, unless it is certain that its container never started, or all have failed and the next one is not due yet. A failed Job is run again after a while, or at once when its
 * inputs change. Its finished digest is in the resource's status, so that a Job that was cleaned up does not run again.
 */
export function planJob(live: Live, stated: KubeObject, step: string): Plan {
  const { name = '', namespace = '' } = stated.metadata;
  const inputs = stated.metadata.annotations?.[annotations.inputs];
  const found = live.cache.get(Job, { name, namespace });
  const run = (reason: ActionReason, attempt = 0): Plan => {
    const object = attempt === 0 ? stated : withAnnotation(stated, annotations.attempt, String(attempt));
    const ended: Action[] = runningAudits(live, stated).map((audit) => ({
      verb: 'delete',
      step,
      reason: 'Superseded',
      live: audit,
    }));
    if (isAuditRunning(live, stated)) {
      // The end of its pod enqueues the resource; until then the run before is out of the way.
      const before: Action[] = found === undefined ? [] : [{ verb: 'delete', step, reason, live: found }];
      return { actions: [...before, ...ended] };
    }
    const replaces = found === undefined ? {} : { replaces: found };
    return { actions: [...ended, { verb: 'run', step, reason, object, ...replaces }] };
  };
  if (found === undefined)
    return live.finishedJobs[name] !== inputs && !isStillRunning(live, stated) ? run('Missing') : nothing;
  if (ownershipOf(live.resource, false).ours?.(found) !== true) {
    const error = new ForeignObjectError(found, live.resource);
    return { actions: [{ verb: 'refuse', step, reason: 'Refused', error }] };
  }
  if (found.metadata.deletionTimestamp !== undefined) return nothing;
  const failed = conditionOf(found, 'Failed');
  const ended = failed?.status === 'True' || conditionOf(found, 'Complete')?.status === 'True';
  if (found.metadata.annotations?.[annotations.inputs] !== inputs) {
    const wait = ended ? 0 : untilReplaceable(live, found);
    if (wait === 0) return run('InputsChanged');
    return wait === undefined ? nothing : { actions: [], requeueAfter: wait };
  }
  if (!ended && isMisplaced(live, found, stated)) return run('Misplaced');
  if (failed?.status !== 'True') return nothing;
  const attempt = attemptOf(found);
  const wait = parseTimestamp(failed.lastTransitionTime) + retryAfter(attempt) - live.now;
  return wait > 0 ? { actions: [], requeueAfter: wait } : run('Failed', attempt + 1);
}

/** How often it had failed before. What is no such number is somebody else's, and takes no wait away. */
function attemptOf({ metadata }: StoredObject): number {
  const noted = metadata.annotations?.[annotations.attempt] ?? '0';
  return /^\d+$/.test(noted) ? Number(noted) : mostAttempts;
}

/** Milliseconds without any pod after which a Job is taken as one that gets none: a quota or an admission rule refuses it. */
const podless = 30_000;
/** Milliseconds for which a kubelet that reports that a container has not begun may be late. */
const lateness = 600_000;

/**
 * Milliseconds until a Job that has not ended may be replaced: 0 when nothing of it can have run, undefined while it
 * runs or may run. That no container is reported proves nothing, as kubelet and watch may lag: what counts is a pod that has no
 * node, an image that cannot be had, a container that the kubelet of a node that is Ready has not begun for long. Nothing
 * runs either while a Job waits after a failure.
 */
function untilReplaceable({ cache, now }: Live, job: StoredObject): number | undefined {
  const since = (timestamp = '', ms = 0) => Math.max(0, parseTimestamp(timestamp) + ms - now);
  const pods = cache.controlledBy(Pod, job);
  const { active = 0, succeeded = 0, failed = 0 } = (job['status'] ?? {}) as Record<string, number | undefined>;
  if (pods.length === 0)
    return active + succeeded + failed > 0 ? undefined : since(job.metadata.creationTimestamp, podless);
  const open = pods.filter((pod) => !hasEnded(pod));
  if (open.length === 0) return active === 0 && isBetweenRuns(pods, failed, now) ? 0 : undefined;
  const waits = open.map((pod) => {
    const { nodeName } = (pod['spec'] ?? {}) as { nodeName?: string };
    if (nodeName === undefined) return conditionOf(pod, 'PodScheduled')?.status === 'False' ? 0 : undefined;
    const containers = containersOf(pod);
    const hasStarted = containers.some(({ state, lastState }) => state?.waiting === undefined || lastState?.terminated);
    if (containers.length === 0 || hasStarted) return undefined;
    if (containers.some(({ state }) => withoutImage.has(state?.waiting?.reason ?? ''))) return 0;
    const node = cache.has(Node) ? cache.get(Node, { name: nodeName }) : undefined;
    if (node !== undefined && conditionOf(node, 'Ready')?.status !== 'True') return undefined;
    return since(pod.metadata.creationTimestamp, lateness);
  });
  return waits.reduce<number | undefined>(
    (most, wait) => (most === undefined || wait === undefined ? undefined : Math.max(most, wait)),
    0,
  );
}

/** Milliseconds that a Job waits after its first failure (job_controller.go: DefaultJobPodFailureBackOff, doubled by each, up to the most). */
const firstBackoff = 10_000;
const mostBackoff = 600_000;

/** Whether the next pod of a Job whose pods have all failed is not due for long: for half of the time that it waits. */
function isBetweenRuns(pods: readonly StoredObject[], failed: number, now: number): boolean {
  if (failed === 0) return false;
  const ends = pods.flatMap(containersOf).map(({ state }) => parseTimestamp(state?.terminated?.finishedAt ?? '') || 0);
  return now < Math.max(...ends) + Math.min(firstBackoff * 2 ** (failed - 1), mostBackoff) / 2;
}

function hasEnded(pod: StoredObject): boolean {
  return ['Succeeded', 'Failed'].includes((pod['status'] as { phase?: string } | undefined)?.phase ?? '');
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
function isMisplaced({ cache }: Live, live: StoredObject, stated: KubeObject): boolean {
  const pods = cache.controlledBy(Pod, live);
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
function isStillRunning({ cache }: Live, { metadata: { namespace = '', labels } }: KubeObject): boolean {
  const labelSelector = { matchLabels: { ...labels } };
  return cache
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
    readonly terminated?: { readonly finishedAt?: string };
  };
  readonly lastState?: { readonly terminated?: unknown };
}
