import { isDeepStrictEqual } from 'node:util';
import {
  type After,
  after,
  controllerOf,
  Event,
  type LabelSelector,
  Node,
  Pod,
  type StoredObject,
} from '@openstack-operator/kube';
import {
  annotations,
  type Composition,
  conditionOf,
  type Desired,
  type Judgement,
  judgeAll,
  kindOf,
  type Progress,
  type Step,
} from '@openstack-operator/openstack';
import { claimNodes, nodesFinalizer, releaseNodes } from './claim-nodes.ts';
import { replaceNodeAgents } from './node-agents.ts';
import type { Pass } from './pass.ts';
import { prune } from './prune.ts';
import { redactor } from './redact.ts';
import { announceRetry, type Findings, isPaused, report, statusOf } from './report.ts';
import { checkVolumes } from './volumes.ts';
import { type Again, write } from './write.ts';

/** What differs between kinds: how they are composed, and what their phase is. */
export interface Recipe {
  /** From what the pass may know to the steps. Pure but for reading the pass's cache. */
  readonly compose: (pass: Pass) => Composition;
  readonly phase: (progress: readonly Progress[]) => string;
  /** Further fields of the status, from what the cache shows. */
  readonly observed?: (pass: Pass) => Readonly<Record<string, unknown>>;
  /** Whether something of it lives outside its namespace: then a finalizer keeps it until that is cleaned up. */
  readonly claimsNodes?: boolean;
}

/**
 * One pass: gather, compose, judge, write what is open and not held back; again while that has completed a step; prune,
 * report. It starts from nothing but the cache: what it judged is what it composed from, so that no step is written on
 * the word of a stale one. What is reported is what was judged after the writes.
 */
export async function reconcile(pass: Pass, recipe: Recipe): Promise<After | undefined> {
  const { object: resource } = pass;
  if (resource.metadata.deletionTimestamp !== undefined) {
    await finalize(pass);
    return undefined;
  }
  if (isGoingWithOwner(pass)) return undefined;
  const paused = whoPaused(pass);
  if (paused !== undefined) {
    await reportPaused(pass, paused);
    return undefined;
  }
  if (recipe.claimsNodes === true && !hasFinalizer(resource)) {
    await setFinalizers(pass, [...(resource.metadata.finalizers ?? []), nodesFinalizer]);
  }
  const { jobs = {} } = (resource['status'] ?? {}) as { jobs?: Record<string, string> };
  let view = look(pass, recipe, jobs);
  let stated: Composition;
  let failures: ReadonlyMap<string, Error>;
  let again: Again;
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
    if (pass.writes() === writes || !isStillMeant(pass)) break;
    view = look(pass, recipe, view.finishedJobs);
  } while (failures.size === 0 && [...view.done].some((condition) => !reached.has(condition)));
  const { composition, progress, finishedJobs, volumes } = view;
  await replaceNodeAgents(pass, stated);
  const left = await prune(pass, stated).then(() => undefined, thrown);
  const phase = recipe.phase(progress);
  const redact = redactor(pass);
  const status = statusOf(pass, { composition, progress, failures, phase, finishedJobs, volumes, redact });
  await report(pass, status);
  for (const { condition, reason, message } of failed)
    announceRetry(pass, status, { type: condition, reason, message: redact(message) });
  const all = left === undefined ? [...failures.values()] : [...failures.values(), left];
  const failure = all.find(({ name }) => !settled.has(name));
  if (failure !== undefined) throw failure;
  const wish = all.length > 0 ? sooner(again, settledAgain) : again;
  return wish === undefined ? undefined : after(wish);
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
}

/** Composes from what the cache shows at this moment, and judges. `jobs`: the finished ones that are known so far. */
function look(pass: Pass, recipe: Recipe, jobs: Readonly<Record<string, string>>): View {
  const composed = recipe.compose(pass);
  const { steps, volumes } = checkVolumes(pass, composed);
  const composition = { ...composed, steps, status: { ...composed.status, ...recipe.observed?.(pass) } };
  const finishedJobs = finishedOf(pass, composition, jobs);
  const judgement = judgementOf(pass, finishedJobs);
  const progress = judgeAll(composition.steps, judgement);
  const done = new Set(progress.filter(({ status }) => status === 'True').map(({ condition }) => condition));
  return { composition, judgement, progress, done, finishedJobs, volumes };
}

/** Whether the resource says what it said when the pass began. If not, what is next to be written is for the next pass. */
function isStillMeant(pass: Pass): boolean {
  const { uid, generation, annotations: notes } = pass.object.metadata;
  const now = pass.cache.get(kindOf(pass.object), pass.key);
  return (
    now?.metadata.uid === uid &&
    now?.metadata.generation === generation &&
    now?.metadata.deletionTimestamp === undefined &&
    isDeepStrictEqual(now?.metadata.annotations, notes) &&
    !isGoingWithOwner(pass) &&
    whoPaused(pass) === undefined
  );
}

/** Failures that no back-off mends: somebody has to take an object away, or to bring a Secret back. */
const settled = new Set(['ForeignObjectError', 'KeyMaterialMissingError']);

/** Objects of others are not followed, so nothing tells when one is gone or comes: it is looked for every minute. */
const settledAgain = 60_000;

