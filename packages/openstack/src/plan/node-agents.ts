import {
  ControllerRevision,
  DaemonSet,
  type EventText,
  Node,
  Pod,
  parseTimestamp,
  type StoredObject,
} from '@openstack-operator/kube';
import { awaitedMessage } from '../assess/assess.ts';
import type { Composition } from '../engine/compose/compose.ts';
import { digest } from '../engine/names/digest.ts';
import { annotations, cloudOf, nodeGroupLabel } from '../engine/names/names.ts';
import { isNodeAgent, isSelected, unreadySince } from '../engine/status/agents.ts';
import { conditionOf } from '../engine/status/conditions.ts';
import { eventOf } from '../engine/status/event-reasons.ts';
import {
  credentialsDiffer,
  goesUnasked,
  isHarmless,
  neverRan,
  ofOlderRevision,
  variablesOf,
} from '../engine/status/old-agents.ts';
import { type Action, nothing, type Plan, soonest, statedObjects } from './action.ts';
import { nodesByCloud } from './cluster-nodes.ts';
import type { Live } from './live.ts';

/**
 * Milliseconds after which a node without its agent holds back no pod whose credentials nobody accepts any more, and no
 * agent of its own that touches neither data path nor guests; and after which an agent that is not Ready is not waited
 * for when its newest revision is configured otherwise.
 */
const patience = 120_000;

/**
 * Replaces node agents of an older revision: DaemonSets of node agents are `OnDelete`, because a node loses its network
 * or its consoles for a moment. Node by node, at most `maxUnavailable` nodes of a group at once, one of all groups that do
 * not say, and only
 * - when the resource is annotated so, and what it needs is Ready;
 * - unasked: agents that touch neither data path nor guests and have other settings to apply, and pods with credentials that have been issued anew, which
 *   nobody accepts any more;
 * - unasked, when what the resource needs is Ready: agents that have not been Ready for two minutes, and are configured
 *   otherwise by now (an OVNNetwork that was made anew has other addresses).
 * Agents that touch neither data path nor guests go on a quarter of the nodes at once when one has come up and none is away.
 * On a node that has been without an agent for two minutes, agents that touch neither data path nor guests and pods with
 * credentials that nobody accepts go one after the other, however other nodes are: what they apply may be what the missing
 * agent waits for (ovn-controller has its addresses from `ovs-settings`). Its other agents wait until it is back.
 * A pod of which no container ever ran serves nothing, and is replaced at once. A node that is not Ready or is cordoned
 * is left out until it is back, and holds up no other; nor does one whose agents were not Ready before the change.
 */
export function planNodeAgents(live: Live, composition: Composition): Plan {
  const agents = statedObjects(composition.steps)
    .filter(({ kind }) => kind === DaemonSet.kind)
    .flatMap(({ metadata: { namespace = '', name = '' } }) => live.cache.get(DaemonSet, { namespace, name }) ?? [])
    .filter((agent) => isNodeAgent(agent) && isObserved(agent));
  const pods = agents.flatMap((agent) => podsOf(live, agent));
  const outdated = pods.filter(({ isOld, pod }) => isOld && pod.metadata.deletionTimestamp === undefined);
  if (outdated.length === 0) return nothing;
  const useless = new Set(outdated.filter(({ pod }) => neverRan(pod)));
  const asked = live.resource.metadata.annotations?.[annotations.rollNodeAgents] === 'true';
  const lost = new Set(outdated.filter((one) => !isReady(one) && configurationDiffers(one)));
  const why = asked || lost.size > 0 ? heldBack(live, composition) : undefined;
  const mayGo = (asked || lost.size > 0) && why === undefined;
  const waits = (one: AgentPod) => unreadySince(one.pod) + patience - live.now;
  const isDue = (one: AgentPod) =>
    goesUnasked(one.agent, one.pod) || (mayGo && (asked || (lost.has(one) && waits(one) <= 0)));
  const due = outdated.filter((one) => !useless.has(one) && isDue(one));
  const { next, again } = nextOf(live, agents, { pods, due, composition });
  const actions = [...useless, ...next].map(({ pod }): Action => {
    const note = `pod ${pod.metadata.name} of an older revision is replaced`;
    return { verb: 'evict', reason: 'Outdated', live: pod, event: eventOf('PodReplaced', note) };
  });
  const later = mayGo ? [...lost].map(waits).filter((wait) => wait > 0) : [];
  const requeueAfter = soonest([again, ...later]);
  return {
    actions,
    ...(why === undefined ? {} : { waits: [why] }),
    ...(requeueAfter === undefined ? {} : { requeueAfter }),
  };
}

