import { isApiError, Node, type StoredObject } from '@openstack-operator/kube';
import { cloudLabel, conditionOf, fieldManager, type NodeClaim } from '@openstack-operator/openstack';
import type { Pass } from './pass.ts';

/** Finalizer of a control plane: node labels live outside its namespace, and no garbage collector takes them off. */
export const nodesFinalizer = 'openstack.k8s.io/release-nodes';

/**
 * Labels nodes until the claim is met. A node is taken by a patch under its resourceVersion: of two clouds that want it
 * one wins. Nodes that are claimed stay, whatever becomes of their labels otherwise: guests may run there.
 */
export async function claimNodes(pass: Pass, claim: NodeClaim): Promise<void> {
  if (!pass.cache.has(Node)) return;
  const nodes = pass.cache.list(Node);
  const mine = nodes.filter((node) => hasLabels(node, claim.labels));
  const wanted = claim.count ?? Number.POSITIVE_INFINITY;
  const free = nodes
    .filter((node) => isEligible(node, claim))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .slice(0, Math.max(0, wanted - mine.length));
  for (const node of free) {
    await label(pass, node, claim.labels);
    pass.event({
      type: 'Normal',
      reason: 'NodeClaimed',
      action: 'Claim',
      note: `node ${node.metadata.name} belongs to this cloud now`,
    });
  }
}

/** Takes the labels off all nodes of a cloud. */
export async function releaseNodes(pass: Pass, cloud: string): Promise<void> {
  if (!pass.cache.has(Node)) return;
  for (const node of pass.cache.list(Node)) {
    const labels = node.metadata.labels ?? {};
    if (labels[cloudLabel] !== cloud) continue;
    const ours = Object.keys(labels).filter((name) => name.startsWith('openstack.k8s.io/'));
    await label(pass, node, Object.fromEntries(ours.map((name) => [name, null])));
  }
}

async function label(pass: Pass, node: StoredObject, labels: Readonly<Record<string, string | null>>): Promise<void> {
  const { name, resourceVersion } = node.metadata;
  try {
    await pass.client.patch(
      Node,
      { name },
      'merge',
      { metadata: { resourceVersion, labels } },
      { fieldManager, signal: pass.signal },
    );
  } catch (error) {
    if (!isApiError(error, 404)) throw error;
  }
}

function isEligible(node: StoredObject, { selector }: NodeClaim): boolean {
  const { unschedulable } = (node['spec'] ?? {}) as { unschedulable?: boolean };
  const free = node.metadata.labels?.[cloudLabel] === undefined;
  return free && unschedulable !== true && conditionOf(node, 'Ready')?.status === 'True' && hasLabels(node, selector);
}

function hasLabels(node: StoredObject, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(labels).every(([name, value]) => node.metadata.labels?.[name] === value);
}
