import { type KubeObject, StatefulSet, type StoredObject } from '@openstack-operator/kube';
import { unreadySince } from '../engine/status/agents.ts';
import { type Action, type Plan, soonest } from './action.ts';
import type { Live } from './live.ts';
import { isReady, membersOf } from './stuck-pods.ts';

/** Milliseconds after which a StatefulSet that is away keeps the change of others no longer. */
const patience = 600_000;

/** A stated object, and what is planned for it. */
export interface Planned {
  readonly stated: KubeObject;
  readonly plan: Plan;
}

/**
 * Of StatefulSets that keep the same data one is changed at a time: the next one when all pods of the others are there, new
 * and ready. One that is away itself is changed at once, as what it waits for may be that change; and one that has been away
 * for ten minutes holds up nobody any more. What is not there yet is made at once.
 */
export function inTurn(live: Pick<Live, 'cache' | 'resource' | 'now'>, planned: readonly Planned[]): Plan[] {
  const since = new Map(planned.map(({ stated }) => [stated, awaySince(live, stated)]));
  const waits = [...since.values()].flatMap((at) => (at === undefined ? [] : [at + patience - live.now]));
  const requeueAfter = soonest(waits.filter((wait) => wait > 0));
  let isTaken = requeueAfter !== undefined;
  return planned.map(({ stated, plan }) => {
    if (stated.kind !== StatefulSet.kind || since.get(stated) !== undefined || !plan.actions.some(isChange))
      return plan;
    if (!isTaken) {
      isTaken = true;
      return plan;
    }
    const actions = plan.actions.filter((action) => !isChange(action));
    return { ...plan, actions, ...(requeueAfter === undefined ? {} : { requeueAfter }) };
  });
}

/** Whether an action has pods replaced: of what is not there none are. */
function isChange(action: Action): boolean {
  return action.verb === 'replace' || (action.verb === 'apply' && action.live !== undefined);
}

/** Since when pods of a StatefulSet are not as they should be, in milliseconds since the epoch; undefined where they are, or where there is none. */
function awaySince(live: Pick<Live, 'cache' | 'resource' | 'now'>, stated: KubeObject): number | undefined {
  const isThere = ({ metadata }: StoredObject) => metadata.name === stated.metadata.name;
  if (stated.kind !== StatefulSet.kind || !live.cache.controlledBy(StatefulSet, live.resource).some(isThere))
    return undefined;
  const members = membersOf(live, stated);
  if (members === undefined) return live.now;
  const { set, pods, isNew } = members;
  const { replicas = 1 } = (set['spec'] ?? {}) as { replicas?: number };
  const away = pods.filter((pod) => !isReady(pod) || !isNew(pod));
  if (away.length > 0) return Math.min(...away.map((pod) => (isReady(pod) ? live.now : unreadySince(pod))));
  return pods.length < replicas ? live.now : undefined;
}
