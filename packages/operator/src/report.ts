import { type Condition, type StoredObject, timestamp } from '@openstack-operator/kube';
import { annotations, type Composition, conditionOf, type Progress } from '@openstack-operator/openstack';
import type { Pass } from './pass.ts';

/** What the report is made from. */
export interface Findings {
  readonly composition: Composition;
  readonly progress: readonly Progress[];
  /** What a write ran into: it stands in the condition of its step. */
  readonly failures: ReadonlyMap<string, Error>;
  readonly phase: string;
  readonly finishedJobs: Readonly<Record<string, string>>;
  /** Volume claim name -> uid. */
  readonly volumes: Readonly<Record<string, string>>;
}

/**
 * The status of a resource: a condition for each step, `Ready` last, one sentence of what is awaited. A condition keeps
 * its transition time while its status stays, so that an unchanged resource has an unchanged status.
 */
export function statusOf(pass: Pick<Pass, 'clock' | 'object'>, findings: Findings): Record<string, unknown> {
  const { composition, progress, failures, phase, finishedJobs, volumes } = findings;
  const judged = progress.map((one) => {
    const failure = failures.get(one.condition);
    return failure === undefined
      ? one
      : { ...one, status: 'False' as const, reason: reasonOf(failure), message: failure.message };
  });
  const open = judged.filter(({ status }) => status !== 'True');
  // What waits for another step says nothing of its own.
  const cause = open.find(({ reason }) => reason !== 'Waiting') ?? open[0];
  const ready: Progress =
    cause === undefined
      ? { condition: 'Ready', status: 'True', reason: 'Ready', message: '' }
      : { condition: 'Ready', status: 'False', reason: cause.reason, message: cause.message };
  const generation = pass.object.metadata.generation ?? 1;
  const conditions = [...judged, ready].map(({ condition, status, reason, message }): Condition => {
    const before = conditionOf(pass.object, condition);
    return {
      type: condition,
      status,
      observedGeneration: generation,
      lastTransitionTime: before?.status === status ? before.lastTransitionTime : timestamp(pass.clock),
      reason,
      message,
    };
  });
  return {
    ...composition.status,
    observedGeneration: generation,
    phase,
    message: ready.message.slice(0, 1024),
    conditions,
    ...(Object.keys(finishedJobs).length === 0 ? {} : { jobs: finishedJobs }),
    ...(Object.keys(volumes).length === 0 ? {} : { volumes }),
  };
}

/** Writes the status when it says anything new, and an event for each condition that turned. */
export async function report(pass: Pass, status: Record<string, unknown>): Promise<void> {
  await pass.status(status);
  for (const condition of status['conditions'] as Condition[]) announce(pass, condition);
}

/** Events on transitions only: a step is done, or stands still for a reason that it did not have before. */
function announce(pass: Pass, condition: Condition): void {
  const before = conditionOf(pass.object, condition.type);
  if (before?.status === condition.status && before.reason === condition.reason) return;
  const { type, status, reason, message } = condition;
  if (status === 'True')
    pass.event({ type: 'Normal', reason: type, action: 'Reconcile', note: message || `${type}: done` });
  else if (!quiet.has(reason))
    pass.event({ type: 'Warning', reason, action: 'Reconcile', note: `${type}: ${message}` });
}

/** Reasons that belong to every rollout: no event. */
const quiet = new Set(['Waiting', 'Missing', 'Updating', 'JobRunning', 'RollingOut', 'NotAvailable', 'Progressing']);

/** Whether the user has put the resource to rest. */
export function isPaused(resource: StoredObject): boolean {
  return resource.metadata.annotations?.[annotations.paused] === 'true';
}

/** The reason of a failure that is a state of the cluster, from its error's name; anything else is a failed write. */
function reasonOf(error: Error): string {
  const known: Readonly<Record<string, string>> = {
    ForeignObjectError: 'ForeignObject',
    KeyMaterialMissingError: 'KeyMaterialMissing',
  };
  return known[error.name] ?? 'WriteFailed';
}