/**
 * What the resource needs and is not Ready: a roll does not go on while the cloud is unwell, which its agents may be the
 * cause of (one that asks for more than its node has drives others off it). What is needed enqueues the resource when it
 * is Ready.
 */
function heldBack({ cache }: Live, { steps }: Composition): EventText | undefined {
  const messages = steps.map((step) => awaitedMessage(step, { observe: (kind, ref) => cache.get(kind, ref) }));
  const [first] = messages.filter((words) => words !== undefined);
  if (first === undefined) return undefined;
  const note = `node agents of an older revision are not replaced meanwhile: ${first}`;
  return eventOf('NodeAgentsWait', note);
}

interface AgentPod {
  readonly agent: StoredObject;
  readonly pod: StoredObject;
  readonly node: string;
  /** Of another revision than the DaemonSet's newest. */
  readonly isOld: boolean;
}

/** Of the pods that are due, those that may go now: one of a node, as many nodes of a group as may be unavailable. */
function nextOf(
  { cache, now, resource }: Live,
  agents: readonly StoredObject[],
  { pods, due, composition }: { pods: readonly AgentPod[]; due: readonly AgentPod[]; composition: Composition },
): { next: AgentPod[]; again: number | undefined } {
  const nodes = (cache.has(Node) ? cache.byIndex(Node, nodesByCloud, cloudOf(resource)) : []).filter(isUsable);
  const byNode = Map.groupBy(pods, ({ node }) => node);
  const up = new Set(pods.filter((one) => !one.isOld && isReady(one)).map(({ agent }) => agent));
  const dueByNode = Map.groupBy(due, ({ node }) => node);
  const next: AgentPod[] = [];
  const ends: number[] = [];
  const saying = (node: StoredObject) => {
    const group = node.metadata.labels?.[nodeGroupLabel] ?? '';
    return composition.maxUnavailable?.has(group) === true ? group : undefined;
  };
  for (const [group, members] of Map.groupBy(nodes, saying)) {
    const mine = members
      .filter((node) => agents.some((agent) => isSelected(node, agent)))
      .map((node) => {
        const here = byNode.get(node.metadata.name) ?? [];
        const mayGo = dueByNode.get(node.metadata.name) ?? [];
        const since = awaySince(node, agents, here, now);
        const waiting =
          since === undefined
            ? mayGo
            : mayGo.filter(({ agent, pod }) => isHarmless(agent) || credentialsDiffer(agent, pod));
        return { name: node.metadata.name, waiting, since, serves: here.every(isReady) };
      });
    const limit = (group === undefined ? undefined : composition.maxUnavailable?.get(group)) ?? 1;
    const candidates = mine
      .filter(({ waiting }) => waiting.length > 0)
      // Those that serve come first: one that was not Ready before can then hold up none of them.
      .sort((one, other) => Number(other.serves) - Number(one.serves) || (one.name < other.name ? -1 : 1));
    let chosen = 0;
    const endsOf = (away: readonly number[], term: number) => {
      const held = away.map((begun) => begun + term).filter((end) => end > now);
      return { held, first: soonest(held.filter(Number.isFinite)) };
    };
    const others = mine.flatMap((node) => node.since ?? []);
    const ofOthers = new Map([patience, Number.POSITIVE_INFINITY].map((term) => [term, endsOf(others, term)]));
    for (const { waiting, since } of candidates) {
      const isAway = since !== undefined;
      // A node that is away already is held back by itself alone, and for a while only.
      const term =
        isAway || waiting.every(({ agent, pod }) => credentialsDiffer(agent, pod))
          ? patience
          : Number.POSITIVE_INFINITY;
      const { held, first } = isAway ? endsOf([since], term) : (ofOthers.get(term) ?? endsOf(others, term));
      // A quarter of the nodes at once where nothing of a guest's depends on it, or where nobody accepts what an agent has:
      // once one node has shown that such an agent comes up, and while every other that went has. What no node can apply
      // stops at the first.
      const mayJoin = (one: AgentPod) => goesUnasked(one.agent, one.pod) && up.has(one.agent);
      const isSafe = held.length === 0 && waiting.every(mayJoin);
      const most = isSafe ? Math.max(limit, Math.ceil(mine.length / 4)) : limit;
      if (isAway ? held.length === 0 : held.length + chosen < most) {
        next.push(...waiting.slice(0, 1));
        chosen++;
      } else {
        ends.push(...(first === undefined ? [] : [first]));
      }
    }
  }
  return { next, again: soonest(ends.map((end) => end - now)) };
}

