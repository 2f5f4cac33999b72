import {
  type Condition,
  ControllerRevision,
  Job,
  type Kind,
  Node,
  Pod,
  type ReconcileResult,
  Secret,
  type StoredObject,
} from '@openstack-operator/kube';
import {
  annotations,
  assessAll,
  type Composition,
  checkVolumes,
  claimPlans,
  cloudOf,
  conditionOf,
  type Hold,
  type Live,
  nodesByCloud,
  ownershipOf,
  type Progress,
  planSteps,
  planUpkeep,
  protectFinalizer,
  type RecordedNodes,
  soonest,
  statedObjects,
  unwantedHeld,
  withoutForgotten,
} from '@openstack-operator/openstack';
import { isAutoscaled } from './autoscalers.ts';
import { tellChildren } from './children.ts';
import { podsWith } from './component-pods.ts';
import { referringTo } from './concerned.ts';
import { ContendedObjectError } from './contention.ts';
import type { ComposeContext, OperatorContext } from './context.ts';
import { keptForGuests } from './disabled.ts';
import { execute, type Outcome } from './execute.ts';
import { addFinalizers, finalize, type Outside, ourFinalizers } from './finalizers.ts';
import { announceForgotten } from './forgotten.ts';
import { foundBy, toldBy } from './found.ts';
import { holdOf } from './guard.ts';
import { nodesStatus } from './joined-nodes.ts';
import { announceMaintenance } from './maintenance.ts';
import { chargeOf, claimResource } from './managing-operator.ts';
import { membersBy } from './members.ts';
import { announceRetry, report, statusOf } from './report.ts';
import { CompositionError, reportInstead, reportPaused, reportRetaining, reportUncomposed } from './report-instead.ts';
import { announceSchedules, suspendSchedules } from './schedules.ts';
import { type Adopted, adoptDigests } from './secrets/adopt-digests.ts';
import { type DigestKey, ensureDigestKey } from './secrets/digest-key.ts';
import { discreet, redactor } from './secrets/redact.ts';
import { isResolved } from './secrets/resolve.ts';
import { letGo } from './secrets/retention.ts';
import { careful, isGoingWithOwner, isStillMeant, rootOf, SupersededError, whoPaused } from './still-meant.ts';

/** What differs between kinds: how they are composed, and what their phase is. */
export interface Recipe extends Outside {
  /** From what the context knows to the steps. Pure but for reading its cache. */
  readonly compose: (context: ComposeContext) => Composition;
  /** Nothing is awaited any more: what it was composed to need not be kept. */
  readonly rest: (key: string) => void;
  /** The same with the digests of the key that all clouds had, and with the image of the operator of that time. */
  readonly composeFormer?: (context: ComposeContext, key: DigestKey, operatorImage: string | undefined) => Composition;
  readonly phase: (progress: readonly Progress[], resource: StoredObject) => string;
  /** Further fields of the status, from what the cache shows. */
  readonly observed?: (context: ComposeContext) => Readonly<Record<string, unknown>>;
}

/**
 * One reconcile: gather, compose, assess, plan, execute what is open and not held back; again while that has completed a
 * step; report. It starts from nothing but the cache: what it assessed is what it composed from, so that no step is
 * written on the word of a stale one. What is reported is what was assessed after the writes.
 */
export async function reconcile(given: OperatorContext, recipe: Recipe): Promise<ReconcileResult | undefined> {
  const context = discreet(careful(given));
  try {
    return await reconcileManaged(context, recipe);
  } catch (error) {
    // The change itself has enqueued the resource.
    if (error instanceof SupersededError) return undefined;
    if (!(error instanceof CompositionError)) throw error;
    context.failingSteps.forget(nameOf(context));
    await reportUncomposed(context, error);
    throw error.cause;
  }
}

