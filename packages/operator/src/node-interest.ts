import type { Composition, NodeClaim } from '@openstack-operator/openstack';

/** What a resource has to do with nodes. */
export interface NodeInterest {
  readonly claims: readonly NodeClaim[];
  /** Whether what is composed depends on the nodes of the cloud: claims, agents that run on them, and who keeps data there. */
  readonly dependsOnNodes: boolean;
  /** Whether it depends on all labels of nodes of the cloud, not on ours alone: roles are given by them. */
  readonly readsLabels: boolean;
}

/** What a composition says of that; `asked`: it was made by what nodes there are. */
export function nodeInterestOf({ steps }: Pick<Composition, 'steps'>, asked = false): NodeInterest {
  const objects = steps.flatMap((step) => step.objects);
  const claims = objects.filter((desired) => desired.verb === 'claim');
  const hasAgents = objects.some((desired) => desired.verb !== 'claim' && desired.object.kind === 'DaemonSet');
  const readsLabels = claims.some(({ role }) => role !== undefined) || (asked && !hasAgents);
  return { claims, dependsOnNodes: claims.length > 0 || hasAgents || asked, readsLabels };
}