/** What was thrown, so that it neither hides the others nor the report. */
function thrown(error: unknown): Error {
  if (error instanceof Error) return error;
  throw error;
}

/** Writes the objects of every step that nothing holds back. A failure of one step stops neither the others nor the report. */
async function writeAll(
  pass: Pass,
  { composition, judgement, done }: View,
): Promise<{ failures: Map<string, Error>; again: Again }> {
  const failures = new Map<string, Error>();
  let again: Again;
  for (const step of composition.steps) {
    if (step.problem !== undefined || step.skipped !== undefined || !step.needs.every((need) => done.has(need)))
      continue;
    const waits = !done.has(step.condition) && awaits(step, judgement);
    try {
      for (const desired of step.objects) {
        if (waits && !runs(desired, judgement)) continue;
        if (desired.verb === 'claim') await claimNodes(pass, desired);
        else again = sooner(again, await write(pass, desired, judgement.finishedJobs));
      }
    } catch (error) {
      if (pass.signal.aborted) throw error;
      failures.set(step.condition, thrown(error));
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
    pods: (namespace, labels) => {
      const labelSelector: LabelSelector = { matchLabels: { ...labels } };
      return pass.cache
        .list(Pod, { namespace, labelSelector })
        .sort((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1));
    },
    unmounted: ({ metadata: { uid } }) =>
      pass.cache.list(Event).findLast(({ involvedObject }) => involvedObject.uid === uid)?.message,
    ...(pass.cache.has(Node) ? { nodes: pass.cache.list(Node) } : {}),
    finishedJobs,
  };
}

/** Digests of the Jobs that have run to their end: what the status knows, and what the cache shows now. */
function finishedOf(
  pass: Pass,
  composition: Composition,
  before: Readonly<Record<string, string>>,
): Record<string, string> {
  if (!composition.complete) return { ...before };
  const finished: Record<string, string> = {};
  for (const { objects } of composition.steps) {
    for (const desired of objects) {
      if (!('object' in desired) || desired.object.kind !== 'Job') continue;
      const { name = '', namespace = '' } = desired.object.metadata;
      const live = pass.cache.get(kindOf(desired.object), { namespace, name });
      const inputs = live?.metadata.annotations?.[annotations.inputs];
      const complete = live !== undefined && conditionOf(live, 'Complete')?.status === 'True';
      const digest = complete ? inputs : before[name];
      if (digest !== undefined) finished[name] = digest;
    }
  }
  return finished;
}

async function finalize(pass: Pass): Promise<void> {
  const { object: resource } = pass;
  if (!hasFinalizer(resource)) return;
  await releaseNodes(pass);
  await setFinalizers(
    pass,
    (resource.metadata.finalizers ?? []).filter((name) => name !== nodesFinalizer),
  );
}

async function setFinalizers(pass: Pass, finalizers: readonly string[]): Promise<void> {
  const { name, namespace = '', uid, resourceVersion } = pass.object.metadata;
  const patch = { metadata: { uid, resourceVersion, finalizers } };
  await pass.client.patch(kindOf(pass.object), { name, namespace }, 'merge', patch, { signal: pass.signal });
}

function hasFinalizer(resource: StoredObject): boolean {
  return resource.metadata.finalizers?.includes(nodesFinalizer) === true;
}

/**
 * Whether the control plane above is being deleted or gone: the garbage collector comes for this resource next. What it
 * would write now is for nobody, such as a Job that finds out that the nodes have been let go.
 */
function isGoingWithOwner(pass: Pass): boolean {
  const owner = controllerOf(pass.object);
  if (owner === undefined || !pass.cache.has(kindOf(owner))) return false;
  const above = ownerOf(pass);
  return above === undefined || above.metadata.deletionTimestamp !== undefined;
}

/** The control plane that made this resource, while it is there. */
function ownerOf({ object, cache }: Pass): StoredObject | undefined {
  const owner = controllerOf(object);
  const above = owner && cache.has(kindOf(owner)) ? cache.get(kindOf(owner), keyIn(object, owner.name)) : undefined;
  return above?.metadata.uid === owner?.uid ? above : undefined;
}

/** Which resource's annotation puts this one to rest: its own, or that of the control plane above it. */
function whoPaused(pass: Pass): StoredObject | undefined {
  if (isPaused(pass.object)) return pass.object;
  const above = ownerOf(pass);
  return above !== undefined && isPaused(above) ? above : undefined;
}

function keyIn({ metadata: { namespace } }: StoredObject, name: string) {
  return { name, ...(namespace === undefined ? {} : { namespace }) };
}

async function reportPaused(pass: Pass, by: StoredObject): Promise<void> {
  const { jobs = {} } = (pass.object['status'] ?? {}) as { jobs?: Record<string, string> };
  const whose = by === pass.object ? '' : ` of ${by.kind} ${by.metadata.name}`;
  const message = `annotation ${annotations.paused}${whose} is true: nothing is written until it is removed`;
  const findings: Findings = {
    composition: { complete: false, status: {} },
    progress: [{ condition: 'Reconciled', status: 'False', reason: 'Paused', message }],
    failures: new Map(),
    phase: 'Paused',
    volumes: {},
    finishedJobs: jobs,
    redact: (text) => text,
  };
  await report(pass, statusOf(pass, findings));
}

function sooner(a: Again, b: Again): Again {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.min(a, b);
}
