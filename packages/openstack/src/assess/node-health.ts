import type { StoredObject } from '@openstack-operator/kube';
import { cloudLabel, computeLabel, nodeGroupLabel } from '../engine/names/names.ts';
import { isNodeAgent, nodeStates } from '../engine/status/agents.ts';
import { podWords, refusalWords } from '../engine/status/pod-words.ts';
import { roleLabel, strayNodes } from '../engine/vocabulary/node-groups.ts';
import type { NodeClaim, Step } from '../engine/vocabulary/step.ts';
import { kindOf } from '../registry/kinds.ts';
import { nodeCauses } from './causes.ts';
import { done, type Health, wait } from './health.ts';
import type { Observed } from './observed.ts';
import { podsOf } from './pods-of.ts';

/**
 * The nodes of a cloud. One that is missing holds back nothing: what runs on the others goes on, and a node that comes
 * later is claimed then. But there has to be one that runs guests where some are asked for, and one chassis and one of each
 * role likewise.
 */
export function claimsHealth({ objects }: Step, { nodes, unclean = () => [] }: Observed): Health {
  const claims = objects.filter((desired) => desired.verb === 'claim');
  if (claims.length === 0) return done;
  if (nodes === undefined) {
    const role = 'the operator may not read and label nodes; bind it the ClusterRole openstack-operator-cluster';
    return wait('NodesHidden', `${role} (config/rbac-namespaced) and restart it`);
  }
  const found = claims.map((claim) => ({
    claim,
    claimed: nodes.filter((node) => hasLabels(node, claim.labels)).length,
  }));
  const stray = strayNodes(claims, nodes);
  // What their agents have read is not known: they are the agents of before.
  if (stray !== undefined) return { done: true, degraded: stray, leaving: true };
  const short = found.filter(({ claim: { count = 1 }, claimed }) => claimed < count);
  const released = unclean(claims);
  const words = released.map(({ words }) => words).join('; ');
  const isStuck = released.some((node) => node.isStuck);
  if (short.length === 0) {
    if (released.length === 0) return done;
    return isStuck ? { done: true, degraded: words } : { done: true, remark: words };
  }
  const told = short.map(
    ({ claim: { labels, role, count = 1 }, claimed }) =>
      `${claimed} of ${count} nodes of ${groupOf(labels, role)} are claimed`,
  );
  const eligible = `a node is eligible when it is Ready, schedulable, has the labels of the group's nodeSelector, no taint that the group does not tolerate, and no other ${cloudLabel} label`;
  const message = [...told, ...(released.length === 0 ? [] : [words]), eligible].join('; ');
  const wanted = found.filter(({ claim: { count = 1 } }) => count > 0);
  const alike = Map.groupBy(wanted, ({ claim: { role, labels } }) => role ?? labels[computeLabel]);
  if (alike.values().every((some) => some.some(({ claimed }) => claimed > 0))) return { done: true, degraded: message };
  return wait(released.length > 0 && !isStuck ? 'Progressing' : 'NoNodes', message);
}

function groupOf(labels: NodeClaim['labels'], role: string | undefined): string {
  return role === undefined ? `group ${labels[nodeGroupLabel]}` : `group ${labels[roleLabel(role)]} of role ${role}`;
}

function hasLabels(node: StoredObject, labels: NodeClaim['labels']): boolean {
  return Object.entries(labels).every(([key, value]) => node.metadata.labels?.[key] === value);
}

/**
 * The agents of the nodes. A node whose agents are not up holds back itself alone: the others serve. Nodes that are just
 * starting are waited for until the agents have been up for the first time, so that a cloud comes up as a whole.
 */
export function agentsHealth({ condition, objects }: Step, observed: Observed): Health {
  const { nodes, observe, eventWords, now, met } = observed;
  if (nodes === undefined) return done;
  const agents = objects.flatMap((desired) => {
    if (desired.verb !== 'apply' || desired.object.kind !== 'DaemonSet') return [];
    const { namespace = '', name = '' } = desired.object.metadata;
    const live = observe(kindOf(desired.object), { namespace, name });
    return live !== undefined && isNodeAgent(live) ? [live] : [];
  });
  const states = nodeStates(agents, {
    nodes,
    podsOf: (daemonSet) => podsOf(daemonSet, observed),
    words: (pod) => podWords(pod, eventWords),
    refusal: (daemonSet) => refusalWords(daemonSet, eventWords),
    now,
  });
  const up = states.filter(({ state }) => state === 'up').length;
  // Where no node is to run them (`computeReplicas: 0`), there is nothing to wait for.
  if (up === states.length) return done;
  const message = `agents are up on ${up} of ${states.length} nodes`;
  const causes = nodeCauses(states);
  const starting = states.filter(({ state }) => state === 'starting');
  const patience = starting.flatMap(({ patience = [] }) => patience);
  const again = patience.length === 0 ? {} : { requeueAfter: Math.min(...patience) };
  if (up === 0 || (starting.length > 0 && !met.has(condition))) {
    const reason = starting.some(({ patience }) => patience === undefined) ? 'RollingOut' : 'NotAvailable';
    return { ...wait(reason, message), causes, ...again };
  }
  const isDown = states.some(({ state }) => state === 'down');
  return isDown ? { done: true, degraded: message, causes, ...again } : { done: true, ...again };
}
