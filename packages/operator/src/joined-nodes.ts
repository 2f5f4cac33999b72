import { DaemonSet, Node, Pod, type StoredObject } from '@openstack-operator/kube';
import {
  type ClaimedNode,
  cloudOf,
  conditionOf,
  isNobodys,
  isNodeAgent,
  joinedNode,
  lostNode,
  nodeGroupOf,
  nodeStates,
  nodesByCloud,
  type RecordedNodes,
  recordedIn,
  recordOf,
} from '@openstack-operator/openstack';
import type { ComposeContext } from './context.ts';
import { forgottenNodes } from './forgotten.ts';
import { type Maintaining, maintenanceOf } from './maintenance.ts';

/**
 * The nodes on which the resource's agents have been up: those that are up now, and those of which the status says so.
 * A resource that an operator without this record has brought to Ready had all of its nodes up then.
 */
export function joinedNodes(context: ComposeContext): ReadonlySet<string> {
  const { cache, object } = context;
  const recorded = recordedIn(object['status']);
  if (recorded.length === 0 && conditionOf(object, 'Ready')?.status === 'True')
    return new Set(claimedNodes(context).map(({ metadata }) => metadata.name));
  const known = recorded.filter(({ phase }) => phase === joinedNode).map(({ name }) => name);
  const isKnown = new Set(known);
  const open = claimedNodes(context).filter(({ metadata }) => !isKnown.has(metadata.name));
  if (open.length === 0) return isKnown;
  const agents = cache.controlledBy(DaemonSet, object).filter(isNodeAgent);
  const states = nodeStates(agents, {
    nodes: open,
    podsOf: (agent) => cache.controlledBy(Pod, agent),
    words: () => undefined,
    now: context.clock.now(),
  });
  return new Set([...known, ...states.filter(({ state }) => state === 'up').map(({ name }) => name)]);
}

/**
 * `status.nodes` of a resource with agents: the nodes that they are for, by name. A node is recorded as joined when
 * every step was done with it, so that what follows from its joining, such as its discovery, is done once.
 */
export function nodesStatus(context: ComposeContext, isDone: boolean, maintenance: Maintaining): RecordedNodes {
  const agents = context.cache.controlledBy(DaemonSet, context.object).filter(isNodeAgent);
  if (agents.length === 0 || !context.cache.has(Node)) return {};
  const before = recordedIn(context.object['status']);
  const known = new Set(before.filter(({ phase }) => phase === joinedNode).map(({ name }) => name));
  const now = isDone ? joinedNodes(context) : known;
  const recorded = new Map(before.map(({ name, maintenance }) => [name, maintenance]));
  const maintained = maintenanceOf(context, maintenance);
  const nodes = claimedNodes(context).map(({ metadata: { name, labels } }) => ({
    name,
    ...groupIn(labels),
    phase: known.has(name) || now.has(name) ? joinedNode : 'Claimed',
    ...maintenanceIn(maintained(name, recorded.get(name))),
  }));
  const forgotten = forgottenNodes(maintenance);
  const here = new Set(nodes.map(({ name }) => name));
  const lost = before
    .filter(({ name }) => !here.has(name) && !forgotten.has(name) && isNobodys(context.cache.get(Node, { name })))
    .slice(0, mostLost)
    .map(({ name, group, maintenance }) => ({
      name,
      ...(group === undefined ? {} : { group }),
      phase: lostNode,
      // Should it come back, it is to be let in again.
      ...maintenanceIn(maintenance),
    }));
  return recordOf([...nodes, ...lost]);
}

/** How far a node's maintenance is, as the status has it. */
export function maintenanceIn(maintenance: ClaimedNode['maintenance']): Pick<ClaimedNode, 'maintenance'> {
  return maintenance === undefined ? {} : { maintenance };
}

/** The group of a claimed node as the status has it: none for one that has roles alone. */
export function groupIn(labels: Readonly<Record<string, string>> | undefined): Pick<ClaimedNode, 'group'> {
  const group = nodeGroupOf(labels);
  return group === undefined ? {} : { group };
}

/** Nodes that are gone and were not released, of which no more are recorded: those of an autoscaler never come back. */
const mostLost = 100;

function claimedNodes({ cache, object }: ComposeContext): readonly StoredObject[] {
  return cache.has(Node) ? cache.byIndex(Node, nodesByCloud, cloudOf(object)) : [];
}
