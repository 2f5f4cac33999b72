import { CronJob, Job, Pod, type StoredObject } from '@openstack-operator/kube';
import {
  auditSuffix,
  conditionOf,
  deregistrationSuffix,
  podWords,
  recordsJobs,
  type ScheduleStatus,
  scheduleStatus,
} from '@openstack-operator/openstack';
import type { Begun, Pass } from './pass.ts';
import { redactor } from './redact.ts';

/** The most characters of a schedule's message (a bound of the CRDs). */
const mostOfMessage = 4096;

/** More schedules no service has: others name it as their owner. */
const mostSchedules = 16;

type Schedules = Readonly<Record<string, ScheduleStatus>>;

/** What has become of the runs of the resource's CronJobs, by their names without the resource's. */
export function schedulesOf(pass: Pass): { readonly schedules?: Schedules } {
  const redact = redactor(pass);
  const found = cronJobsOf(pass)
    .slice(0, mostSchedules)
    .map((cronJob) => {
      const { message, ...status } = scheduleStatus(cronJob, {
        jobs: pass.cache.controlledBy(Job, cronJob),
        pods: (job) => pass.cache.controlledBy(Pod, job),
        words: (pod) => podWords(pod, () => undefined),
      });
      // Cut when it is redacted: of a part of a secret nobody could tell what it is.
      const said = message === undefined ? {} : { message: redact(message).slice(0, mostOfMessage) };
      return [cronJob.metadata.name.slice(pass.object.metadata.name.length + 1), { ...status, ...said }] as const;
    });
  return found.length === 0 ? {} : { schedules: Object.fromEntries(found) };
}

/** Events of the runs that have ended since the last report: what an audit has put right, and what failed. */
export function announceSchedules(pass: Pass, status: Readonly<Record<string, unknown>>): void {
  const before = statedIn(pass.object['status']);
  for (const [name, now] of Object.entries(statedIn(status))) {
    const { lastFinishedTime, failures, message = '' } = now;
    if (lastFinishedTime === undefined || lastFinishedTime === before[name]?.lastFinishedTime) continue;
    if (failures > 0)
      pass.event({ type: 'Warning', reason: 'ScheduleFailed', action: 'Run', note: `${name}: ${message}` });
    else if (name === auditSuffix && message !== '')
      pass.event({ type: 'Normal', reason: 'RecordsRepaired', action: 'Audit', note: message });
  }
}

function statedIn(status: unknown): Schedules {
  return ((status ?? {}) as { schedules?: Schedules }).schedules ?? {};
}

/** While a resource is paused, nothing of its is put right: somebody works on it by hand. */
export async function suspendSchedules(pass: Begun): Promise<void> {
  for (const cronJob of cronJobsOf(pass)) {
    const { suspend } = cronJob.spec ?? {};
    if (suspend === true || cronJob.metadata.deletionTimestamp !== undefined) continue;
    const { name, namespace = '', uid } = cronJob.metadata;
    const patch = { metadata: { uid }, spec: { suspend: true } };
    await pass.client.patch(CronJob, { name, namespace }, 'merge', patch, { signal: pass.signal });
  }
}

/**
 * Ends a running audit before a Job that keeps records is run: it has read the list as it was before, and would set a
 * password back to the one before. What takes back the records of a resource of the same name before it is awaited.
 * @returns whether one is still running; the end of its pod wakes the resource
 */
export async function endAudit(
  pass: Pass,
  job: { readonly metadata: StoredObject['metadata'] | object },
): Promise<boolean> {
  const { labels = {} } = job.metadata as StoredObject['metadata'];
  const component = 'app.kubernetes.io/component';
  if (!recordsJobs.includes(labels[component] ?? '')) return false;
  for (const cronJob of cronJobsOf(pass)) {
    if (cronJob.metadata.labels?.[component] !== auditSuffix) continue;
    for (const run of pass.cache.controlledBy(Job, cronJob)) {
      if (run.metadata.deletionTimestamp === undefined && !hasEnded(run)) await pass.remove(run);
    }
  }
  const { [component]: _component, ...matchLabels } = labels;
  const matchExpressions = [{ key: component, operator: 'In', values: [auditSuffix, deregistrationSuffix] }] as const;
  const { namespace = '' } = pass.object.metadata;
  return pass.cache.list(Pod, { namespace, labelSelector: { matchLabels, matchExpressions } }).some(isRunning);
}

/**
 * Ends for good what would make records anew: the CronJobs, their Jobs, and the records Jobs themselves.
 * @returns whether one of their pods is still running
 */
export async function endSchedules(pass: Begun): Promise<boolean> {
  const { object, cache } = pass;
  const cronJobs = cronJobsOf(pass);
  for (const cronJob of cronJobs) if (cronJob.metadata.deletionTimestamp === undefined) await pass.remove(cronJob);
  const jobs = [...cronJobs, object].flatMap((owner) => cache.controlledBy(Job, owner));
  for (const job of jobs) if (job.metadata.deletionTimestamp === undefined && !hasEnded(job)) await pass.remove(job);
  return jobs.flatMap((job) => cache.controlledBy(Pod, job)).some(isRunning);
}

function hasEnded(job: StoredObject): boolean {
  return ['Complete', 'Failed'].some((type) => conditionOf(job, type)?.status === 'True');
}

function isRunning(pod: StoredObject): boolean {
  return !['Succeeded', 'Failed'].includes((pod['status'] as { phase?: string } | undefined)?.phase ?? '');
}

function cronJobsOf({ cache, object }: Begun): StoredObject<CronJob>[] {
  return cache.has(CronJob) ? cache.controlledBy(CronJob, object) : [];
}
