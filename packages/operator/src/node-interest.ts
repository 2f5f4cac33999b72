import type { Composition, NodeClaim } from '@openstack-operator/openstack';

/** What a resource has to do with nodes. */
export interface NodeInterest {
  readonly claims: readonly NodeClaim[];
  /** Whether what is composed depends on the nodes of the cloud: claims, and agents that run on them. */
  readonly dependsOnNodes: boolean;
}

/** What a composition says of that. */
export function nodeInterestOf({ steps }: Pick<Composition, 'steps'>): NodeInterest {
  const objects = steps.flatMap((step) => step.objects);
  const claims = objects.filter((desired) => desired.verb === 'claim');
  const hasAgents = objects.some((desired) => desired.verb !== 'claim' && desired.object.kind === 'DaemonSet');
  return { claims, dependsOnNodes: claims.length > 0 || hasAgents };
}