async function reconcileManaged(context: OperatorContext, recipe: Recipe): Promise<ReconcileResult | undefined> {
  const { object: resource } = context;
  const { deletionTimestamp, finalizers = [] } = resource.metadata;
  const isDeleting = deletionTimestamp !== undefined;
  const isGoing = isGoingWithOwner(context);
  if (!isDeleting && isGoing) return undefined;
  const charge = chargeOf(context.operator, rootOf(context));
  const paused = whoPaused(context);
  if (charge === 'other class' || typeof charge === 'object' || paused !== undefined)
    context.failingSteps.forget(nameOf(context));
  if (charge === 'other class') return undefined;
  if (typeof charge === 'object') {
    return rootOf(context) === resource ? context.refusals.tell(context, charge.operator) : undefined;
  }
  // Without a finalizer of ours what is being deleted is no longer for us.
  if (isDeleting && !finalizers.some((name) => ourFinalizers.includes(name))) return undefined;
  if (paused !== undefined) {
    await suspendSchedules(context);
    await reportPaused(context, paused, isDeleting);
    return undefined;
  }
  if (charge === 'unclaimed' && !isDeleting) {
    // What a control plane has made waits for the record on it.
    if (rootOf(context) === resource) await claimResource(context);
    return undefined;
  }
  let hold: Hold | undefined;
  if (isDeleting) {
    const isHeld = !isGoing && finalizers.includes(protectFinalizer);
    if (isHeld) hold = await holdOf(context, resource);
    // Without that finalizer its children do nothing more.
    const told = isHeld && hold === undefined ? await tellChildren(context) : undefined;
    const [waiting] = told?.retaining ?? [];
    if (waiting !== undefined) return await reportRetaining(context, waiting, told?.failures);
    // Whoever says Retain before the end comes in time.
    await letGo(context);
    if (hold === undefined) return await finalize(context, recipe);
  }
  const digestKey = await ensureDigestKey(context);
  // In a namespace that is being deleted nothing can be made. What is deleted in the foreground has its objects deleted
  // by the garbage collector already, which would delete those that are made anew.
  if (digestKey === undefined || finalizers.includes('foregroundDeletion')) {
    if (hold === undefined) return undefined;
    await reportInstead(context, 'Deleting', resourcesGone(hold));
    return { requeueAfter: hold.requeueAfter };
  }
  const keyed = { ...context, digestKey };
  if (!isDeleting) await addFinalizers(keyed, recipe);
  return await converge(keyed, recipe, hold);
}

/** What a resource is noted as where all kinds are. */
function nameOf({ object, key }: OperatorContext): string {
  return `${object.kind} ${key}`;
}

/** Composes, writes what is open, and reports; `hold` says why a deletion waits. */
async function converge(
  context: ComposeContext,
  recipe: Recipe,
  hold: Hold | undefined,
): Promise<ReconcileResult | undefined> {
  const { object: resource } = context;
  const isDeleting = resource.metadata.deletionTimestamp !== undefined;
  const { jobs = {} } = (resource['status'] ?? {}) as { jobs?: Record<string, string> };
  await letGo(context);
  await context.turn();
  let view = look(context, recipe, jobs);
  if (await context.dryRuns.ask(context, view.composition)) view = look(context, recipe, jobs);
  const told = await tellChildren(context);
  let stated: View;
  let outcome: Outcome;
  const spans = [hold?.requeueAfter];
  const reached = new Set<string>();
  const failed: Progress[] = [];
  do {
    stated = view;
    for (const condition of view.live.done) reached.add(condition);
    failed.push(...view.progress.filter(({ reason }) => reason === 'JobFailed'));
    const writes = context.writes();
    const { composition, live } = view;
    outcome = await execute(context, planSteps(composition, live), { live, steps: composition.steps });
    spans.push(outcome.requeueAfter);
    if (context.writes() === writes) break;
    await context.turn();
    if (!isStillMeant(context)) break;
    view = look(context, recipe, view.finishedJobs);
  } while (outcome.failures.size === 0 && [...view.live.done].some((condition) => !reached.has(condition)));
  const { composition, finishedJobs, volumes } = view;
  const upkeep = await keepUp(context, view, { composition: stated.composition, retaining: told.retaining });
  const judged = withKept(view.progress, upkeep.kept);
  const progress = hold === undefined ? judged : [resourcesGone(hold), ...judged];
  const phase = isDeleting ? 'Deleting' : recipe.phase(progress, context.object);
  spans.push(upkeep.requeueAfter, ...view.progress.map(({ requeueAfter }) => requeueAfter));
  const redact = redactor(context);
  await context.turn();
  const failures = new Map([...told.failures, ...upkeep.failures, ...outcome.failures]);
  const lasting = context.failingSteps.lasting(nameOf(context), failures.keys(), context.clock.monotonic());
  const status = statusOf(context, { composition, progress, failures, lasting, phase, finishedJobs, volumes, redact });
  const deferred = await report(context, status);
  spans.push(deferred);
  // Of a run that the status does not hold yet, the next report tells.
  if (deferred === undefined) announceSchedules(context, status);
  if (deferred === undefined && composition.emptying !== undefined) announceMaintenance(context, status);
  if (deferred === undefined) announceForgotten(context, composition);
  for (const { condition, reason, message } of failed)
    announceRetry(context, status, { type: condition, reason, message: redact(message) });
  const all = [...failures.values()];
  const failure = all.find(({ name }) => !settled.has(name));
  if (failure !== undefined) throw failure;
  if (all.length === 0 && progress.every(({ status }) => status === 'True')) recipe.rest(context.key);
  const again = all.map((error) => (error instanceof ContendedObjectError ? error.retryAfter : settledAgain));
  const requeueAfter = soonest([...spans, ...again, untilDeadline(progress, context)]);
  return requeueAfter === undefined ? undefined : { requeueAfter };
}

