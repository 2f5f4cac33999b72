import { controllerOf, keyOf, parseTimestamp } from '@openstack-operator/kube';
import type { IJobCondition, IJobStatus } from 'kubernetes-models/batch/v1';
import type { Cluster } from '../cluster/cluster.ts';
import { conditionOf } from '../cluster/conditions.ts';
import { Job, Pod, type Stored } from '../cluster/kinds.ts';
import { isActive, isReady } from '../cluster/pod-state.ts';
import { deepEqual } from '../resources/json.ts';
import { claim } from './claim.ts';
import { type ControllerContext, type ControllerDefinition, orphansOf, ownerOf } from './controller.ts';
import {
  createJobPod,
  formatIndexes,
  hasFailed,
  indexOf,
  isTracked,
  parseIndexes,
  restartsExceed,
  retryAt,
  untrack,
} from './job-pods.ts';
import type { OwnerIndex } from './owner-index.ts';
import { byExpendability, deletePod, isTerminating } from './pods.ts';

/** Runs Jobs to their end (pkg/controller/job), and removes finished ones after their time to live. */
export function jobController(pods: OwnerIndex<Pod>): ControllerDefinition<Job> {
  return {
    name: 'job-controller',
    kind: Job,
    wakes: [ownerOf(Pod, Job), orphansOf(Pod, Job)],
    reconcile(job, key, context) {
      const claimed = claim(Pod, job, job.spec.selector, pods, context);
      untrackOrphans(key, job.metadata.uid, context.cluster);
      if (isFinished(job) || job.metadata.deletionTimestamp) {
        for (const pod of claimed) untrack(pod, context.cluster);
        if (isFinished(job)) expire(job, key, context);
        return;
      }
      const failure = run(job, key, claimed, context);
      if (failure && !isTerminating(failure)) throw failure;
    },
    forget(key, { cluster }) {
      untrackOrphans(key, undefined, cluster);
    },
  };
}

/** Lets go of pods whose Job is gone, also when there is another one of its name. */
function untrackOrphans(key: string, uid: string | undefined, cluster: Cluster): void {
  const [namespace, name] = key.split('/');
  for (const pod of cluster.list(Pod, namespace)) {
    const owner = controllerOf(pod);
    if (owner?.kind === 'Job' && owner.name === name && owner.uid !== uid) untrack(pod, cluster);
  }
}

/** Complete or Failed. */
export function isFinished({ status }: Stored<Job>): boolean {
  return (
    status?.conditions?.some(
      ({ type, status: value }) => (type === 'Complete' || type === 'Failed') && value === 'True',
    ) === true
  );
}

function run(job: Stored<Job>, key: string, pods: readonly Stored<Pod>[], context: ControllerContext): unknown {
  const { cluster, recorder } = context;
  const time = cluster.now();
  const suspended = job.spec.suspend === true;
  const status: IJobStatus = { ...job.status, uncountedTerminatedPods: job.status?.uncountedTerminatedPods ?? {} };
  if (!status.startTime && !suspended) status.startTime = time;
  const fresh = pods.filter(isTracked);
  const ended = fresh.filter((pod) => pod.status?.phase === 'Succeeded' || hasFailed(pod, job));
  count(job, status, ended);
  if (status.conditions) status.conditions = [...status.conditions];
  let failure: unknown;
  let target = conditionOf(status.conditions, 'SuccessCriteriaMet') ?? conditionOf(status.conditions, 'FailureTarget');
  target ??= failureOf(job, key, status, pods, context);
  let active = pods.filter(isActive);
  if (target) {
    for (const pod of active) deletePod(pod, job, context);
    active = [];
  } else {
    const outcome = manage(job, key, status, pods, active, context);
    failure = outcome.failure;
    active = outcome.active;
    const { completions } = job.spec;
    const succeeded = status.succeeded ?? 0;
    const enough = completions === undefined ? succeeded > 0 : succeeded >= completions;
    if (enough && active.length === 0) {
      target = condition('SuccessCriteriaMet', 'CompletionsReached', 'Reached expected number of succeeded pods', time);
    } else noteSuspension(job, status, suspended, context);
  }
  const now = active.map((pod) => cluster.get(Pod, keyOf(pod))).filter((pod) => pod !== undefined);
  const terminating = pods
    .map((pod) => cluster.get(Pod, keyOf(pod)))
    .filter(
      (pod) => pod?.metadata.deletionTimestamp && pod.status?.phase !== 'Failed' && pod.status?.phase !== 'Succeeded',
    ).length;
  status.ready = now.filter(isReady).length;
  status.terminating = terminating;
  if (active.length > 0) status.active = active.length;
  else delete status.active;
  if (target) finish(status, target, active.length + terminating === 0, context);
  if (!deepEqual(status, job.status)) cluster.updateStatus(Job, key, status);
  for (const pod of ended) untrack(pod, cluster);
  const final = status.conditions?.find(({ type }) => type === 'Complete' || type === 'Failed');
  if (final?.type === 'Complete') recorder.record(job, 'Completed', 'Job completed');
  else if (final) recorder.record(job, final.reason ?? '', final.message ?? '', { type: 'Warning' });
  return failure;
}

/** Adds pods that have ended to the counters. */
function count(job: Stored<Job>, status: IJobStatus, ended: readonly Stored<Pod>[]): void {
  const succeeded = ended.filter((pod) => pod.status?.phase === 'Succeeded');
  const failed = ended.length - succeeded.length + (status.failed ?? 0);
  if (failed > 0) status.failed = failed;
  if (job.spec.completionMode === 'Indexed') {
    const { completions = 0 } = job.spec;
    const indexes = new Set([
      ...parseIndexes(status.completedIndexes),
      ...succeeded.map(indexOf).filter((index) => index < completions),
    ]);
    if (indexes.size > 0) {
      status.completedIndexes = formatIndexes(indexes);
      status.succeeded = indexes.size;
    }
    return;
  }
  const total = (status.succeeded ?? 0) + succeeded.length;
  if (total > 0) status.succeeded = total;
}