/**
 * Since when a node is without an agent that the newest revision should have there: gone, going, or not Ready; of several,
 * since the last one is missing, so that each that is replaced has its time. Undefined: it is not.
 */
function awaySince(
  node: StoredObject,
  agents: readonly StoredObject[],
  here: readonly AgentPod[],
  now: number,
): number | undefined {
  const begun = agents
    .filter((agent) => isSelected(node, agent))
    .flatMap((agent) => {
      const own = here.filter((one) => one.agent === agent);
      const going = own.flatMap(({ pod: { metadata } }) => metadata.deletionTimestamp ?? []);
      if (going.length > 0) return going.map(parseTimestamp);
      const [current] = own;
      if (current === undefined) return [now];
      return current.isOld || isReady(current) ? [] : [unreadySince(current.pod)];
    });
  return begun.length === 0 ? undefined : Math.max(...begun);
}

/** The pods of a DaemonSet, and whether they are of its newest revision. */
function podsOf({ cache }: Live, agent: StoredObject): AgentPod[] {
  const revisions = cache.controlledBy(ControllerRevision, agent);
  const isOld = ofOlderRevision(revisions);
  return cache.controlledBy(Pod, agent).map((pod) => ({
    agent,
    pod,
    node: (pod['spec'] as { nodeName?: string } | undefined)?.nodeName ?? '',
    isOld: isOld(pod),
  }));
}

/** A node that is off answers to no deletion, and one that is cordoned is somebody's work in progress. */
export function isUsable(node: StoredObject): boolean {
  const { unschedulable } = (node['spec'] ?? {}) as { unschedulable?: boolean };
  return unschedulable !== true && (conditionOf(node, 'Ready')?.status ?? 'True') === 'True';
}

function isReady({ pod }: AgentPod): boolean {
  return conditionOf(pod, 'Ready')?.status === 'True';
}

function isObserved({ metadata, status }: StoredObject): boolean {
  const { observedGeneration = 0 } = (status ?? {}) as { observedGeneration?: number };
  return observedGeneration >= (metadata.generation ?? 0);
}

/** Whether the newest revision has other variables or files than a pod; a ConfigMap's name follows from what is in it. */
function configurationDiffers({ agent, pod }: AgentPod): boolean {
  const { template } = (agent['spec'] ?? {}) as { template?: { spec?: unknown } };
  const configurationOf = (spec: unknown) => {
    const { volumes = [] } = (spec ?? {}) as { volumes?: readonly { configMap?: { name?: string } }[] };
    return [variablesOf(spec), volumes.flatMap(({ configMap }) => configMap?.name ?? [])];
  };
  return digest(configurationOf(pod['spec'])) !== digest(configurationOf(template?.spec));
}
