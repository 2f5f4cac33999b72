import { controllerOf, type KubeObject, Node, type StoredObject } from '@openstack-operator/kube';
import {
  annotations,
  type ClaimedNode,
  cleaningLabel,
  cloudOf,
  type NodeClaim,
  rootOf,
} from '@openstack-operator/openstack';
import { claimants, hasLabels, isNobodys, lostNode, nodesByCloud, patchNode } from './cluster-nodes.ts';
import type { Begun, Pass } from './pass.ts';
import { planOf, release, reservedNodes } from './released-nodes.ts';
import { assertStillMeant } from './still-meant.ts';
import { type Again, write } from './write.ts';

/** Finalizer of who claims nodes: their labels live outside its namespace, and no garbage collector takes them off. */
export const nodesFinalizer = 'openstack.k8s.io/release-nodes';

/**
 * Labels nodes until the claim is met, and has those cleaned that another cloud has left. A node is taken by a patch
 * under its resourceVersion: of two clouds that want it one wins. Nodes that are claimed stay, whatever becomes of their
 * labels otherwise: guests may run there.
 * @returns when to look again, as nothing else tells of it
 */
export async function claimNodes(pass: Pass, claim: NodeClaim): Promise<Again> {
  if (!pass.cache.has(Node)) return undefined;
  const { cleaning } = claim;
  const { take, reserve, held, waits } = planOf(pass, claim);
  for (const node of take) {
    await patchNode(pass, node, {
      labels: { ...claim.labels, ...(hasLabels(node, cleaning.labels) ? { [cleaningLabel]: null } : {}) },
      annotations: { [annotations.releasedFrom]: null },
    });
    tell(pass, 'NodeClaimed', 'Claim', `node ${node.metadata.name} belongs to this cloud now`);
  }
  // The other way round a node could be left with a label that nobody looks at any more.
  if (reserve.length + held.length > 0) await write(pass, { verb: 'apply', object: cleaning.daemonSet }, {});
  for (const node of reserve) {
    await patchNode(pass, node, { labels: cleaning.labels });
    const from = node.metadata.annotations?.[annotations.releasedFrom];
    tell(pass, 'NodeCleaning', 'Clean', `node ${node.metadata.name} is cleaned of what ${from} has left there`);
  }
  return waits ? agentsAgain : undefined;
}

function tell(pass: Pass, reason: string, action: string, note: string): void {
  pass.event({ type: 'Normal', reason, action, note });
}

/** Milliseconds between two looks at agents of another cloud that are to end. */
const agentsAgain = 5000;

/** Whether a resource claims its nodes itself, as no control plane does it. */
export function isStandalone(resource: KubeObject): boolean {
  return rootOf(resource) === undefined;
}

/**
 * Takes the labels off all nodes of the resource's cloud, unless another resource shares them (what stands alone, a
 * control plane that is back beside its orphans), and notes on each who has let it go, also on those that have lost its
 * labels. Nothing is waited for: the namespace may be going, and so may the node. What is still there is found by who
 * claims the node next.
 */
export async function releaseNodes(pass: Begun): Promise<void> {
  const { cache, object: resource } = pass;
  if (!cache.has(Node)) return;
  const cloud = cloudOf(resource);
  const isShared = claimants
    .filter((kind) => cache.has(kind))
    .flatMap((kind) => cache.list(kind, { namespace: resource.metadata.namespace ?? '' }))
    .filter(({ metadata }) => metadata.uid !== resource.metadata.uid && metadata.deletionTimestamp === undefined)
    .some((other) => controllerOf(other)?.uid !== resource.metadata.uid && cloudOf(other) === cloud);
  const { deletionPolicy } = (resource['spec'] ?? {}) as { deletionPolicy?: string };
  const { nodes = [] } = (resource['status'] ?? {}) as { nodes?: readonly ClaimedNode[] };
  const lost = nodes.flatMap(({ name, phase }) => (phase === lostNode && cache.get(Node, { name })) || []);
  const claimed: readonly StoredObject[] = isShared
    ? []
    : [...cache.byIndex(Node, nodesByCloud, cloud), ...lost.filter(isNobodys)];
  for (const node of [...claimed, ...reservedNodes(pass)]) {
    assertStillMeant(pass, `the release of node ${node.metadata.name}`);
    await release(pass, node, { keeps: claimed.includes(node) && deletionPolicy !== 'Delete' });
  }
}
