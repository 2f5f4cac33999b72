import { isApiError, Job, type KubeObject, type StoredObject } from '@openstack-operator/kube';
import {
  type Action,
  annotations,
  kindOf,
  type Live,
  ownershipOf,
  type Plan,
  planGenerated,
  runsPods,
  type Step,
  soonest,
} from '@openstack-operator/openstack';
import { apply } from './apply.ts';
import { ContendedObjectError } from './contention.ts';
import type { ComposeContext } from './context.ts';
import { classOf, expand, VolumeExpansionError } from './expand.ts';
import { patchNode } from './patch-node.ts';
import { copySecret, createSecret, updateSecret } from './secrets/generate.ts';
import { resolveSecret } from './secrets/resolve.ts';
import { assertStillMeant, SupersededError } from './still-meant.ts';

/** What has become of a plan. */
export interface Outcome {
  /** Condition of a step -> what one of its actions ran into; '' for what belongs to no step. */
  readonly failures: ReadonlyMap<string, Error>;
  /** Milliseconds. */
  readonly requeueAfter: number | undefined;
}

/**
 * Does what a plan says, in its order; what follows each other in a step and does not wait for each other is written side
 * by side. What fails ends its step, and what needs that one: what could not be written is not what later steps rely on,
 * whatever is there under its name. The others go on.
 * @throws SupersededError when the resource says something else by now, before what cannot be undone
 */
export async function execute(
  context: ComposeContext,
  plan: Plan,
  { live, steps }: { readonly live: Live; readonly steps: readonly Step[] },
): Promise<Outcome> {
  const failures = new Map<string, Error>();
  const ended = new Set<string>();
  const needs = new Map(steps.map((step) => [step.condition, step.needs]));
  const spans = [plan.requeueAfter];
  for (const wait of plan.waits ?? []) context.event(wait);
  const one = async (action: Action) => {
    const { step = '' } = action;
    if (ended.has(step) || needs.get(step)?.some((need) => ended.has(need)) === true) return;
    // What is refused to one of a thousand volumes of a StorageClass is refused to all.
    if (action.verb === 'expand' && isRefused(failures.get(step), action.live)) return;
    try {
      spans.push(await perform(context, action, live));
      const { event } = action;
      if (event !== undefined) context.event(event);
    } catch (error) {
      if (context.signal.aborted || !(error instanceof Error) || error instanceof SupersededError) throw error;
      const before = failures.get(step);
      if (before === undefined || isMinor(before)) failures.set(step, error);
      // Nothing else waits for what two writers contend for, nor for a larger volume.
      if (!(error instanceof ContendedObjectError || error instanceof VolumeExpansionError)) ended.add(step);
    }
  };
  for (const batch of batchesOf(plan.actions)) await sideBySide(batch, one);
  return { failures, requeueAfter: soonest(spans) };
}

function isRefused(failure: Error | undefined, claim: StoredObject): boolean {
  return failure instanceof VolumeExpansionError && failure.storageClassName === classOf(claim);
}

/** What must not hide another failure of the same step: a conflict passes by itself, the others end nothing. */
function isMinor(error: Error): boolean {
  return error instanceof ContendedObjectError || error instanceof VolumeExpansionError || isApiError(error, 409);
}

/** Writes of one reconcile at once: most of a write's time is the API server's, which has other clients, too. */
const writesAtOnce = 4;

/** Actions that may be taken in any order: what a step states beside its workloads, and then these. */
function batchesOf(actions: readonly Action[]): Action[][] {
  const batches: Action[][] = [];
  let last: string | undefined;
  for (const action of actions) {
    const states = action.verb === 'apply' || action.verb === 'create';
    const key = states ? `${action.step}/${action.verb === 'apply' && runsPods(action.object)}` : undefined;
    if (key !== undefined && key === last) batches.at(-1)?.push(action);
    else batches.push([action]);
    last = key;
  }
  return batches;
}

/** Does them a few at a time. Resolves when nothing is under way any more. @throws what the first of them threw */
async function sideBySide(actions: readonly Action[], one: (action: Action) => Promise<void>): Promise<void> {
  const queue = actions.values();
  const errors: unknown[] = [];
  const lane = async () => {
    for (const action of queue) {
      if (errors.length > 0) return;
      await one(action).catch((error: unknown) => errors.push(error));
    }
  };
  await Promise.all(Array.from({ length: Math.min(writesAtOnce, actions.length) }, lane));
  if (errors.length > 0) throw errors[0];
}

/** @returns milliseconds after which to plan again, where only the answer tells of it */
async function perform(context: ComposeContext, action: Action, live: Live): Promise<number | undefined> {
  switch (action.verb) {
    case 'apply':
      await apply(context, action);
      return undefined;
    case 'create': {
      const found = await createSecret(context, action);
      if (found === undefined) return undefined;
      const { actions, requeueAfter } = planGenerated(live, action.desired, action.step ?? '', found);
      for (const one of actions) await perform(context, one, live);
      return requeueAfter;
    }
    case 'update':
      await updateSecret(context, action);
      return undefined;
    case 'copy':
      await copySecret(context, action);
      return undefined;
    case 'resolve':
      await resolveSecret(context, action.object);
      return undefined;
    case 'run':
      return await run(context, action);
    case 'replace':
      await context.remove(action.live, { propagationPolicy: 'Orphan' });
      return undefined;
    case 'evict':
    case 'delete':
      await context.remove(action.live);
      return undefined;
    case 'claim':
      assertStillMeant(context, `the claim of Node ${action.node.metadata.name}`);
      await patchNode(context, action.node, action);
      return undefined;
    case 'patch': {
      const { namespace = '', name } = action.live.metadata;
      assertStillMeant(context, action.act);
      await context.client.patch(kindOf(action.live), { namespace, name }, 'merge', action.patch, {
        signal: context.signal,
      });
      return undefined;
    }
    case 'expand':
      assertStillMeant(context, `the expansion of PersistentVolumeClaim ${action.live.metadata.name}`);
      await expand(context, action);
      return undefined;
    case 'refuse':
      throw action.error;
  }
}

/** Milliseconds after which a Job that the cache did not follow is looked at. */
const soon = 1000;

/** Deletes the run before first; where its end takes a moment (its pods), that end enqueues this resource again. */
async function run(
  context: ComposeContext,
  { object, replaces }: Extract<Action, { verb: 'run' }>,
): Promise<number | undefined> {
  if (replaces !== undefined) await context.remove(replaces);
  if (replaces !== undefined && isStillThere(context, replaces)) return undefined;
  assertStillMeant(context, `the run of Job ${object.metadata.name}`);
  const job = await context.create(object, ownershipOf(context.object, false));
  return inputsOf(job) === inputsOf(object) ? undefined : soon;
}

function isStillThere({ cache }: ComposeContext, { metadata: { name, namespace = '' } }: StoredObject): boolean {
  return cache.get(Job, { name, namespace }) !== undefined;
}

function inputsOf({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.[annotations.inputs];
}
