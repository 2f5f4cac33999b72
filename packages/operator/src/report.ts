import {
  type Condition,
  ConnectionError,
  ForeignObjectError,
  isApiError,
  Secret,
  type StoredObject,
  timestamp,
} from '@openstack-operator/kube';
import {
  advance,
  annotations,
  authorityStatus,
  type ComposedTls,
  type Composition,
  conditionOf,
  eventTypeOf,
  type Progress,
  type Reason,
  type ReleaseStatus,
  type Rotation,
  reasons,
  reconcileRequestOf,
  retainedFor,
  rotationDueAt,
  settledTls,
} from '@openstack-operator/openstack';
import { podsWith } from './component-pods.ts';
import type { ComposeContext, OperatorContext } from './context.ts';
import { VolumeExpansionError } from './expand.ts';

/** What the report is made from. */
export interface Findings {
  readonly composition: Pick<Composition, 'complete' | 'status' | 'rotating' | 'steps'>;
  readonly progress: readonly Progress[];
  /** What a write ran into: it stands in the condition of its step. */
  readonly failures: ReadonlyMap<string, Error>;
  /** Conditions whose writes have failed for long; '' for what belongs to no step. */
  readonly lasting: ReadonlySet<string>;
  readonly phase: string;
  readonly finishedJobs: Readonly<Record<string, string>>;
  /** Volume claim name -> uid. */
  readonly volumes: Readonly<Record<string, string>>;
  /** Takes secrets out of a text, and cuts it to what a condition may say. */
  readonly redact: (text: string) => string;
}

/** The condition that says why a resource is not judged at all; it is absent while it is. */
export const reconciled = 'Reconciled';

/** The most characters of `status.message` (a bound of the CRDs). */
const mostOfSentence = 1024;

/**
 * The status of a resource: a condition for each step, `Ready` last, one sentence of what is awaited. A condition keeps
 * its transition time while its status stays, so that an unchanged resource has an unchanged status. What an incomplete
 * composition does not speak of stays as it was.
 */
export function statusOf(
  context: Pick<ComposeContext, 'cache' | 'clock' | 'object'>,
  findings: Findings,
): Record<string, unknown> {
  const { composition, progress, failures, lasting, phase, finishedJobs, volumes, redact } = findings;
  const judged = progress.map((one) =>
    withFailure(one, failures.get(one.condition), { resource: context.object, lasting }),
  );
  const open = judged.filter(({ status }) => status !== 'True');
  // What somebody has to mend comes first; what waits for another step says nothing of its own.
  const cause =
    open.find(({ reason }) => reasons[reason].effect === 'stuck') ??
    open.find(({ reason }) => reasons[reason].effect === 'stalled') ??
    open.find(({ reason }) => reason !== 'Waiting') ??
    open[0];
  // What is to be mended although the resource serves.
  const degraded = judged.filter(({ reason }) => reasons[reason].effect === 'degraded').map(({ message }) => message);
  const upkeep = lasting.has('') ? failures.get('') : undefined;
  if (upkeep !== undefined) degraded.push(upkeep.message);
  const completed = completedRotations(context, composition, judged);
  const ready: Progress =
    cause !== undefined
      ? { condition: 'Ready', status: 'False', reason: cause.reason, message: cause.message }
      : completed.length > 0
        ? { condition: 'Ready', status: 'False', reason: 'Progressing', message: refusedNext }
        : { condition: 'Ready', status: 'True', reason: 'Ready', message: [...new Set(degraded)].join('; ') };
  const generation = context.object.metadata.generation ?? 1;
  const conditions = [...judged, ready].map(({ condition, status, reason, message }): Condition => {
    const before = conditionOf(context.object, condition);
    return {
      type: condition,
      status,
      observedGeneration: generation,
      lastTransitionTime: before?.status === status ? before.lastTransitionTime : timestamp(context.clock),
      reason,
      message: redact(message),
    };
  });
  const old = (composition.complete ? {} : (context.object['status'] ?? {})) as { conditions?: Condition[] };
  const before = (context.object['status'] ?? {}) as {
    readyGeneration?: number;
    release?: ReleaseStatus;
  };
  const { release: target, tls, ...told } = composition.status as { release?: ReleaseStatus; tls?: ComposedTls };
  const settled = tls && settledTls(tls, judged);
  const { release = {} } = before;
  const readyGeneration = ready.status === 'True' ? generation : before.readyGeneration;
  const request = composition.complete ? reconcileRequestOf(context.object) : undefined;
  const spoken = new Set([reconciled, ...conditions.map(({ type }) => type)]);
  return {
    ...old,
    ...told,
    ...(target === undefined ? {} : { release: advance(release, target, judged) }),
    ...(settled === undefined ? {} : { tls: settled, tlsGeneration: tls?.generation }),
    ...(judged.some(({ leaving }) => leaving) ? { agentsLeaving: true } : {}),
    ...(composition.complete ? rotatedOf(context, composition, completed) : {}),
    ...(composition.complete ? authoritiesOf(context, composition) : {}),
    observedGeneration: generation,
    ...(request === undefined ? {} : { lastHandledReconcileAt: request }),
    ...(readyGeneration === undefined ? {} : { readyGeneration }),
    phase: cause === undefined && completed.length > 0 ? 'Progressing' : phase,
    message: (conditions.at(-1)?.message ?? '').slice(0, mostOfSentence),
    conditions: [...(old.conditions ?? []).filter(({ type }) => !spoken.has(type)), ...conditions],
    ...(Object.keys(finishedJobs).length === 0 ? {} : { jobs: finishedJobs }),
    ...(Object.keys(volumes).length === 0 ? {} : { volumes }),
  };
}

