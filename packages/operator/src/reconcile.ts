import {
  type Condition,
  Job,
  type LabelSelector,
  Node,
  Pod,
  type ReconcileResult,
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
  serversFinalizer,
  soonest,
  statedObjects,
  unwantedCarriers,
} from '@openstack-operator/openstack';
import { isAutoscaled } from './autoscalers.ts';
import { tellChildren } from './children.ts';
import { referringTo } from './concerned.ts';
import { ContendedObjectError } from './contention.ts';
import { execute, type Outcome } from './execute.ts';
import { addFinalizers, finalize, type Outside, ourFinalizers } from './finalizers.ts';
import { nodesStatus } from './joined-nodes.ts';
import { chargeOf, claimResource } from './managing-operator.ts';
import type { Begun, Pass } from './pass.ts';
import { announceRetry, report, statusOf } from './report.ts';
import { CompositionError, reportInstead, reportPaused, reportRetaining, reportUncomposed } from './report-instead.ts';
import { announceSchedules, suspendSchedules } from './schedules.ts';
import { type Adopted, adoptDigests } from './secrets/adopt-digests.ts';
import { type DigestKey, ensureDigestKey } from './secrets/digest-key.ts';
import { discreet, redactor } from './secrets/redact.ts';
import { isResolved } from './secrets/resolve.ts';
import { letGo } from './secrets/retention.ts';
import { holdOf } from './server-guard.ts';
import { careful, isGoingWithOwner, isStillMeant, rootOf, SupersededError, whoPaused } from './still-meant.ts';
import { keptForGuests } from './switched-off.ts';

/** What differs between kinds: how they are composed, and what their phase is. */
export interface Recipe extends Outside {
  /** From what the pass may know to the steps. Pure but for reading the pass's cache. */
  readonly compose: (pass: Pass) => Composition;
  /** Nothing is awaited any more: what it was composed to need not be kept. */
  readonly rest: (key: string) => void;
  /** The same with the digests of the key that all clouds had, and with the image of the operator of that time. */
  readonly composeFormer?: (pass: Pass, key: DigestKey, operatorImage: string | undefined) => Composition;
  readonly phase: (progress: readonly Progress[], resource: StoredObject) => string;
  /** Further fields of the status, from what the cache shows. */
  readonly observed?: (pass: Pass) => Readonly<Record<string, unknown>>;
}

/**
 * One reconcile: gather, compose, assess, plan, execute what is open and not held back; again while that has completed a
 * step; report. It starts from nothing but the cache: what it assessed is what it composed from, so that no step is
 * written on the word of a stale one. What is reported is what was assessed after the writes.
 */
export async function reconcile(given: Begun, recipe: Recipe): Promise<ReconcileResult | undefined> {
  const begun = discreet(careful(given));
  try {
    return await reconcileMeant(begun, recipe);
  } catch (error) {
    // The change itself has enqueued the resource.
    if (error instanceof SupersededError) return undefined;
    if (!(error instanceof CompositionError)) throw error;
    await reportUncomposed(begun, error);
    throw error.cause;
  }
}