function failureOf(
  job: Stored<Job>,
  key: string,
  status: IJobStatus,
  pods: readonly Stored<Pod>[],
  { cluster, now, wakeAfter }: ControllerContext,
): IJobCondition | undefined {
  const { backoffLimit = 6, activeDeadlineSeconds, suspend } = job.spec;
  const fail = (reason: string, message: string) => condition('FailureTarget', reason, message, cluster.now());
  if ((status.failed ?? 0) > backoffLimit || restartsExceed(job, pods)) {
    return fail('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  }
  if (activeDeadlineSeconds === undefined || suspend || !status.startTime) return undefined;
  const left = parseTimestamp(status.startTime) + activeDeadlineSeconds * 1000 - now;
  if (left <= 0) return fail('DeadlineExceeded', 'Job was active longer than specified deadline');
  wakeAfter(key, left);
  return undefined;
}

/** Starts and stops pods; gives those that are active then. */
function manage(
  job: Stored<Job>,
  key: string,
  status: IJobStatus,
  pods: readonly Stored<Pod>[],
  active: Stored<Pod>[],
  context: ControllerContext,
): { active: Stored<Pod>[]; failure?: unknown } {
  const { parallelism = 1, completions, suspend } = job.spec;
  const succeeded = status.succeeded ?? 0;
  const remaining = completions === undefined ? (succeeded > 0 ? active.length : parallelism) : completions - succeeded;
  const wanted = suspend ? 0 : Math.max(0, Math.min(parallelism, remaining));
  if (active.length > wanted) {
    const surplus = active.toSorted(byExpendability).slice(0, active.length - wanted);
    for (const pod of surplus) deletePod(pod, job, context);
    return { active: active.filter((pod) => !surplus.includes(pod)) };
  }
  // With podReplacementPolicy Failed a pod is replaced only when it has really ended.
  const leaving = pods.filter(
    ({ metadata, status: { phase } = {} }) => metadata.deletionTimestamp && phase !== 'Failed' && phase !== 'Succeeded',
  );
  const missing = wanted - active.length - (job.spec.podReplacementPolicy === 'Failed' ? leaving.length : 0);
  if (missing <= 0) return { active };
  const wait = retryAt(pods) - context.now;
  if (wait > 0) {
    context.wakeAfter(key, wait);
    return { active };
  }
  const created = [...active];
  try {
    for (const index of nextIndexes(job, status, active, missing)) created.push(createJobPod(job, index, context));
  } catch (failure) {
    return { active: created, failure };
  }
  return { active: created };
}

function nextIndexes(
  job: Stored<Job>,
  status: IJobStatus,
  active: readonly Stored<Pod>[],
  missing: number,
): (number | undefined)[] {
  if (job.spec.completionMode !== 'Indexed') return Array.from({ length: missing }, () => undefined);
  const taken = new Set([...parseIndexes(status.completedIndexes), ...active.map(indexOf)]);
  return Array.from({ length: job.spec.completions ?? 0 }, (_, index) => index)
    .filter((index) => !taken.has(index))
    .slice(0, missing);
}

function noteSuspension(
  job: Stored<Job>,
  status: IJobStatus,
  suspended: boolean,
  { cluster, recorder }: ControllerContext,
): void {
  const before = conditionOf(status.conditions, 'Suspended');
  if (suspended ? before?.status === 'True' : before?.status !== 'True') return;
  const [reason, message] = suspended ? ['JobSuspended', 'Job suspended'] : ['JobResumed', 'Job resumed'];
  const next: IJobCondition = {
    ...condition('Suspended', reason, message, cluster.now()),
    status: suspended ? 'True' : 'False',
  };
  status.conditions = [...(status.conditions ?? []).filter(({ type }) => type !== 'Suspended'), next];
  if (suspended) delete status.startTime;
  else status.startTime = cluster.now();
  recorder.record(job, suspended ? 'Suspended' : 'Resumed', message);
}

/** The interim condition at once, the final one when no pod runs any more. */
function finish(status: IJobStatus, target: IJobCondition, quiet: boolean, { cluster }: ControllerContext): void {
  status.conditions ??= [];
  if (!conditionOf(status.conditions, target.type)) status.conditions.push(target);
  if (!quiet) return;
  const type = target.type === 'SuccessCriteriaMet' ? 'Complete' : 'Failed';
  const time = cluster.now();
  status.conditions.push(condition(type, target.reason ?? '', target.message ?? '', time));
  if (type === 'Complete') status.completionTime = time;
  delete status.active;
  status.ready = 0;
}

function condition(type: string, reason: string, message: string, time: string): IJobCondition {
  return { type, status: 'True', lastProbeTime: time, lastTransitionTime: time, reason, message };
}

function expire(job: Stored<Job>, key: string, { cluster, now, wakeAfter }: ControllerContext): void {
  const { ttlSecondsAfterFinished } = job.spec;
  if (ttlSecondsAfterFinished === undefined || job.metadata.deletionTimestamp) return;
  const final = job.status?.conditions?.find(({ type }) => type === 'Complete' || type === 'Failed');
  const left = parseTimestamp(final?.lastTransitionTime ?? '') + ttlSecondsAfterFinished * 1000 - now;
  if (left > 0) return wakeAfter(key, left);
  cluster.delete(Job, job, { propagationPolicy: 'Foreground' });
}