/** Why a resource is not Ready whose pods all have the new passwords: its next reconcile has those before refused. */
const refusedNext = 'all pods use the new passwords; those before are about to be refused';

/** The rotations under way that are completed, as nothing is left of the passwords before. */
function completedRotations(
  { cache, object }: Pick<ComposeContext, 'cache' | 'object'>,
  { rotating = {} }: Findings['composition'],
  judged: readonly Progress[],
): readonly (readonly [secret: string, Rotation])[] {
  const rotations = Object.entries(rotating);
  if (rotations.length === 0) return [];
  const isDone = judged.every(({ status, outdated }) => status === 'True' && outdated !== true);
  return isDone && !usesBefore({ cache, object }) ? rotations : [];
}

/** The rotations that were completed, with those that are completed now, and when the next ones are due. */
function rotatedOf(
  { cache, object, clock }: Pick<ComposeContext, 'cache' | 'object' | 'clock'>,
  { steps }: Findings['composition'],
  completed: ReturnType<typeof completedRotations>,
): { readonly rotated?: Readonly<Record<string, object>> } {
  const before = ((object['status'] ?? {}) as { rotated?: Readonly<Record<string, { next?: string }>> }).rotated ?? {};
  const time = timestamp(clock);
  const rotated: Record<string, object> = Object.fromEntries([
    ...Object.entries(before).flatMap(([secret, told]) => {
      const { next: _next, ...done } = told;
      return Object.keys(done).length === 0 ? [] : [[secret, done] as const];
    }),
    ...completed.map(([secret, rotation]) => [secret, { ...rotation, time }] as const),
  ]);
  for (const desired of steps.flatMap(({ objects }) => objects)) {
    if (desired.verb !== 'generate' || desired.succession === undefined) continue;
    const { name = '', namespace = '' } = desired.object.metadata;
    const secret = cache.get(Secret, { name, namespace });
    const next = secret && rotationDueAt(secret, desired.succession);
    if (next !== undefined) rotated[name] = { ...rotated[name], next: timestamp({ now: () => next }) };
  }
  return Object.keys(rotated).length === 0 ? {} : { rotated };
}

/** The authorities of its Secrets, and how far their replacement is. */
function authoritiesOf(
  { cache }: Pick<ComposeContext, 'cache'>,
  { steps }: Findings['composition'],
): { readonly authorities?: Readonly<Record<string, object>> } {
  const authorities = steps.flatMap(({ objects }) =>
    objects.flatMap((desired) => {
      if (desired.verb !== 'generate' || desired.authority === undefined) return [];
      const { name = '', namespace = '' } = desired.object.metadata;
      const secret = cache.get(Secret, { name, namespace });
      const told = secret && authorityStatus(secret, desired);
      return told === undefined ? [] : [[name, told] as const];
    }),
  );
  return authorities.length === 0 ? {} : { authorities: Object.fromEntries(authorities) };
}

/** Whether a pod of a resource may still use a password before: one that is being deleted, or whose Job began with it. */
function usesBefore({ cache, object }: Pick<ComposeContext, 'cache' | 'object'>): boolean {
  const { name, namespace = '' } = object.metadata;
  const pods = podsWith(cache, namespace, { 'app.kubernetes.io/instance': name });
  return pods.some(({ metadata: { labels = {}, deletionTimestamp }, status }) => {
    const { phase = '' } = (status ?? {}) as { phase?: string };
    const isOfJob = labels['batch.kubernetes.io/controller-uid'] !== undefined;
    return deletionTimestamp !== undefined || (isOfJob && ['Pending', 'Running'].includes(phase));
  });
}

