import { CronJob, Job, Pod } from '@openstack-operator/kube';
import {
  auditSuffix,
  cronJobsOf,
  eventOf,
  hasEnded,
  isRunning,
  podWords,
  type ScheduleStatus,
  scheduleStatus,
} from '@openstack-operator/openstack';
import type { Begun, Pass } from './pass.ts';
import { redactor } from './secrets/redact.ts';

/** The most characters of a schedule's message (a bound of the CRDs). */
const mostOfMessage = 4096;

/** More schedules no service has: others name it as their owner. */
const mostSchedules = 16;

type Schedules = Readonly<Record<string, ScheduleStatus>>;

/** What has become of the runs of the resource's CronJobs, by their names without the resource's. */
export function schedulesOf(pass: Pass): { readonly schedules?: Schedules } {
  const redact = redactor(pass);
  const found = cronJobsOf({ cache: pass.cache, resource: pass.object })
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
    if (failures > 0) pass.event(eventOf('ScheduleFailed', `${name}: ${message}`));
    else if (name === auditSuffix && message !== '') pass.event(eventOf('RecordsRepaired', message));
  }
}

function statedIn(status: unknown): Schedules {
  return ((status ?? {}) as { schedules?: Schedules }).schedules ?? {};
}

/** While a resource is paused, nothing of its is put right: somebody works on it by hand. */
export async function suspendSchedules(pass: Begun): Promise<void> {
  for (const cronJob of cronJobsOf({ cache: pass.cache, resource: pass.object })) {
    const { suspend } = cronJob.spec ?? {};
    if (suspend === true || cronJob.metadata.deletionTimestamp !== undefined) continue;
    const { name, namespace = '', uid } = cronJob.metadata;
    const patch = { metadata: { uid }, spec: { suspend: true } };
    await pass.client.patch(CronJob, { name, namespace }, 'merge', patch, { signal: pass.signal });
  }
}

/**
 * Ends for good what would make records anew: the CronJobs, their Jobs, and the records Jobs themselves.
 * @returns whether one of their pods is still running
 */
export async function endSchedules(pass: Begun): Promise<boolean> {
  const { object, cache } = pass;
  const cronJobs = cronJobsOf({ cache: pass.cache, resource: pass.object });
  for (const cronJob of cronJobs) if (cronJob.metadata.deletionTimestamp === undefined) await pass.remove(cronJob);
  const jobs = [...cronJobs, object].flatMap((owner) => cache.controlledBy(Job, owner));
  for (const job of jobs) if (job.metadata.deletionTimestamp === undefined && !hasEnded(job)) await pass.remove(job);
  return jobs.flatMap((job) => cache.controlledBy(Pod, job)).some(isRunning);
}