/**
 * What no step states any more, or only now and then. What users may keep something in is asked for it before it is planned to be
 * deleted. Nothing is deleted for what the API server refuses, or has not answered.
 */
async function keepUp(
  context: ComposeContext,
  { live, isHeld }: View,
  { composition, retaining }: { readonly composition: Composition; readonly retaining: readonly StoredObject[] },
): Promise<Outcome & { readonly kept: readonly Progress[] }> {
  const holds = new Map<string, Hold | undefined>();
  // What was not asked while others were, because something used it then, is asked next time.
  const hold = ({ kind, metadata: { name, uid } }: StoredObject): Hold | undefined =>
    holds.has(uid)
      ? holds.get(uid)
      : { reason: 'CountingResources', message: `${kind} ${name} is to be asked what it has`, requeueAfter: 5000 };
  const settledLive = { ...live, retaining, hold };
  try {
    if (!isHeld)
      for (const object of unwantedHeld(settledLive, composition))
        holds.set(object.metadata.uid, await holdOf(context, object));
    const { kept, ...upkeep } = planUpkeep({ ...composition, complete: composition.complete && !isHeld }, settledLive);
    return { ...(await execute(context, upkeep, { live, steps: [] })), kept };
  } catch (error) {
    if (!(error instanceof Error) || error instanceof SupersededError || context.signal.aborted) throw error;
    return { failures: new Map([['', error]]), requeueAfter: undefined, kept: [] };
  }
}

/** The condition of a deletion that waits: nothing of users is left that would be lost with it. */
function resourcesGone({ reason, message }: Hold): Progress {
  return { condition: 'ResourcesGone', status: 'False', reason, message };
}

/** What is disabled and still there is not done. */
function withKept(progress: readonly Progress[], kept: readonly Progress[]): readonly Progress[] {
  return progress.map((one) => kept.find(({ condition }) => condition === one.condition) ?? one);
}

/** What is wanted, and what has become of it so far. */
interface View {
  readonly composition: Composition;
  readonly live: Live;
  readonly progress: readonly Progress[];
  readonly finishedJobs: Readonly<Record<string, string>>;
  readonly volumes: Readonly<Record<string, string>>;
  /** The API server refuses a part of it, or has not answered: nothing is deleted for what it leaves out. */
  readonly isHeld: boolean;
}

/** Composes from what the cache shows at this moment, and assesses. `jobs`: the finished ones that are known so far. */
function look(context: ComposeContext, recipe: Recipe, jobs: Readonly<Record<string, string>>): View {
  const { adopted, volumes, data, isHeld } = composeFor(context, recipe, jobs);
  const finishedJobs = finishedOf(context, adopted);
  const observed = observedBy(context, finishedJobs);
  const { steps, complete, status } = adopted.composition;
  const progress = assessAll(steps, observed);
  const done = new Set(progress.filter(({ status }) => status === 'True').map(({ condition }) => condition));
  const onNodes = steps.filter((step) => statedObjects([step]).some(({ kind }) => follows.has(kind)));
  const isDone = onNodes.every(({ condition }) => done.has(condition));
  const { emptying, forgetting } = adopted.composition;
  const nodes: RecordedNodes = complete ? nodesStatus(context, isDone, { emptying, forgetting, finishedJobs }) : {};
  const followed = recipe.claimsNodes === true || nodes.nodes !== undefined ? (observed.nodes ?? []) : [];
  context.nodePace.saw(nameOf(context), followed.length);
  const found = foundBy(context, adopted.composition, finishedJobs);
  const told = toldBy(context, adopted.composition);
  const kept = withoutForgotten(status, adopted.composition.staying, done);
  const live = { ...observed, done };
  const members = membersBy(context, adopted.composition, live);
  const composition = { ...adopted.composition, status: { ...nodes, ...kept, ...found, ...told, ...members, ...data } };
  return { composition, live, progress, finishedJobs, volumes, isHeld };
}

function composeFor(context: ComposeContext, recipe: Recipe, jobs: Readonly<Record<string, string>>) {
  try {
    const composed = recipe.compose(context);
    const { cache, object: resource } = context;
    const { steps, volumes, data } = checkVolumes(
      { cache, resource },
      { ...composed, steps: keptForGuests(context, composed) },
    );
    const { steps: taken, isHeld } = context.dryRuns.judged(context, steps);
    const { formerDigestKey } = context;
    const adopted = adoptDigests(
      context,
      { ...composed, steps: taken, status: { ...composed.status, ...recipe.observed?.(context) } },
      { jobs, former: (image) => formerDigestKey && recipe.composeFormer?.(context, formerDigestKey, image) },
    );
    return { adopted, volumes, data: data === undefined ? {} : { data }, isHeld };
  } catch (error) {
    throw new CompositionError(error);
  }
}