/**
 * What a write ran into, told in the condition of its step. Somebody else's write in between is met by the next reconcile,
 * and a server that does not answer changes nothing about a step that is done: both are told when they last.
 */
function withFailure(
  judged: Progress,
  failure: Error | undefined,
  { resource, lasting }: { readonly resource: StoredObject; readonly lasting: ReadonlySet<string> },
): Progress {
  if (failure === undefined) return judged;
  // What uses a volume that does not grow is judged by its pods.
  if (failure instanceof VolumeExpansionError) {
    const message = [judged.message, failure.message].filter((words) => words !== '').join('; ');
    return { ...judged, ...(judged.status === 'True' ? { reason: 'Degraded' } : {}), message };
  }
  const mayPass = isApiError(failure, 409) || (isPassing(failure) && judged.status === 'True');
  if (mayPass && !lasting.has(judged.condition)) return judged;
  if (mayPass && judged.status === 'True') return { ...judged, reason: 'Degraded', message: failure.message };
  return { ...judged, status: 'False', reason: reasonOf(failure), message: wayOut(failure, resource) };
}

/** An object that nobody controls can be handed over. */
function wayOut(failure: Error, resource: StoredObject): string {
  const { message } = failure;
  return failure instanceof ForeignObjectError && !failure.controlled
    ? `${message}, or annotate it ${annotations.adopt}=${retainedFor(resource)} to hand it over`
    : message;
}

/** Whether a failure says something of the API server's state, and nothing of what was written. */
export function isPassing(error: unknown): boolean {
  return error instanceof ConnectionError || (isApiError(error) && (error.code === 429 || error.code >= 500));
}

/**
 * Writes the status when it says anything new, and events of what turned.
 * @returns milliseconds after which to report again, where this one may wait
 */
export async function report(context: OperatorContext, status: Record<string, unknown>): Promise<number | undefined> {
  const wait = context.statusPace.wait(context, status);
  if (wait > 0) return wait;
  const writes = context.writes();
  try {
    await context.status(status);
  } catch (error) {
    // Deleted during the reconcile: there is nobody to tell.
    if (isApiError(error, 404)) return undefined;
    throw error;
  }
  if (context.writes() > writes) context.statusPace.written(context);
  for (const condition of status['conditions'] as Condition[]) announce(context, condition);
  return undefined;
}

/**
 * Events on transitions only: the resource is Ready, a step stands still for a reason that it did not have before, or goes
 * on after such a reason. Steps of a rollout that goes well are told by the conditions.
 */
function announce(context: OperatorContext, condition: Condition): void {
  const before = conditionOf(context.object, condition.type);
  if (before?.status === condition.status && before.reason === condition.reason) return;
  const { type, reason, message } = condition;
  const event = eventTypeOf(reason);
  if (event === 'Normal' && (type === 'Ready' || (before !== undefined && eventTypeOf(before.reason) === 'Warning')))
    context.event({ type: event, reason: type, action: 'Reconcile', note: message || `${type}: done` });
  else if (event === 'Warning')
    context.event({ type: event, reason, action: 'Reconcile', note: `${type}: ${message}` });
}

/** Tells of a Job that had failed and was run again in the same reconcile, so that its condition never said so. */
export function announceRetry(
  context: ComposeContext,
  status: Record<string, unknown>,
  { type, reason, message }: Pick<Condition, 'type' | 'reason' | 'message'>,
): void {
  const reported = (status['conditions'] as Condition[]).find((condition) => condition.type === type);
  if ([reported?.reason, conditionOf(context.object, type)?.reason].includes(reason)) return;
  context.event({ type: 'Warning', reason, action: 'Reconcile', note: `${type}: ${message}` });
}

/** Whether the user has put the resource to rest. */
export function isPaused(resource: StoredObject): boolean {
  return resource.metadata.annotations?.[annotations.paused] === 'true';
}

/** The reason of a failure that is a state of the cluster, from its error's name; anything else is a failed write. */
function reasonOf(error: Error): Reason {
  const known: Readonly<Record<string, Reason>> = {
    ContendedObjectError: 'Contended',
    ForeignObjectError: 'ForeignObject',
    KeyMaterialMissingError: 'KeyMaterialMissing',
  };
  return known[error.name] ?? 'WriteFailed';
}
