import { controllerOf, type KubeObject, Node, type StoredObject } from '@openstack-operator/kube';
import {
  claimants,
  cloudOf,
  finalizers,
  isNobodys,
  lostNode,
  nodesByCloud,
  originOf,
  recordedIn,
  released,
  reservedNodes,
  rootOf,
} from '@openstack-operator/openstack';
import type { OperatorContext } from './context.ts';
import { patchNode } from './patch-node.ts';
import { ensureDigestKey } from './secrets/digest-key.ts';
import { assertStillMeant } from './still-meant.ts';

/** Finalizer of who claims nodes: their labels live outside its namespace, and no garbage collector takes them off. */
export const nodesFinalizer = finalizers.releaseNodes;

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
export async function releaseNodes(context: OperatorContext): Promise<void> {
  const { cache, object: resource } = context;
  if (!cache.has(Node)) return;
  const cloud = cloudOf(resource);
  const isShared = claimants
    .filter((kind) => cache.has(kind))
    .flatMap((kind) => cache.list(kind, { namespace: resource.metadata.namespace ?? '' }))
    .filter(({ metadata }) => metadata.uid !== resource.metadata.uid && metadata.deletionTimestamp === undefined)
    .some((other) => controllerOf(other)?.uid !== resource.metadata.uid && cloudOf(other) === cloud);
  const { deletionPolicy } = (resource['spec'] ?? {}) as { deletionPolicy?: string };
  const lost = recordedIn(resource['status']).flatMap(
    ({ name, phase }) => (phase === lostNode && cache.get(Node, { name })) || [],
  );
  const claimed: readonly StoredObject[] = isShared
    ? []
    : [...cache.byIndex(Node, nodesByCloud, cloud), ...lost.filter(isNobodys)];
  const eventWords = ({ metadata: { uid } }: StoredObject) => context.eventWords.get(uid);
  const view = { cache, resource, eventWords };
  for (const node of [...claimed, ...reservedNodes(view)]) {
    assertStillMeant(context, `the release of node ${node.metadata.name}`);
    const keeps = claimed.includes(node) && deletionPolicy !== 'Delete';
    // A key that is lost is made anew: who comes back has that one as well.
    const key = keeps ? await ensureDigestKey(context) : undefined;
    await patchNode(context, node, released(view, node, originOf(resource, key?.id)));
  }
}
