import { type KubeObject, Node, StatefulSet, type StoredObject } from '@openstack-operator/kube';
import { nodeOf, unreadySince } from '../engine/status/agents.ts';
import { conditionOf } from '../engine/status/conditions.ts';
import { type Action, type Plan, soonest } from './action.ts';
import type { Live } from './live.ts';
import { isUsable } from './node-agents.ts';
import { isReady, membersOf } from './stuck-pods.ts';

/** Milliseconds after which one that is away, though not by its new template, keeps the change of others no longer. */
const patience = 600_000;

/** A stated object, and what is planned for it. */
export interface Planned {
  readonly stated: KubeObject;
  readonly plan: Plan;
}

type Seen = Pick<Live, 'cache' | 'resource' | 'now'>;

/**
 * Of StatefulSets that keep the same data one is changed at a time: the next one when all pods of the others are there, new
 * and ready. One that is away itself is changed at once, as what it waits for may be that change. One whose node is away,
 * or whose pod is of an older template, holds up nobody any more after ten minutes; one whose new pod does not become ready, or
 * is not made, does so for ever, as the change may be why. What is not there yet is made at once.
 */
export function inTurn(live: Seen, planned: readonly Planned[]): Plan[] {
  const holds = new Map(planned.map(({ stated }) => [stated, holdOf(live, stated)]));
  const waits = [...holds.values()].flatMap((until) => (until === undefined ? [] : [until - live.now]));
  const requeueAfter = soonest(waits.filter((wait) => wait > 0 && wait < Infinity));
  let isTaken = waits.some((wait) => wait > 0);
  return planned.map(({ stated, plan }) => {
    if (stated.kind !== StatefulSet.kind || holds.get(stated) !== undefined || !plan.actions.some(isChange))
      return plan;
    if (!isTaken) {
      isTaken = true;
      return plan;
    }
    const actions = plan.actions.filter((action) => !isChange(action));
    const next = soonest([plan.requeueAfter, requeueAfter]);
    return { ...plan, actions, ...(next === undefined ? {} : { requeueAfter: next }) };
  });
}

/** Whether an action has pods replaced: of what is not there none are. */
function isChange(action: Action): boolean {
  return action.verb === 'replace' || (action.verb === 'apply' && action.live !== undefined);
}

/** Until when a StatefulSet whose pods are not as they should be holds up others, in milliseconds since the epoch; undefined where they are, or where there is none. */
function holdOf(live: Seen, stated: KubeObject): number | undefined {
  const isThere = ({ metadata }: StoredObject) => metadata.name === stated.metadata.name;
  if (stated.kind !== StatefulSet.kind || !live.cache.controlledBy(StatefulSet, live.resource).some(isThere))
    return undefined;
  const members = membersOf(live, stated);
  if (members === undefined) return live.now + patience;
  const { set, pods, isNew } = members;
  const { replicas = 1 } = (set['spec'] ?? {}) as { replicas?: number };
  if (pods.length < replicas) return Infinity;
  const away = pods.filter((pod) => !isReady(pod) || !isNew(pod));
  return away.length === 0 ? undefined : Math.max(...away.map((pod) => patienceWith(live, pod, isNew(pod))));
}

/** Until when a pod that is not ready, or not new, is waited for. */
function patienceWith(live: Seen, pod: StoredObject, isNew: boolean): number {
  if (isReady(pod)) return live.now + patience;
  return isNew && !isCutOff(live, pod) ? Infinity : unreadySince(pod) + patience;
}

/** Whether the node of a pod, or the one that it is for, is gone, not Ready, or takes no pods. */
function isCutOff({ cache }: Seen, pod: StoredObject): boolean {
  const name = nodeOf(pod);
  if (name === '' || !cache.has(Node)) return false;
  const node = cache.get(Node, { name });
  if (node === undefined) return true;
  const { nodeName } = (pod['spec'] ?? {}) as { readonly nodeName?: string };
  return nodeName === undefined ? !isUsable(node) : conditionOf(node, 'Ready')?.status !== 'True';
}
