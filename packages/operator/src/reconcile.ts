import {
  type After,
  after,
  type Condition,
  Job,
  type LabelSelector,
  Node,
  Pod,
  type StoredObject,
} from '@openstack-operator/kube';
import {
  annotations,
  type Composition,
  cloudOf,
  conditionOf,
  type Desired,
  type Judgement,
  judgeAll,
  kindOf,
  type Progress,
  type Step,
} from '@openstack-operator/openstack';
import { type Adopted, adoptDigests } from './adopt-digests.ts';
import { isAutoscaled } from './autoscalers.ts';
import { claimNodes } from './claim-nodes.ts';
import { nodesByCloud } from './cluster-nodes.ts';
import { ContendedObjectError } from './contention.ts';
import { type DigestKey, ensureDigestKey } from './digest-key.ts';
import { addFinalizers, finalize, type Outside, ourFinalizers } from './finalizers.ts';
import { serversFinalizer } from './guest-carriers.ts';
import { nodesStatus } from './joined-nodes.ts';
import { chargeOf, claimResource } from './managing-operator.ts';
import { replaceNodeAgents } from './node-agents.ts';
import { ownershipOf } from './ownership.ts';
import type { Begun, Pass } from './pass.ts';
import { type Kept, prune } from './prune.ts';
import { discreet, redactor } from './redact.ts';
import { endCleaning, planOf } from './released-nodes.ts';
import { announceRetry, report, statusOf } from './report.ts';
import { CompositionError, reportInstead, reportPaused, reportRetaining, reportUncomposed } from './report-instead.ts';
import { letGo, retainChildren } from './retention.ts';
import { announceSchedules, suspendSchedules } from './schedules.ts';
import { type Hold, holdOf } from './server-guard.ts';
import { careful, isGoingWithOwner, isStillMeant, rootOf, SupersededError, whoPaused } from './still-meant.ts';
import { keptForGuests } from './switched-off.ts';
import { checkVolumes, keepVolumes } from './volumes.ts';
import { type Again, write } from './write.ts';

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
 * One pass: gather, compose, judge, write what is open and not held back; again while that has completed a step; prune,
 * report. It starts from nothing but the cache: what it judged is what it composed from, so that no step is written on
 * the word of a stale one. What is reported is what was judged after the writes.
 */
export async function reconcile(given: Begun, recipe: Recipe): Promise<After | undefined> {
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

async function reconcileMeant(begun: Begun, recipe: Recipe): Promise<After | undefined> {
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
    const [waiting] = isHeld && hold === undefined ? await retainChildren(begun) : [];
    if (waiting !== undefined) return await reportRetaining(begun, waiting);
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
    return after(hold.requeueAfter);
  }
  const pass: Pass = { ...begun, digestKey };
  if (!isDeleting) await addFinalizers(pass, recipe);
  const { jobs = {} } = (resource['status'] ?? {}) as { jobs?: Record<string, string> };
  await letGo(pass);
  await pass.turn();
  let view = look(pass, recipe, jobs);
  if (await pass.dryRuns.ask(pass, view.composition)) view = look(pass, recipe, jobs);
  const retaining = await retainChildren(pass);
  let stated: Composition;
  let failures: ReadonlyMap<string, Error>;
  let again: Again = hold?.requeueAfter;
  const reached = new Set<string>();
  const failed: Progress[] = [];
  do {
    stated = view.composition;
    for (const condition of view.done) reached.add(condition);
    failed.push(...view.progress.filter(({ reason }) => reason === 'JobFailed'));
    const writes = pass.writes();
    const written = await writeAll(pass, view);
    failures = written.failures;
    again = sooner(again, written.again);
    if (pass.writes() === writes) break;
    await pass.turn();
    if (!isStillMeant(pass)) break;
    view = look(pass, recipe, view.finishedJobs);
  } while (failures.size === 0 && [...view.done].some((condition) => !reached.has(condition)));
  const { composition, finishedJobs, volumes } = view;
  again = sooner(again, await replaceNodeAgents(pass, stated));
  const kept = await keepVolumes(pass)
    .then(() => endCleaning(pass, stated))
    .then(() => (view.isHeld ? [] : prune(pass, stated, view.done, retaining)))
    .catch(thrown);
  const left = kept instanceof Error ? kept : undefined;
  const judged = kept instanceof Error ? view.progress : withKept(view.progress, kept);
  const progress = hold === undefined ? judged : [serversGone(hold), ...judged];
  const phase = isDeleting ? 'Deleting' : recipe.phase(progress, pass.object);
  if (!(kept instanceof Error)) for (const { requeueAfter } of kept) again = sooner(again, requeueAfter);
  for (const { requeueAfter } of view.progress) again = sooner(again, requeueAfter);
  const redact = redactor(pass);
  await pass.turn();
  const status = statusOf(pass, { composition, progress, failures, phase, finishedJobs, volumes, redact });
  await report(pass, status);
  announceSchedules(pass, status);
  for (const { condition, reason, message } of failed)
    announceRetry(pass, status, { type: condition, reason, message: redact(message) });
  const all = left === undefined ? [...failures.values()] : [...failures.values(), left];
  const failure = all.find(({ name }) => !settled.has(name));
  if (failure !== undefined) throw failure;
  if (all.length === 0 && progress.every(({ status }) => status === 'True')) recipe.rest(pass.key);
  const wish = all.reduce<Again>(
    (soonest, error) => sooner(soonest, error instanceof ContendedObjectError ? error.retryAfter : settledAgain),
    sooner(again, untilDeadline(progress, pass)),
  );
  return wish === undefined ? undefined : after(wish);
}

