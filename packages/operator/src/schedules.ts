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
  suspendedWords,
} from '@openstack-operator/openstack';
import type { ComposeContext, OperatorContext } from './context.ts';
import { redactor } from './secrets/redact.ts';

/** The most characters of a schedule's message (a bound of the CRDs). */
const mostOfMessage = 4096;

/** More schedules no service has: others name it as their owner. */
const mostSchedules = 16;

type Schedules = Readonly<Record<string, ScheduleStatus>>;

/** What has become of the runs of the resource's CronJobs, by their names without the resource's. */
export function schedulesOf(context: ComposeContext): { readonly schedules?: Schedules } {
  const redact = redactor(context);
  const found = cronJobsOf({ cache: context.cache, resource: context.object })
    .slice(0, mostSchedules)
    .map((cronJob) => {
      const { message, ...status } = scheduleStatus(cronJob, {
        jobs: context.cache.controlledBy(Job, cronJob),
        pods: (job) => context.cache.controlledBy(Pod, job),
        words: (pod) => podWords(pod, () => undefined),
      });
      // Cut when it is redacted: of a part of a secret nobody could tell what it is.
      const said = message === undefined ? {} : { message: redact(message).slice(0, mostOfMessage) };
      return [cronJob.metadata.name.slice(context.object.metadata.name.length + 1), { ...status, ...said }] as const;
    });
  return found.length === 0 ? {} : { schedules: Object.fromEntries(found) };
}

/** Events of the runs that have ended since the last report: what an audit has corrected, and what failed. */
export function announceSchedules(context: ComposeContext, status: Readonly<Record<string, unknown>>): void {
  const before = statedIn(context.object['status']);
  for (const [name, now] of Object.entries(statedIn(status))) {
    const { lastFinishedTime, failures, message = '' } = now;
    if (lastFinishedTime === undefined || lastFinishedTime === before[name]?.lastFinishedTime) continue;
    if (message === suspendedWords) continue;
    if (failures > 0) context.event(eventOf('ScheduleFailed', `${name}: ${message}`));
    else if (name === auditSuffix && message !== '') context.event(eventOf('RecordsRepaired', message));
  }
}

function statedIn(status: unknown): Schedules {
  return ((status ?? {}) as { schedules?: Schedules }).schedules ?? {};
}

/** While a resource is paused, nothing of its is corrected: somebody works on it by hand. */
export async function suspendSchedules(context: OperatorContext): Promise<void> {
  for (const cronJob of cronJobsOf({ cache: context.cache, resource: context.object })) {
    const { suspend } = cronJob.spec ?? {};
    if (suspend === true || cronJob.metadata.deletionTimestamp !== undefined) continue;
    const { name, namespace = '', uid } = cronJob.metadata;
    const patch = { metadata: { uid }, spec: { suspend: true } };
    await context.client.patch(CronJob, { name, namespace }, 'merge', patch, { signal: context.signal });
  }
}

/**
 * Ends for good what would make records anew: the CronJobs, their Jobs, and the records Jobs themselves.
 * @returns whether one of their pods is still running
 */
export async function endSchedules(context: OperatorContext): Promise<boolean> {
  const { object, cache } = context;
  const cronJobs = cronJobsOf({ cache: context.cache, resource: context.object });
  for (const cronJob of cronJobs) if (cronJob.metadata.deletionTimestamp === undefined) await context.remove(cronJob);
  const jobs = [...cronJobs, object].flatMap((owner) => cache.controlledBy(Job, owner));
  for (const job of jobs) if (job.metadata.deletionTimestamp === undefined && !hasEnded(job)) await context.remove(job);
  return jobs.flatMap((job) => cache.controlledBy(Pod, job)).some(isRunning);
}