async function reconcileMeant(begun: Begun, recipe: Recipe): Promise<ReconcileResult | undefined> {
  const { object: resource } = begun;
  const { deletionTimestamp, finalizers = [] } = resource.metadata;
  const isDeleting = deletionTimestamp !== undefined;
  const isGoing = isGoingWithOwner(begun);
  if (!isDeleting && isGoing) return undefined;
  const charge = chargeOf(begun.operator, rootOf(begun));
  if (charge === 'other class') return undefined;
  if (typeof charge === 'object') {
    return rootOf(begun) === resource ? begun.refusals.tell(begun, charge.operator) : undefined;
  }
  // Without a finalizer of ours what is being deleted is no longer for us.
  if (isDeleting && !finalizers.some((name) => ourFinalizers.includes(name))) return undefined;
  const paused = whoPaused(begun);
  if (paused !== undefined) {
    await suspendSchedules(begun);
    await reportPaused(begun, paused, isDeleting);
    return undefined;
  }
  if (charge === 'unclaimed' && !isDeleting) {
    // What a control plane has made waits for the record on it.
    if (rootOf(begun) === resource) await claimResource(begun);
    return undefined;
  }
  let hold: Hold | undefined;
  if (isDeleting) {
    const isHeld = !isGoing && finalizers.includes(serversFinalizer);
    if (isHeld) hold = await holdOf(begun, resource);
    // Without that finalizer its children do nothing more.
    const told = isHeld && hold === undefined ? await tellChildren(begun) : undefined;
    const [waiting] = told?.retaining ?? [];
    if (waiting !== undefined) return await reportRetaining(begun, waiting, told?.failures);
    // Whoever says Retain before the end comes in time.
    await letGo(begun);
    if (hold === undefined) return await finalize(begun, recipe);
  }
  const digestKey = await ensureDigestKey(begun);
  // In a namespace that is being deleted nothing can be made. What is deleted in the foreground has its objects deleted
  // by the garbage collector already, which would delete those that are made anew.
  if (digestKey === undefined || finalizers.includes('foregroundDeletion')) {
    if (hold === undefined) return undefined;
    await reportInstead(begun, 'Deleting', serversGone(hold));
    return { requeueAfter: hold.requeueAfter };
  }
  const pass: Pass = { ...begun, digestKey };
  if (!isDeleting) await addFinalizers(pass, recipe);
  const { jobs = {} } = (resource['status'] ?? {}) as { jobs?: Record<string, string> };
  await letGo(pass);
  await pass.turn();
  let view = look(pass, recipe, jobs);
  if (await pass.dryRuns.ask(pass, view.composition)) view = look(pass, recipe, jobs);
  const told = await tellChildren(pass);
  let stated: View;
  let outcome: Outcome;
  const spans = [hold?.requeueAfter];
  const reached = new Set<string>();
  const failed: Progress[] = [];
  do {
    stated = view;
    for (const condition of view.live.done) reached.add(condition);
    failed.push(...view.progress.filter(({ reason }) => reason === 'JobFailed'));
    const writes = pass.writes();
    const { composition, live } = view;
    outcome = await execute(pass, planSteps(composition, live), { live, steps: composition.steps });
    spans.push(outcome.requeueAfter);
    if (pass.writes() === writes) break;
    await pass.turn();
    if (!isStillMeant(pass)) break;
    view = look(pass, recipe, view.finishedJobs);
  } while (outcome.failures.size === 0 && [...view.live.done].some((condition) => !reached.has(condition)));
  const { composition, finishedJobs, volumes } = view;
  const upkeep = await keepUp(pass, view, { composition: stated.composition, retaining: told.retaining });
  const judged = withKept(view.progress, upkeep.kept);
  const progress = hold === undefined ? judged : [serversGone(hold), ...judged];
  const phase = isDeleting ? 'Deleting' : recipe.phase(progress, pass.object);
  spans.push(upkeep.requeueAfter, ...view.progress.map(({ requeueAfter }) => requeueAfter));
  const redact = redactor(pass);
  await pass.turn();
  const failures = new Map([...told.failures, ...outcome.failures]);
  const status = statusOf(pass, { composition, progress, failures, phase, finishedJobs, volumes, redact });
  const deferred = await report(pass, status);
  spans.push(deferred);
  // Of a run that the status does not hold yet, the next report tells.
  if (deferred === undefined) announceSchedules(pass, status);
  for (const { condition, reason, message } of failed)
    announceRetry(pass, status, { type: condition, reason, message: redact(message) });
  const all = [...failures.values(), ...upkeep.failures.values()];
  const failure = all.find(({ name }) => !settled.has(name));
  if (failure !== undefined) throw failure;
  if (all.length === 0 && progress.every(({ status }) => status === 'True')) recipe.rest(pass.key);
  const again = all.map((error) => (error instanceof ContendedObjectError ? error.retryAfter : settledAgain));
  const requeueAfter = soonest([...spans, ...again, untilDeadline(progress, pass)]);
  return requeueAfter === undefined ? undefined : { requeueAfter };
}

/**
 * What no step states any more, or only now and then. What may run guests is asked for them before it is planned to be
 * deleted. Nothing is deleted for what the API server refuses, or has not answered.
 */
async function keepUp(
  pass: Pass,
  { live, isHeld }: View,
  { composition, retaining }: { readonly composition: Composition; readonly retaining: readonly StoredObject[] },
): Promise<Outcome & { readonly kept: readonly Progress[] }> {
  const holds = new Map<string, Hold | undefined>();
  const settledLive = { ...live, retaining, hold: ({ metadata: { uid } }: StoredObject) => holds.get(uid) };
  try {
    if (!isHeld)
      for (const object of unwantedCarriers(settledLive, composition))
        holds.set(object.metadata.uid, await holdOf(pass, object));
    const { kept, ...upkeep } = planUpkeep({ ...composition, complete: composition.complete && !isHeld }, settledLive);
    return { ...(await execute(pass, upkeep, { live, steps: [] })), kept };
  } catch (error) {
    if (!(error instanceof Error) || error instanceof SupersededError || pass.signal.aborted) throw error;
    return { failures: new Map([['', error]]), requeueAfter: undefined, kept: [] };
  }
}

/** The condition of a deletion that waits: no server is left that would lose its network or its management. */
function serversGone({ reason, message }: Hold): Progress {
  return { condition: 'ServersGone', status: 'False', reason, message };
}