/** What follows from a node that has joined: its agents, and Jobs such as the discovery of hosts. */
const follows: ReadonlySet<string> = new Set(['DaemonSet', 'Job']);

/** Failures that no back-off mends: somebody has to take an object away, to bring a Secret back, or to change a StorageClass. */
const settled = new Set([
  'ContendedObjectError',
  'ForeignObjectError',
  'KeyMaterialMissingError',
  'VolumeExpansionError',
]);

/** Objects of others are not followed, so nothing tells when one is gone or comes: it is looked for every minute. */
const settledAgain = 60_000;

const controlledKinds: Readonly<Record<'ControllerRevision' | 'Job' | 'Pod', Kind>> = { ControllerRevision, Job, Pod };

/** What the cache shows, for whoever assesses and plans. */
function observedBy(context: ComposeContext, finishedJobs: Readonly<Record<string, string>>): Omit<Live, 'done'> {
  const { cache, object: resource } = context;
  const now = context.clock.now();
  const eventWords = ({ metadata: { uid } }: StoredObject) => context.eventWords.get(uid);
  const { id } = context.digestKey;
  const view = { cache, resource, eventWords, ...(id === undefined ? {} : { digestKeyId: id }) };
  return {
    ...view,
    observe: (kind, ref) => cache.get(kind, ref),
    ours: (live) => ownershipOf(resource, false).ours?.(live) === true,
    pods: (namespace, labels) =>
      podsWith(cache, namespace, labels).sort((a, b) =>
        (a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1,
      ),
    secrets: (namespace) => cache.list(Secret, { namespace }),
    ...(cache.has(Node) ? { nodes: cache.byIndex(Node, nodesByCloud, cloudOf(resource)) } : {}),
    unclean: (claims) => claimPlans(view, claims).flatMap(({ unclean }) => unclean),
    controlled: (kind, owner) => cache.controlledBy(controlledKinds[kind], owner),
    finishedJobs,
    isAutoscaled: (workload) => isAutoscaled(context, workload),
    moment: { now, resource },
    now,
    met: metOf(resource),
    isResolved: (secret) => isResolved(context, secret),
    hold: () => undefined,
    referring: (kind, field, object) => referringTo(kind, field, [object], cache),
    retaining: [],
  };
}

/** Conditions that the status has as met. */
function metOf({ status }: StoredObject): ReadonlySet<string> {
  const { conditions = [] } = (status ?? {}) as { conditions?: readonly Condition[] };
  return new Set(conditions.filter(({ status }) => status === 'True').map(({ type }) => type));
}

/** Digests of the Jobs that have run to their end: what the status knows, and what the cache shows now. */
function finishedOf(
  context: ComposeContext,
  { composition, finishedJobs: before, adoptedJobs }: Adopted,
): Record<string, string> {
  if (!composition.complete) return { ...before };
  const finished: Record<string, string> = {};
  // A Job that an upgrade leaves out for a while still says that there is data which keys are for.
  for (const { objects } of composition.steps) {
    for (const desired of objects) {
      const guard = desired.verb === 'generate' && desired.guards?.kind === 'Job' ? desired.guards.name : '';
      const digest = before[guard];
      if (digest !== undefined) finished[guard] = digest;
    }
  }
  for (const { kind, metadata } of statedObjects(composition.steps)) {
    if (kind !== Job.kind) continue;
    const { name = '', namespace = '' } = metadata;
    const live = context.cache.get(Job, { namespace, name });
    const inputs = live?.metadata.annotations?.[annotations.inputs];
    // That of a resource of the same name before it says nothing: its records may have been taken back since.
    const isOurs = live !== undefined && ownershipOf(context.object, false).ours?.(live) === true;
    const complete = isOurs && conditionOf(live, 'Complete')?.status === 'True';
    const digest = complete ? (adoptedJobs.get(name) ?? inputs) : before[name];
    if (digest !== undefined) finished[name] = digest;
  }
  return finished;
}

/** Milliseconds until the first of the waits has lasted too long. */
function untilDeadline(progress: readonly Progress[], { clock }: ComposeContext): number | undefined {
  const deadlines = progress.flatMap(({ deadline }) => deadline ?? []);
  return deadlines.length === 0 ? undefined : Math.max(0, Math.min(...deadlines) - clock.now());
}
