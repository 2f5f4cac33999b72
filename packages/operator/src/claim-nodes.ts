import {
  controllerOf,
  isApiError,
  type Kind,
  type KubeObject,
  Node,
  type StoredObject,
} from '@openstack-operator/kube';
import {
  cloudLabel,
  cloudOf,
  conditionOf,
  fieldManager,
  type NodeClaim,
  OpenStackControlPlane,
  services,
} from '@openstack-operator/openstack';
import type { Pass } from './pass.ts';

/** Finalizer of who claims nodes: their labels live outside its namespace, and no garbage collector takes them off. */
export const nodesFinalizer = 'openstack.k8s.io/release-nodes';

/** Kinds that claim nodes where no control plane does. */
const claimants: readonly Kind[] = services.filter(({ claims }) => claims !== undefined).map(({ kind }) => kind);

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

/** Whether a resource claims its nodes itself, as no control plane does it. */
export function standsAlone(resource: KubeObject): boolean {
  return controllerOf(resource)?.kind !== OpenStackControlPlane.kind;
}

/** Takes the labels off all nodes of the resource's cloud, unless another resource that stands alone shares them. */
export async function releaseNodes(pass: Pass): Promise<void> {
  const { cache, object: resource } = pass;
  if (!cache.has(Node)) return;
  const cloud = cloudOf(resource);
  const others = claimants
    .filter((kind) => cache.has(kind))
    .flatMap((kind) => cache.list(kind, { namespace: resource.metadata.namespace ?? '' }))
    .filter(({ metadata }) => metadata.uid !== resource.metadata.uid && metadata.deletionTimestamp === undefined);
  if (others.some((other) => standsAlone(other) && cloudOf(other) === cloud)) return;
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