/** The condition of a deletion that waits: no server is left that would lose its network or its management. */
function serversGone({ reason, message }: Hold): Progress {
  return { condition: 'ServersGone', status: 'False', reason, message };
}

/** What is switched off and still there is not done. */
function withKept(progress: readonly Progress[], kept: readonly Kept[]): readonly Progress[] {
  return progress.map((one) => kept.find(({ condition }) => condition === one.condition) ?? one);
}

/** What is wanted, and what has become of it so far. */
interface View {
  readonly composition: Composition;
  readonly judgement: Judgement;
  readonly progress: readonly Progress[];
  /** Conditions that are met. */
  readonly done: ReadonlySet<string>;
  readonly finishedJobs: Readonly<Record<string, string>>;
  readonly volumes: Readonly<Record<string, string>>;
  /** The API server refuses a part of it, or has not answered: nothing is deleted for what it leaves out. */
  readonly isHeld: boolean;
}

/** Composes from what the cache shows at this moment, and judges. `jobs`: the finished ones that are known so far. */
function look(pass: Pass, recipe: Recipe, jobs: Readonly<Record<string, string>>): View {
  const { adopted, volumes, isHeld } = composeFor(pass, recipe, jobs);
  const finishedJobs = finishedOf(pass, adopted);
  const judgement = judgementOf(pass, finishedJobs);
  const { steps, complete, status } = adopted.composition;
  const progress = judgeAll(steps, judgement);
  const done = new Set(progress.filter(({ status }) => status === 'True').map(({ condition }) => condition));
  const onNodes = steps.filter(({ objects }) => objects.some((one) => 'object' in one && follows.has(one.object.kind)));
  const isDone = onNodes.every(({ condition }) => done.has(condition));
  const nodes = complete ? nodesStatus(pass, isDone) : {};
  const composition = { ...adopted.composition, status: { ...nodes, ...status } };
  return { composition, judgement, progress, done, finishedJobs, volumes, isHeld };
}

