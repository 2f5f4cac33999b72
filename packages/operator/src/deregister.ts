import { isApiError, Job, parseTimestamp, type StoredObject } from '@openstack-operator/kube';
import {
  conditionOf,
  type Deregistration,
  deregistrationSeconds,
  eventOf,
  finalizers,
  ownershipOf,
} from '@openstack-operator/openstack';
import type { OperatorContext } from './context.ts';
import { reconciled } from './report.ts';
import { endSchedules } from './schedules.ts';

/** Keeps a resource until what it has where that lives on is taken back. It is named after what it was for at first. */
export const recordsFinalizer = finalizers.externalRecords;

/** Milliseconds after the deletion after which the resource goes, whatever has become of its records. */
const mostWait = (deregistrationSeconds + 300) * 1000;

/**
 * Takes back what a resource that is being deleted has elsewhere, by a Job. It ends: when the Job has, well or not, when
 * no Job can be made (the namespace goes as well), and after fifteen minutes at the latest. What is left behind then is
 * told by an event.
 * @returns milliseconds until it has to be looked at again; undefined when the finalizer may go
 */
export async function deregister(
  context: OperatorContext,
  what: () => Deregistration | undefined,
): Promise<number | undefined> {
  const { object: resource } = context;
  const left = begunAt(resource) + mostWait - context.clock.now();
  let plan: Deregistration | undefined;
  try {
    plan = what();
  } catch (error) {
    // What cannot be composed any more (a reference is gone) has nobody to take it back.
    return abandon(context, [], error instanceof Error ? error.message : String(error));
  }
  if (plan === undefined) return undefined;
  const { job, things, lost } = plan;
  const ended = () => (lost.length === 0 ? undefined : abandon(context, lost, 'not all can be taken back'));
  if (job === undefined) return ended();
  const { name = '', namespace = '' } = job.metadata;
  const ownership = ownershipOf(resource, false);
  const live = context.cache.get(Job, { name, namespace });
  const isOurs = live !== undefined && ownership.ours?.(live) === true;
  if (!isOurs || live.metadata.deletionTimestamp !== undefined) {
    if (left <= 0) return abandon(context, things, `Job ${name} could not be run in time`);
    // That of a resource of the same name before it: the garbage collector takes it.
    if (live !== undefined && !isOurs) return Math.min(left, 5000);
    // Neither an audit nor a records Job may make anew what is being taken back.
    if (await endSchedules(context)) return Math.min(left, 5000);
    try {
      await context.create(job, ownership);
    } catch (error) {
      if (isTerminating(error))
        return abandon(context, things, `namespace ${namespace} is being deleted, and runs no Job`);
      throw error;
    }
    return left;
  }
  if (conditionOf(live, 'Complete')?.status === 'True') {
    context.event(eventOf('Deregistered', `taken back: ${things.join('; ')}`));
    return ended();
  }
  const failed = conditionOf(live, 'Failed');
  if (failed?.status === 'True') return abandon(context, things, `Job ${name} failed: ${failed.message}`);
  return left <= 0 ? abandon(context, things, `Job ${name} did not end in time`) : left;
}

/** When the end of a resource has begun: when it was deleted, or when the last server that it had to wait for was gone. */
function begunAt(resource: StoredObject): number {
  const letGo = conditionOf(resource, reconciled);
  const times = [resource.metadata.deletionTimestamp, letGo?.reason === 'Deleting' ? letGo.lastTransitionTime : ''];
  return Math.max(...times.map((time) => parseTimestamp(time ?? '')).filter((time) => !Number.isNaN(time)));
}

/** The resource goes all the same: what it had elsewhere is for somebody to remove by hand. */
function abandon(context: OperatorContext, things: readonly string[], why: string): undefined {
  const what = things.length === 0 ? 'what it has elsewhere' : things.join('; ');
  const note = `${why}. Left behind, to be removed by hand: ${what}`;
  context.event(eventOf('DeregistrationFailed', note));
  return undefined;
}

/** Whether the API server makes nothing in a namespace any more (403, cause NamespaceTerminating). */
function isTerminating(error: unknown): boolean {
  return isApiError(error, 403) && /being terminated/.test(error.message);
}

/** Whether the finalizer keeps the resource. */
export function keepsRecords({ metadata }: StoredObject): boolean {
  return metadata.finalizers?.includes(recordsFinalizer) === true;
}
