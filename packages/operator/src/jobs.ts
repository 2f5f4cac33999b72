import {
  ForeignObjectError,
  Job,
  type KubeObject,
  Pod,
  parseTimestamp,
  type StoredObject,
} from '@openstack-operator/kube';
import { annotations, conditionOf, prefix } from '@openstack-operator/openstack';
import { ownershipOf } from './ownership.ts';
import { type Pass, readLive } from './pass.ts';
import type { Again } from './write.ts';

/** Milliseconds before a failed Job is run again: 1 minute, then doubled up to 16. */
const retryAfter = (attempt: number): number => 60_000 * 2 ** Math.min(attempt, 4);

/** Annotation that counts how often a Job of the same inputs failed. */
const attemptAnnotation = `${prefix}/attempt`;

/**
 * Runs a Job once for each set of inputs. Other inputs while one is running: it is left to end, a running migration is
 * never killed, unless its container never started. A failed Job is run again after a while, or at once when its
 * inputs change. Its finished digest is in the resource's status, so that a Job that was cleaned up does not run again.
 */
export async function keepJob(
  pass: Pass,
  stated: KubeObject,
  finishedJobs: Readonly<Record<string, string>>,
): Promise<Again> {
  const { name = '', namespace = '' } = stated.metadata;
  const inputs = stated.metadata.annotations?.[annotations.inputs];
  const live = await readLive(pass, Job, { name, namespace });
  if (live === undefined) {
    if (finishedJobs[name] !== inputs && !isStillRunning(pass, stated)) await run(pass, stated, 0);
    return undefined;
  }
  if (ownershipOf(pass.object, false).ours?.(live) !== true) throw new ForeignObjectError(live, pass.object);
  if (live.metadata.deletionTimestamp !== undefined) return undefined;
  const failed = conditionOf(live, 'Failed');
  const ended = failed?.status === 'True' || conditionOf(live, 'Complete')?.status === 'True';
  if (live.metadata.annotations?.[annotations.inputs] !== inputs) {
    if (ended || !hasStarted(pass, live)) await again(pass, live, stated, 0);
    return undefined;
  }
  if (failed?.status !== 'True') return undefined;
  const attempt = Number(live.metadata.annotations?.[attemptAnnotation] ?? 0);
  const wait = parseTimestamp(failed.lastTransitionTime) + retryAfter(attempt) - pass.clock.now();
  if (wait > 0) return wait;
  await again(pass, live, stated, attempt + 1);
  return undefined;
}

/** Deletes the old run first; where its end takes a moment (its pods), that end wakes this resource again. */
async function again(pass: Pass, live: StoredObject, stated: KubeObject, attempt: number): Promise<void> {
  await pass.remove(live);
  const { name, namespace = '' } = live.metadata;
  if (pass.cache.get(Job, { name, namespace }) === undefined) await run(pass, stated, attempt);
}

async function run(pass: Pass, stated: KubeObject, attempt: number): Promise<void> {
  const notes = attempt === 0 ? {} : { [attemptAnnotation]: String(attempt) };
  const metadata = { ...stated.metadata, annotations: { ...stated.metadata.annotations, ...notes } };
  await pass.create({ ...stated, metadata }, ownershipOf(pass.object, false));
}

/** Whether any container of the Job has ever run; before that it can be replaced without harm. */
function hasStarted(pass: Pass, job: StoredObject): boolean {
  return pass.cache
    .byIndex(Pod, 'controller', job.metadata.uid)
    .some((pod) =>
      containersOf(pod).some(({ state, lastState }) => state?.running ?? state?.terminated ?? lastState?.terminated),
    );
}

/**
 * Whether a container of an earlier run, whose Job was deleted by hand, has not ended yet: of a migration there is one
 * at a time. The end of its pod wakes the resource.
 */
function isStillRunning(pass: Pass, { metadata: { namespace = '', labels } }: KubeObject): boolean {
  const labelSelector = { matchLabels: { ...labels } };
  return pass.cache
    .list(Pod, { namespace, labelSelector })
    .some((pod) => containersOf(pod).some(({ state }) => state?.running !== undefined));
}

function containersOf(pod: StoredObject): Container[] {
  const status = (pod['status'] ?? {}) as { initContainerStatuses?: Container[]; containerStatuses?: Container[] };
  return [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
}

interface Container {
  readonly state?: { readonly running?: unknown; readonly terminated?: unknown };
  readonly lastState?: { readonly terminated?: unknown };
}
