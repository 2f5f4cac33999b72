import {
  type Condition,
  type KubeObject,
  parseTimestamp,
  type StoredObject,
  timestamp,
} from '@openstack-operator/kube';
import type { Progress } from '../vocabulary/step.ts';
import { type Effect, type Reason, reasons } from './reasons.ts';

/** What an assessment has to know of time. All times are milliseconds since the epoch. */
export interface Moment {
  readonly now: number;
  /** The resource whose steps are assessed: its conditions tell when something went on last. */
  readonly resource: KubeObject;
}

/** How long one kind of wait is usual, and what to do when it takes longer. */
interface Bound {
  readonly minutes: number;
  readonly remedy: string;
}

/**
 * Waits that belong to every rollout, and after which time they do not any more. Generous: images are pulled, databases
 * are migrated, and a start may take ten minutes (`startupSeconds`). Nothing is stopped when the time is over.
 */
export const deadlines: Readonly<Partial<Record<Reason, Bound>>> = {
  Missing: { minutes: 10, remedy: 'see the log of the operator' },
  Updating: { minutes: 60, remedy: 'see the log of the operator, and whether an earlier Job still runs' },
  Progressing: { minutes: 10, remedy: 'see the log of the operator' },
  RoutePending: { minutes: 10, remedy: 'see whether the controller of the GatewayClass runs' },
  LoadBalancerPending: { minutes: 10, remedy: 'see whether the cluster has a controller of load balancers' },
  RollingOut: { minutes: 15, remedy: 'see the events and logs of its pods' },
  NotAvailable: { minutes: 15, remedy: 'see the events and logs of its pods' },
  JobRunning: { minutes: 60, remedy: 'see the log of its pod' },
  Waiting: { minutes: 30, remedy: 'see the conditions of the resource that it waits for' },
};

/**
 * A wait with its end: until then it says when that is (`deadline`), so that it is looked at again; after it the reason is
 * `ProgressDeadlineExceeded`, as of a Deployment. `begun`: when what is awaited showed a sign of life last.
 */
export function withDeadline(progress: Progress, { now, resource }: Moment, begun = 0): Progress {
  const bound = deadlines[progress.reason];
  if (bound === undefined || progress.status === 'True') return progress;
  const since = Math.max(begun, lastTransition(progress.condition, resource) ?? now);
  const deadline = since + bound.minutes * 60_000;
  if (now < deadline) return { ...progress, deadline };
  const time = timestamp({ now: () => since });
  const message = `${progress.message}; nothing has changed since ${time}, for more than ${bound.minutes} minutes: ${bound.remedy}`;
  return { ...progress, reason: 'ProgressDeadlineExceeded', message };
}

/**
 * When a condition of the resource turned last: a resource whose steps are done one after the other goes on. Undefined
 * while the condition in question has not been reported as False: its wait begins now.
 */
function lastTransition(type: string, resource: KubeObject): number | undefined {
  const { conditions = [] } = (resource['status'] ?? {}) as { conditions?: readonly Condition[] };
  if (conditions.find((condition) => condition.type === type)?.status !== 'False') return undefined;
  const times = conditions.map(({ lastTransitionTime }) => parseTimestamp(lastTransitionTime));
  return Math.max(0, ...times.filter((time) => !Number.isNaN(time)));
}

/** When pods came, or turned Ready or not, last; 0 without any. */
export function lastChange(pods: readonly StoredObject[]): number {
  const times = pods.flatMap((pod) => {
    const { conditions = [] } = (pod['status'] ?? {}) as { conditions?: readonly Condition[] };
    const ready = conditions.find(({ type }) => type === 'Ready')?.lastTransitionTime;
    return [pod.metadata.creationTimestamp, ready].map((time) => parseTimestamp(time ?? ''));
  });
  return Math.max(0, ...times.filter((time) => !Number.isNaN(time)));
}

/** Starts that make a crash loop: the first failure may have been a database that was just starting. */
const fewestRestarts = 2;
/** How long after its end a container still counts as crashing: more than the kubelet's longest back-off, 5 minutes. */
const recently = 10 * 60_000;

/** Whether a container of a pod has ended again and again, and is not ready. */
export function isCrashing(pod: StoredObject, now: number): boolean {
  const status = (pod['status'] ?? {}) as Record<
    'initContainerStatuses' | 'containerStatuses',
    readonly CrashStatus[] | undefined
  >;
  return [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].some(
    ({ ready, restartCount = 0, lastState, state }) => {
      if (ready === true || restartCount < fewestRestarts) return false;
      const ended = parseTimestamp((state?.terminated ?? lastState?.terminated)?.finishedAt ?? '');
      return now - ended < recently;
    },
  );
}

interface CrashStatus {
  readonly ready?: boolean;
  readonly restartCount?: number;
  readonly state?: { readonly terminated?: { readonly finishedAt?: string } };
  readonly lastState?: { readonly terminated?: { readonly finishedAt?: string } };
}

/** Whether the resource has been Ready at its present generation: what is not Ready now has broken by itself. */
export function wasReady({ metadata, status }: KubeObject): boolean {
  const { readyGeneration } = (status ?? {}) as { readyGeneration?: number };
  return readyGeneration !== undefined && readyGeneration === metadata.generation;
}

/**
 * The phase of what cannot simply be said to make progress: `Failed` when somebody has to act or it never was Ready,
 * `Degraded` when it was and something has stopped to work since; undefined when all goes on.
 */
export function troubleOf(open: readonly Progress[], resource: KubeObject): 'Failed' | 'Degraded' | undefined {
  const has = (effect: Effect) => open.some(({ reason }) => reasons[reason].effect === effect);
  const { readyGeneration } = (resource['status'] ?? {}) as { readyGeneration?: number };
  if (has('stuck')) return 'Failed';
  if (has('stalled')) return readyGeneration === undefined ? 'Failed' : 'Degraded';
  return has('retried') && wasReady(resource) ? 'Degraded' : undefined;
}
