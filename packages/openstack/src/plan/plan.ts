import type { Composition } from '../engine/compose/compose.ts';
import { conditionOf } from '../engine/status/conditions.ts';
import type { Desired, NodeClaim, Step } from '../engine/vocabulary/step.ts';
import { kindOf } from '../registry/kinds.ts';
import { joined, nothing, type Plan, runsPods } from './action.ts';
import { planApplied } from './applied.ts';
import { planClaims, planCleaningEnd } from './claims.ts';
import { planGenerated } from './generated.ts';
import { inTurn } from './in-turn.ts';
import { planJob } from './jobs.ts';
import type { Live } from './live.ts';
import { planNodeAgents } from './node-agents.ts';
import { type Prune, planPrune } from './prune.ts';
import { planVolumeOwners } from './volumes.ts';

/**
 * What brings the cluster to a composition, as far as that goes now: first what its steps state, then what is left of
 * before. Pure: the same composition, the same cluster and the same time give the same actions.
 */
export function plan(composition: Composition, live: Live): Prune {
  const left = planUpkeep(composition, live);
  return { kept: left.kept, ...joined([planSteps(composition, live), left]) };
}

/** The objects of every step that nothing holds back. */
export function planSteps({ steps }: Composition, live: Live): Plan {
  return joined(steps.filter((step) => mayBegin(step, live)).map((step) => planStep(step, live)));
}

/**
 * What no step states: agents of older revisions, whose end volumes go with, nodes that are not cleaned any more, and
 * what is not wanted any more.
 */
export function planUpkeep(composition: Composition, live: Live): Prune {
  const pruned = planPrune(live, composition);
  const others = [planNodeAgents(live, composition), planVolumeOwners(live), planCleaningEnd(live, composition)];
  return { kept: pruned.kept, ...joined([...others, pruned]) };
}

function mayBegin({ problem, skipped, needs }: Step, { done }: Live): boolean {
  return problem === undefined && skipped === undefined && needs.every((need) => done.has(need));
}

function planStep(step: Step, live: Live): Plan {
  const waits = !live.done.has(step.condition) && awaits(step, live);
  const objects = step.objects.filter((desired) => !waits || isLive(desired, live));
  const claims = objects.filter((desired): desired is NodeClaim => desired.verb === 'claim');
  const others = objects.filter((desired) => desired.verb !== 'claim');
  const { condition } = step;
  // What pods mount, and which traffic they may have, is there before them.
  const inOrder = [
    ...others.filter(({ object }) => !runsPods(object)),
    ...others.filter(({ object }) => runsPods(object)),
  ];
  const planned = inOrder.map((one) => ({ stated: one.object, plan: planObject(one, live, condition) }));
  const plans = step.inTurn === true ? inTurn(live, planned) : planned.map(({ plan }) => plan);
  return joined([planClaims(live, claims, condition), ...plans]);
}

function planObject(desired: Exclude<Desired, NodeClaim>, live: Live, step: string): Plan {
  const { object } = desired;
  if (object.kind === 'Job') return planJob(live, object, step);
  switch (desired.verb) {
    case 'apply':
      return planApplied(live, object, { step, retained: desired.retained === true });
    case 'generate':
      return planGenerated(live, desired, step);
    case 'resolve':
      return live.isResolved(object) ? nothing : { actions: [{ verb: 'resolve', step, reason: 'Differs', object }] };
  }
}

/** Whether something that the step waits for is not Ready yet. */
function awaits(step: Step, { observe }: Live): boolean {
  return step.awaits.some(({ kind, namespace, name }) => {
    const found = observe(kind, { namespace, name });
    return found === undefined || conditionOf(found, 'Ready')?.status !== 'True';
  });
}

/** What runs already is kept as it should be, whatever has become of the things that it waited for; Jobs run only with them. */
function isLive(desired: Desired, { observe }: Live): boolean {
  if (desired.verb === 'claim' || desired.object.kind === 'Job') return false;
  const { namespace, name = '' } = desired.object.metadata;
  return observe(kindOf(desired.object), { ...(namespace === undefined ? {} : { namespace }), name }) !== undefined;
}
