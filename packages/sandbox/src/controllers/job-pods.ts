import { keyOf, parseTimestamp } from '@openstack-operator/kube';
import type { Cluster } from '../cluster/cluster.ts';
import { type Job, Pod, type Stored } from '../cluster/kinds.ts';
import type { ControllerContext } from './controller.ts';
import { createPod, podFromTemplate } from './pods.ts';

export const TRACKING_FINALIZER = 'batch.kubernetes.io/job-tracking';
export const INDEX_ANNOTATION = 'batch.kubernetes.io/job-completion-index';

const FIRST_BACK_OFF_MS = 10_000;
const LONGEST_BACK_OFF_MS = 600_000;

/** Creates one pod of a Job; with an index for Indexed ones. @throws StatusError when the API server refuses */
export function createJobPod(job: Stored<Job>, index: number | undefined, context: ControllerContext): Stored<Pod> {
  const beginning = index === undefined ? job.metadata.name : `${job.metadata.name}-${index}`;
  const pod = podFromTemplate(job.spec.template, job, { generateName: `${beginning}-` });
  pod.metadata.finalizers = [...(pod.metadata.finalizers ?? []), TRACKING_FINALIZER];
  if (index !== undefined) {
    const text = String(index);
    pod.metadata.annotations = { ...pod.metadata.annotations, [INDEX_ANNOTATION]: text };
    pod.metadata.labels = { ...pod.metadata.labels, [INDEX_ANNOTATION]: text };
    pod.spec.hostname = beginning;
    for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
      const fieldPath = `metadata.labels['${INDEX_ANNOTATION}']`;
      const env = { name: 'JOB_COMPLETION_INDEX', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } } };
      container.env = [...(container.env ?? []), env];
    }
  }
  return createPod(pod, job, context);
}

/** Lets a pod go that has been counted. */
export function untrack(pod: Stored<Pod>, cluster: Cluster): void {
  if (!isTracked(pod)) return;
  cluster.update(Pod, keyOf(pod), ({ metadata }) => {
    const rest = (metadata.finalizers ?? []).filter((finalizer) => finalizer !== TRACKING_FINALIZER);
    if (rest.length > 0) metadata.finalizers = rest;
    else delete metadata.finalizers;
  });
}

/** Whether a pod is still to be counted. */
export function isTracked({ metadata }: Stored<Pod>): boolean {
  return metadata.finalizers?.includes(TRACKING_FINALIZER) === true;
}

/** Failed, or on its way out when the Job replaces such pods at once. */
export function hasFailed({ status, metadata }: Stored<Pod>, job: Stored<Job>): boolean {
  if (status?.phase === 'Failed') return true;
  if (job.spec.podReplacementPolicy === 'Failed') return false;
  return metadata.deletionTimestamp !== undefined && status?.phase !== 'Succeeded';
}

/** When the next pod may start: failures since the last success double the wait, 10 s to 10 min. */
export function retryAt(pods: readonly Stored<Pod>[]): number {
  const ended = pods
    .filter(({ status }) => status?.phase === 'Failed' || status?.phase === 'Succeeded')
    .map((pod) => ({ failed: pod.status?.phase === 'Failed', at: endOf(pod) }))
    .sort((a, b) => b.at - a.at);
  const success = ended.findIndex(({ failed }) => !failed);
  const failures = success < 0 ? ended : ended.slice(0, success);
  const [last] = failures;
  if (last === undefined) return 0;
  return last.at + Math.min(FIRST_BACK_OFF_MS * 2 ** (failures.length - 1), LONGEST_BACK_OFF_MS);
}

function endOf({ status, metadata }: Stored<Pod>): number {
  const ends = (status?.containerStatuses ?? []).map(({ state }) =>
    parseTimestamp(state?.terminated?.finishedAt ?? ''),
  );
  const known = ends.filter((end) => !Number.isNaN(end));
  return known.length > 0 ? Math.max(...known) : parseTimestamp(metadata.creationTimestamp ?? '');
}

/** Whether containers that restart in place have used the backoffLimit up (restartPolicy OnFailure). */
export function restartsExceed(job: Stored<Job>, pods: readonly Stored<Pod>[]): boolean {
  if (job.spec.template.spec?.restartPolicy !== 'OnFailure') return false;
  let restarts = 0;
  for (const { status } of pods) {
    if (status?.phase !== 'Running' && status?.phase !== 'Pending') continue;
    for (const { restartCount } of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]) {
      restarts += restartCount;
    }
  }
  const { backoffLimit = 6 } = job.spec;
  return backoffLimit === 0 ? restarts > 0 : restarts >= backoffLimit;
}

/** The completion index of a pod of an Indexed Job. */
export function indexOf({ metadata }: Stored<Pod>): number {
  return Number(metadata.annotations?.[INDEX_ANNOTATION] ?? Number.NaN);
}

/** `1,3-5,7`. */
export function formatIndexes(indexes: Iterable<number>): string {
  const sorted = [...new Set(indexes)].sort((a, b) => a - b);
  const ranges: [number, number][] = [];
  for (const index of sorted) {
    const last = ranges.at(-1);
    if (last && last[1] === index - 1) last[1] = index;
    else ranges.push([index, index]);
  }
  return ranges
    .map(([from, to]) => (from === to ? `${from}` : to === from + 1 ? `${from},${to}` : `${from}-${to}`))
    .join();
}

/** The numbers in `1,3-5,7`. */
export function parseIndexes(text: string | undefined): number[] {
  return (text ?? '')
    .split(',')
    .filter(Boolean)
    .flatMap((range) => {
      const [from = 0, to = from] = range.split('-').map(Number);
      return Array.from({ length: to - from + 1 }, (_, offset) => from + offset);
    });
}
