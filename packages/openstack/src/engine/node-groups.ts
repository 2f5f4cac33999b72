import type { KubeObject, StoredObject } from '@openstack-operator/kube';
import { canonical } from './digest.ts';
import { claimantOf, cleaningLabel, cloudLabel, cloudOf, computeLabel, nodeGroupLabel } from './names.ts';
import { labelMistakes } from './spec-mistakes.ts';
import type { NodeClaim, Toleration } from './step.ts';

/** What a claim is made of: a node group of Nova or OVNNetwork. */
export interface ClaimedGroup {
  readonly name: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** How many nodes; absent means every eligible one. */
  readonly replicas?: number;
  /** Taints that its nodes may have. */
  readonly tolerations?: readonly Toleration[];
  /** Nobody states it: it stands for all nodes. */
  readonly isDefault?: boolean;
}

/** How many nodes of a group may be without an agent at once while agents are replaced; default: one of all groups. */
export interface RolledGroup {
  readonly name: string;
  readonly maxUnavailable?: number;
}

/**
 * The claims of a resource's cloud, one for each group; `compute` says whether guests run there, `cleaner` is the
 * DaemonSet that cleans nodes for it.
 */
export function nodeClaims(
  resource: KubeObject,
  groups: readonly ClaimedGroup[],
  { compute, cleaner }: { compute: boolean; cleaner: KubeObject },
): NodeClaim[] {
  const cloud = cloudOf(resource);
  const claimant = claimantOf(resource);
  return groups.map(({ name, nodeSelector = {}, replicas, tolerations = [] }) => ({
    verb: 'claim',
    labels: { [cloudLabel]: cloud, [nodeGroupLabel]: name, ...(compute ? { [computeLabel]: 'true' } : {}) },
    selector: nodeSelector,
    ...(replicas === undefined ? {} : { count: replicas }),
    ...(tolerations.length === 0 ? {} : { tolerations }),
    cleaning: { labels: { [cleaningLabel]: claimant, [nodeGroupLabel]: name }, daemonSet: cleaner },
  }));
}

/**
 * What keeps groups from getting the nodes that they ask for: labels that no node can have, and a group whose nodes an
 * earlier one takes all. `path` is that of the list.
 */
export function groupMistakes(groups: readonly ClaimedGroup[], path: string): string[] {
  return groups.flatMap(({ name, nodeSelector, tolerations }, index) => {
    const at = `${path}[name=${name}].nodeSelector`;
    const same = groups
      .slice(0, index)
      .find(
        (other) =>
          other.replicas === undefined &&
          canonical([other.nodeSelector ?? {}, other.tolerations ?? []]) ===
            canonical([nodeSelector ?? {}, tolerations ?? []]),
      );
    return [
      ...labelMistakes(nodeSelector, at),
      ...(same === undefined
        ? []
        : [`${at}: group ${same.name} claims every such node: give ${name} other labels, or ${same.name} replicas`]),
    ];
  });
}

/** What the agents of a node group are called after, and where they run. */
export interface GroupAgents {
  /** What follows the component's name: nothing for the group `default`. */
  readonly suffix: string;
  /** Labels of the group's nodes, beside those of the cloud. */
  readonly nodes: Readonly<Record<string, string>>;
}

/**
 * Each group has agents of its own, by its name alone: groups may be added, removed, put in another order, and come to
 * differ, and the agents of the others stay as they are.
 */
export function agentsOf(group: string): GroupAgents {
  return { suffix: group === 'default' ? '' : `-${group}`, nodes: { [nodeGroupLabel]: group } };
}

/**
 * What is to be said of claimed nodes whose group is no more: guests may run there, so that their agents stay, and nothing
 * of them is changed any more.
 */
export function strayNodes(claims: readonly NodeClaim[], nodes: readonly StoredObject[]): string | undefined {
  const stray = nodes.flatMap(({ metadata: { name, labels = {} } }) => {
    const alike = claims.filter((claim) => claim.labels[computeLabel] === labels[computeLabel]);
    const groups = alike.map((claim) => claim.labels[nodeGroupLabel] ?? '');
    const { [nodeGroupLabel]: group = 'default' } = labels;
    return groups.length === 0 || groups.includes(group) ? [] : [{ name, group, groups }];
  });
  const [first] = stray;
  if (first === undefined) return undefined;
  const names = stray.map(({ name, group }) => `${name} (${group})`).join(', ');
  return (
    `claimed nodes belong to groups that nodeGroups does not have: ${names}; their agents are not changed. ` +
    `Add the group again, or move each node to one of ${first.groups.join(', ')}: ` +
    `kubectl label node ${first.name} ${nodeGroupLabel}=${first.groups[0]} --overwrite`
  );
}
