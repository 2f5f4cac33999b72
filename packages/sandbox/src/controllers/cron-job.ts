import { controllerReference, keyOf, parseTimestamp, realClock, timestamp } from '@openstack-operator/kube';
import type { ICronJobStatus } from 'kubernetes-models/batch/v1';
import { refusedWith } from '../cluster/cluster.ts';
import { CronJob, Job, type Stored } from '../cluster/kinds.ts';
import { cloneJson, deepEqual } from '../resources/json.ts';
import { type ControllerContext, type ControllerDefinition, ownerOf } from './controller.ts';
import { nextScheduleTime } from './cron.ts';
import { isFinished } from './job.ts';
import type { OwnerIndex } from './owner-index.ts';
import { isTerminating } from './pods.ts';

const SCHEDULED = 'batch.kubernetes.io/cronjob-scheduled-timestamp';
const MOST_MISSED = 100;

/** Makes Jobs at the times of their schedule (pkg/controller/cronjob). */
export function cronJobController(jobs: OwnerIndex<Job>): ControllerDefinition<CronJob> {
  return {
    name: 'cronjob-controller',
    kind: CronJob,
    wakes: [ownerOf(Job, CronJob)],
    reconcile(cronJob, key, context) {
      const { cluster } = context;
      const status: ICronJobStatus = { ...cronJob.status };
      const owned = jobs.owned(cronJob);
      trackActive(cronJob, status, owned, context);
      if (!cronJob.metadata.deletionTimestamp) {
        trimHistory(cronJob, owned, context);
        if (!cronJob.spec.suspend) strike(cronJob, key, status, context);
      }
      if (!deepEqual(status, cronJob.status ?? {})) cluster.updateStatus(CronJob, key, status);
    },
  };
}

function trackActive(
  cronJob: Stored<CronJob>,
  status: ICronJobStatus,
  owned: readonly Stored<Job>[],
  { recorder }: ControllerContext,
): void {
  const active = new Set((status.active ?? []).map(({ uid }) => uid));
  for (const job of owned) {
    if (!isFinished(job)) {
      if (!active.has(job.metadata.uid)) {
        const message = `Saw a job that the controller did not create or forgot: ${job.metadata.name}`;
        recorder.record(cronJob, 'UnexpectedJob', message, { type: 'Warning' });
      }
      continue;
    }
    const complete = job.status?.conditions?.some(({ type, status: value }) => type === 'Complete' && value === 'True');
    if (active.has(job.metadata.uid)) {
      const message = `Saw completed job: ${job.metadata.name}, condition: ${complete ? 'Complete' : 'Failed'}`;
      recorder.record(cronJob, 'SawCompletedJob', message);
    }
    const end = job.status?.completionTime;
    if (complete && end && end > (status.lastSuccessfulTime ?? '')) status.lastSuccessfulTime = end;
  }
  setActive(
    status,
    (status.active ?? []).filter(({ uid }) => owned.some((job) => job.metadata.uid === uid && !isFinished(job))),
  );
}

function setActive(status: ICronJobStatus, active: NonNullable<ICronJobStatus['active']>): void {
  if (active.length > 0) status.active = active;
  else delete status.active;
}

function trimHistory(cronJob: Stored<CronJob>, owned: readonly Stored<Job>[], { cluster }: ControllerContext): void {
  const { successfulJobsHistoryLimit = 3, failedJobsHistoryLimit = 1 } = cronJob.spec;
  const of = (type: string) =>
    owned
      .filter(({ status }) =>
        status?.conditions?.some((condition) => condition.type === type && condition.status === 'True'),
      )
      .sort((a, b) => ((a.status?.startTime ?? '') < (b.status?.startTime ?? '') ? -1 : 1));
  const surplus = (list: Stored<Job>[], limit: number) => list.slice(0, Math.max(0, list.length - limit));
  for (const job of [
    ...surplus(of('Complete'), successfulJobsHistoryLimit),
    ...surplus(of('Failed'), failedJobsHistoryLimit),
  ]) {
    if (!job.metadata.deletionTimestamp) cluster.delete(Job, job, { propagationPolicy: 'Background' });
  }
}

function strike(cronJob: Stored<CronJob>, key: string, status: ICronJobStatus, context: ControllerContext): void {
  const { cluster, recorder, now, wakeAfter } = context;
  const { schedule, timeZone, startingDeadlineSeconds, concurrencyPolicy } = cronJob.spec;
  const next = (after: number) => nextScheduleTime(schedule, after, timeZone);
  const upcoming = next(now);
  if (upcoming !== undefined) wakeAfter(key, upcoming - now);
  const last = parseTimestamp(status.lastScheduleTime ?? cronJob.metadata.creationTimestamp ?? '');
  const earliest = Math.max(last, startingDeadlineSeconds === undefined ? 0 : now - startingDeadlineSeconds * 1000);
  let due: number | undefined;
  let missed = 0;
  for (let time = next(earliest); time !== undefined && time <= now && missed <= MOST_MISSED; time = next(time)) {
    due = time;
    missed++;
  }
  if (due === undefined) return;
  if (missed > MOST_MISSED) {
    const message = 'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew';
    recorder.record(cronJob, 'TooManyMissedTimes', message, { type: 'Warning' });
    due = latest(next, due, now);
  }
  if (status.active?.length) {
    if (concurrencyPolicy === 'Forbid') {
      const message = 'Not starting job because prior execution is running and concurrency policy is Forbid';
      return recorder.record(cronJob, 'JobAlreadyActive', message);
    }
    if (concurrencyPolicy === 'Replace') {
      for (const reference of status.active) {
        const job = cluster.get(Job, `${cronJob.metadata.namespace}/${reference.name}`);
        if (job) cluster.delete(Job, job, { propagationPolicy: 'Background' });
        recorder.record(cronJob, 'SuccessfulDelete', `Deleted job ${reference.name}`);
      }
      setActive(status, []);
    }
  }
  const job = create(cronJob, due, context);
  if (!job) return;
  const { name, namespace = '', uid, resourceVersion } = job.metadata;
  const reference = { apiVersion: 'batch/v1', kind: 'Job', name, namespace, uid, resourceVersion };
  status.active = [...(status.active ?? []), reference];
  status.lastScheduleTime = rfc3339(due);
}

function latest(next: (after: number) => number | undefined, from: number, now: number): number {
  let last = from;
  for (let time = next(from); time !== undefined && time <= now; time = next(time)) last = time;
  return last;
}

function create(
  cronJob: Stored<CronJob>,
  due: number,
  { cluster, recorder }: ControllerContext,
): Stored<Job> | undefined {
  const { metadata, spec } = cronJob.spec.jobTemplate;
  const name = `${cronJob.metadata.name}-${Math.floor(due / 60_000)}`;
  const { namespace } = cronJob.metadata;
  try {
    const job = cluster.create(Job, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name,
        ...(namespace && { namespace }),
        ...(metadata?.labels && { labels: { ...metadata.labels } }),
        annotations: { ...metadata?.annotations, [SCHEDULED]: rfc3339(due) },
        ownerReferences: [controllerReference(cronJob)],
      },
      spec: cloneJson(spec ?? { template: {} }),
    });
    recorder.record(cronJob, 'SuccessfulCreate', `Created job ${name}`);
    return job;
  } catch (error) {
    if (refusedWith(error, 409))
      return cluster.get(Job, keyOf({ metadata: { name, ...(namespace && { namespace }) } }));
    if (isTerminating(error)) return undefined;
    throw error;
  }
}

function rfc3339(time: number): string {
  return timestamp({ ...realClock, now: () => time });
}