/** What is switched off and still there is not done. */
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
function look(pass: Pass, recipe: Recipe, jobs: Readonly<Record<string, string>>): View {
  const { adopted, volumes, isHeld } = composeFor(pass, recipe, jobs);
  const finishedJobs = finishedOf(pass, adopted);
  const observed = observedBy(pass, finishedJobs);
  const { steps, complete, status } = adopted.composition;
  const progress = assessAll(steps, observed);
  const done = new Set(progress.filter(({ status }) => status === 'True').map(({ condition }) => condition));
  const onNodes = steps.filter((step) => statedObjects([step]).some(({ kind }) => follows.has(kind)));
  const isDone = onNodes.every(({ condition }) => done.has(condition));
  const nodes = complete ? nodesStatus(pass, isDone) : {};
  const composition = { ...adopted.composition, status: { ...nodes, ...status } };
  return { composition, live: { ...observed, done }, progress, finishedJobs, volumes, isHeld };
}

function composeFor(pass: Pass, recipe: Recipe, jobs: Readonly<Record<string, string>>) {
  try {
    const composed = recipe.compose(pass);
    const { cache, object: resource } = pass;
    const { steps, volumes } = checkVolumes({ cache, resource }, { ...composed, steps: keptForGuests(pass, composed) });
    const { steps: taken, isHeld } = pass.dryRuns.judged(pass, steps);
    const { formerDigestKey } = pass;
    const adopted = adoptDigests(
      pass,
      { ...composed, steps: taken, status: { ...composed.status, ...recipe.observed?.(pass) } },
      { jobs, former: (image) => formerDigestKey && recipe.composeFormer?.(pass, formerDigestKey, image) },
    );
    return { adopted, volumes, isHeld };
  } catch (error) {
    throw new CompositionError(error);
  }
}

/** What follows from a node that has joined: its agents, and Jobs such as the discovery of hosts. */
const follows: ReadonlySet<string> = new Set(['DaemonSet', 'Job']);

/** Failures that no back-off mends: somebody has to take an object away, or to bring a Secret back. */
const settled = new Set(['ContendedObjectError', 'ForeignObjectError', 'KeyMaterialMissingError']);

/** Objects of others are not followed, so nothing tells when one is gone or comes: it is looked for every minute. */
const settledAgain = 60_000;

/** What the cache shows, for whoever assesses and plans. */
function observedBy(pass: Pass, finishedJobs: Readonly<Record<string, string>>): Omit<Live, 'done'> {
  const { cache, object: resource } = pass;
  const now = pass.clock.now();
  const eventWords = ({ metadata: { uid } }: StoredObject) => pass.eventWords.get(uid);
  const { id } = pass.digestKey;
  const view = { cache, resource, eventWords, ...(id === undefined ? {} : { digestKeyId: id }) };
  return {
    ...view,
    observe: (kind, ref) => cache.get(kind, ref),
    ours: (live) => ownershipOf(resource, false).ours?.(live) === true,
    pods: (namespace, labels) => {
      const labelSelector: LabelSelector = { matchLabels: { ...labels } };
      return cache
        .list(Pod, { namespace, labelSelector })
        .sort((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1));
    },
    ...(cache.has(Node) ? { nodes: cache.byIndex(Node, nodesByCloud, cloudOf(resource)) } : {}),
    unclean: (claims) => claimPlans(view, claims).flatMap(({ unclean }) => unclean),
    controlled: (kind, owner) => (kind === 'Job' ? cache.controlledBy(Job, owner) : cache.controlledBy(Pod, owner)),
    finishedJobs,
    isAutoscaled: (workload) => isAutoscaled(pass, workload),
    moment: { now, resource },
    now,
    met: metOf(resource),
    isResolved: (secret) => isResolved(pass, secret),
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
function finishedOf(pass: Pass, { composition, finishedJobs: before, adoptedJobs }: Adopted): Record<string, string> {
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
    const live = pass.cache.get(Job, { namespace, name });
    const inputs = live?.metadata.annotations?.[annotations.inputs];
    // That of a resource of the same name before it says nothing: its records may have been taken back since.
    const isOurs = live !== undefined && ownershipOf(pass.object, false).ours?.(live) === true;
    const complete = isOurs && conditionOf(live, 'Complete')?.status === 'True';
    const digest = complete ? (adoptedJobs.get(name) ?? inputs) : before[name];
    if (digest !== undefined) finished[name] = digest;
  }
  return finished;
}

/** Milliseconds until the first of the waits has lasted too long. */
function untilDeadline(progress: readonly Progress[], { clock }: Pass): number | undefined {
  const deadlines = progress.flatMap(({ deadline }) => deadline ?? []);
  return deadlines.length === 0 ? undefined : Math.max(0, Math.min(...deadlines) - clock.now());
}
