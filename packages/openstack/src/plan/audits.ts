import { CronJob, Job, type KubeObject, Pod, type StoredObject } from '@openstack-operator/kube';
import { auditSuffix, deregistrationSuffix, recordsJobs } from '../engine/names/names.ts';
import { conditionOf } from '../engine/status/conditions.ts';
import type { Live } from './live.ts';

const component = 'app.kubernetes.io/component';

type Seen = Pick<Live, 'cache' | 'resource'>;

/**
 * Audits that a Job which keeps records may not run beside: one has read the list as it was before, and would set a
 * password back to the one before. None for other Jobs.
 */
export function runningAudits(live: Seen, job: KubeObject): StoredObject[] {
  if (!keepsRecords(job)) return [];
  return cronJobsOf(live)
    .filter(({ metadata }) => metadata.labels?.[component] === auditSuffix)
    .flatMap((cronJob) => live.cache.controlledBy(Job, cronJob))
    .filter((run) => run.metadata.deletionTimestamp === undefined && !hasEnded(run));
}

/**
 * Whether a pod of an audit still runs, or one that takes back the records of a resource of the same name before: its
 * end enqueues the resource.
 */
export function isAuditRunning({ cache, resource }: Seen, job: KubeObject): boolean {
  if (!keepsRecords(job)) return false;
  const { [component]: _component, ...matchLabels } = job.metadata.labels ?? {};
  const matchExpressions = [{ key: component, operator: 'In', values: [auditSuffix, deregistrationSuffix] }] as const;
  const { namespace = '' } = resource.metadata;
  return cache.list(Pod, { namespace, labelSelector: { matchLabels, matchExpressions } }).some(isRunning);
}

function keepsRecords({ metadata: { labels = {} } }: KubeObject): boolean {
  return recordsJobs.includes(labels[component] ?? '');
}

/** The CronJobs of a resource. */
export function cronJobsOf({ cache, resource }: Seen): StoredObject<CronJob>[] {
  return cache.has(CronJob) ? cache.controlledBy(CronJob, resource) : [];
}

/** Whether a Job has completed or failed. */
export function hasEnded(job: StoredObject): boolean {
  return ['Complete', 'Failed'].some((type) => conditionOf(job, type)?.status === 'True');
}

/** Whether a pod has not come to its end. */
export function isRunning(pod: StoredObject): boolean {
  return !['Succeeded', 'Failed'].includes((pod['status'] as { phase?: string } | undefined)?.phase ?? '');
}
