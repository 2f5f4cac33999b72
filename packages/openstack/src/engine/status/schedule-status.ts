import type { Condition, StoredObject } from '@openstack-operator/kube';
import type { ScheduleStatus } from '../../api/schedules.ts';

/** Where the Jobs and pods of a CronJob are found. */
export interface ScheduleRuns {
  /** Jobs that the CronJob has made and that are kept. */
  readonly jobs: readonly StoredObject[];
  /** Pods of a Job. */
  readonly pods: (job: StoredObject) => readonly StoredObject[];
  /** Why a pod failed, in words. */
  readonly words: (pod: StoredObject) => string | undefined;
}

/** The message of a schedule that is suspended: what its last runs were says nothing of how things are now. */
export const suspendedWords = 'suspended';

/** What has become of a CronJob's runs so far. Its message is as long as programs make it, and may hold secrets. */
export function scheduleStatus(cronJob: StoredObject, runs: ScheduleRuns): ScheduleStatus {
  const { lastScheduleTime, lastSuccessfulTime } = (cronJob['status'] ?? {}) as {
    lastScheduleTime?: string;
    lastSuccessfulTime?: string;
  };
  const ended = runs.jobs
    .flatMap((job) => {
      const end = endOf(job);
      return end === undefined ? [] : [{ job, ...end }];
    })
    .sort((a, b) => (a.at < b.at ? 1 : -1));
  const [last] = ended;
  if ((cronJob['spec'] as { suspend?: boolean } | undefined)?.suspend === true)
    return {
      ...(lastScheduleTime === undefined ? {} : { lastScheduleTime }),
      ...(lastSuccessfulTime === undefined ? {} : { lastSuccessfulTime }),
      ...(last === undefined ? {} : { lastFinishedTime: last.at }),
      failures: 0,
      message: suspendedWords,
    };
  const firstSuccess = ended.findIndex(({ failed }) => !failed);
  const failures = firstSuccess < 0 ? ended.length : firstSuccess;
  const message = last === undefined ? '' : wordsOf(last.job, last.failed, runs);
  return {
    ...(lastScheduleTime === undefined ? {} : { lastScheduleTime }),
    ...(lastSuccessfulTime === undefined ? {} : { lastSuccessfulTime }),
    ...(last === undefined ? {} : { lastFinishedTime: last.at }),
    failures,
    ...(message === '' ? {} : { message }),
  };
}

/** When a Job ended, and how; undefined while it runs. */
function endOf(job: StoredObject): { readonly at: string; readonly failed: boolean } | undefined {
  const held = conditionsOf(job).find(({ type, status }) => ['Complete', 'Failed'].includes(type) && status === 'True');
  return held === undefined ? undefined : { at: held.lastTransitionTime, failed: held.type === 'Failed' };
}

function conditionsOf(job: StoredObject): readonly Condition[] {
  return ((job['status'] ?? {}) as { conditions?: readonly Condition[] }).conditions ?? [];
}

/** What a run left as its containers' termination messages; of one that failed, why. */
function wordsOf(job: StoredObject, failed: boolean, { pods, words }: ScheduleRuns): string {
  const newest = [...pods(job)].sort((a, b) =>
    (a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1,
  );
  if (failed) {
    const message = conditionsOf(job).find(({ type }) => type === 'Failed')?.message ?? '';
    const why = newest.map(words).find((one) => one !== undefined);
    return why === undefined ? message : `${message}: ${why}`;
  }
  const lines = newest[0] === undefined ? [] : linesLeftBy(newest[0]);
  return lines.filter((line) => !line.startsWith('{')).join('; ');
}

/** The lines that the containers of a pod have left as their termination messages. */
export function linesLeftBy(pod: StoredObject): string[] {
  const { initContainerStatuses = [], containerStatuses = [] } = (pod['status'] ?? {}) as {
    initContainerStatuses?: readonly ContainerEnd[];
    containerStatuses?: readonly ContainerEnd[];
  };
  return [...initContainerStatuses, ...containerStatuses]
    .flatMap(({ state }) => (state?.terminated?.message ?? '').split('\n'))
    .filter((line) => line !== '');
}

interface ContainerEnd {
  readonly state?: { readonly terminated?: { readonly message?: string } };
}