function composeFor(pass: Pass, recipe: Recipe, jobs: Readonly<Record<string, string>>) {
  try {
    const composed = recipe.compose(pass);
    const { steps, volumes } = checkVolumes(pass, { ...composed, steps: keptForGuests(pass, composed) });
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

/** What was thrown, so that it neither hides the others nor the report; what ends the pass goes on up. */
function thrown(error: unknown): Error {
  if (error instanceof Error && !(error instanceof SupersededError)) return error;
  throw error;
}

/** Writes the objects of every step that nothing holds back. A failure of one step stops neither the others nor the report. */
async function writeAll(
  pass: Pass,
  { composition, judgement, done }: View,
): Promise<{ failures: Map<string, Error>; again: Again }> {
  const failures = new Map<string, Error>();
  let again: Again;
  // What could not be written is not what later steps rely on, whatever is there under its name.
  const blocked = new Set<string>();
  for (const step of composition.steps) {
    const waitsFor = (need: string) => !done.has(need) || blocked.has(need);
    if (step.problem !== undefined || step.skipped !== undefined || step.needs.some(waitsFor)) continue;
    const waits = !done.has(step.condition) && awaits(step, judgement);
    try {
      for (const desired of step.objects) {
        if (waits && !runs(desired, judgement)) continue;
        if (desired.verb === 'claim') again = sooner(again, await claimNodes(pass, desired));
        else {
          try {
            again = sooner(again, await write(pass, desired, judgement.finishedJobs));
          } catch (error) {
            // Nothing else waits for what two writers contend for.
            if (!(error instanceof ContendedObjectError)) throw error;
            failures.set(step.condition, error);
          }
        }
      }
    } catch (error) {
      if (pass.signal.aborted) throw error;
      failures.set(step.condition, thrown(error));
      blocked.add(step.condition);
    }
  }
  return { failures, again };
}

/** Whether something that the step waits for is not Ready yet. */
function awaits(step: Step, { observe }: Judgement): boolean {
  return step.awaits.some(({ kind, namespace, name }) => {
    const found = observe(kind, { namespace, name });
    return found === undefined || conditionOf(found, 'Ready')?.status !== 'True';
  });
}

/** What runs already is kept as it should be, whatever has become of the things that it waited for; Jobs run only with them. */
function runs(desired: Desired, { observe }: Judgement): boolean {
  if (desired.verb === 'claim' || desired.object.kind === 'Job') return false;
  const { namespace, name = '' } = desired.object.metadata;
  return observe(kindOf(desired.object), { ...(namespace === undefined ? {} : { namespace }), name }) !== undefined;
}

function judgementOf(pass: Pass, finishedJobs: Readonly<Record<string, string>>): Judgement {
  return {
    observe: (kind, ref) => pass.cache.get(kind, ref),
    ours: (live) => ownershipOf(pass.object, false).ours?.(live) === true,
    pods: (namespace, labels) => {
      const labelSelector: LabelSelector = { matchLabels: { ...labels } };
      return pass.cache
        .list(Pod, { namespace, labelSelector })
        .sort((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1));
    },
    eventWords: ({ metadata: { uid } }) => pass.eventWords.get(uid),
    ...(pass.cache.has(Node) ? { nodes: pass.cache.byIndex(Node, nodesByCloud, cloudOf(pass.object)) } : {}),
    unclean: (claim) => planOf(pass, claim).unclean,
    controlled: (kind, owner) =>
      kind === 'Job' ? pass.cache.controlledBy(Job, owner) : pass.cache.controlledBy(Pod, owner),
    finishedJobs,
    isAutoscaled: (workload) => isAutoscaled(pass, workload),
    moment: { now: pass.clock.now(), resource: pass.object },
    now: pass.clock.now(),
    met: metOf(pass.object),
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
  for (const { objects } of composition.steps) {
    for (const desired of objects) {
      if (!('object' in desired) || desired.object.kind !== 'Job') continue;
      const { name = '', namespace = '' } = desired.object.metadata;
      const live = pass.cache.get(kindOf(desired.object), { namespace, name });
      const inputs = live?.metadata.annotations?.[annotations.inputs];
      // That of a resource of the same name before it says nothing: its records may have been taken back since.
      const isOurs = live !== undefined && ownershipOf(pass.object, false).ours?.(live) === true;
      const complete = isOurs && conditionOf(live, 'Complete')?.status === 'True';
      const digest = complete ? (adoptedJobs.get(name) ?? inputs) : before[name];
      if (digest !== undefined) finished[name] = digest;
    }
  }
  return finished;
}

/** Milliseconds until the first of the waits has lasted too long. */
function untilDeadline(progress: readonly Progress[], { clock }: Pass): Again {
  const deadlines = progress.flatMap(({ deadline }) => deadline ?? []);
  return deadlines.length === 0 ? undefined : Math.max(0, Math.min(...deadlines) - clock.now());
}

function sooner(a: Again, b: Again): Again {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.min(a, b);
}
