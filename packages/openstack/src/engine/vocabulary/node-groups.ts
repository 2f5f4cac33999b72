import type { KubeObject, StoredObject } from '@openstack-operator/kube';
import { labelMistakes } from '../compose/spec-mistakes.ts';
import { canonical } from '../names/digest.ts';
import { claimantOf, cleaningLabel, cloudLabel, cloudOf, computeLabel, nodeGroupLabel } from '../names/names.ts';
import { wellKnownLabels } from '../names/well-known.ts';
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

/** A role that nodes may have beside others: of those that Swift, or Cinder with LVM, keeps its data on. */
export interface NodeRole {
  /** Part of the label of its nodes: `storage`. */
  readonly name: string;
  /** Roles that no node has together with it; `compute` is that of the nodes that run guests. */
  readonly apartFrom?: readonly string[];
}

/** A role, with the groups of nodes that have it. */
export interface RoleGroups {
  readonly role: NodeRole;
  readonly groups: readonly ClaimedGroup[];
}

/** The label of the nodes of a role. */
export function roleLabel(role: string): string {
  return role === 'compute' ? computeLabel : wellKnownLabels.role.name.replace('<role>', role);
}

/** The node group that a claimed node is of; undefined for one that the cloud has for other roles alone. */
export function nodeGroupOf(labels: Readonly<Record<string, string>> = {}): string | undefined {
  const hasRole = Object.keys(labels).some((label) => label.startsWith(roleLabel('')));
  return labels[nodeGroupLabel] ?? (hasRole ? undefined : 'default');
}

/** Labels of a node that keep a role from it: its own, and those of roles that are apart from it. */
function apart(role: string, roles: readonly NodeRole[]): string[] {
  const { apartFrom = [] } = roles.find(({ name }) => name === role) ?? {};
  const others = roles.filter(({ apartFrom: from = [] }) => from.includes(role)).map(({ name }) => name);
  return [role, ...new Set([...apartFrom, ...others])].map(roleLabel);
}

/** The claims of roles, one for each group: on nodes that the cloud has already, as far as roles are not apart, and on others. */
export function roleClaims(
  resource: KubeObject,
  all: readonly RoleGroups[],
  { cleaner }: { cleaner: KubeObject },
): NodeClaim[] {
  const claimant = claimantOf(resource);
  const roles = all.map(({ role }) => role);
  return all.flatMap(({ role: { name: role }, groups }) =>
    groups.map((group) => {
      const label = { [roleLabel(role)]: group.name };
      return {
        verb: 'claim',
        labels: { [cloudLabel]: cloudOf(resource), ...label },
        role,
        apartFrom: apart(role, roles),
        ...eligibilityOf(group),
        cleaning: { labels: { [cleaningLabel]: claimant, ...label }, daemonSet: cleaner },
      };
    }),
  );
}

function eligibilityOf({ nodeSelector = {}, replicas, tolerations = [] }: ClaimedGroup) {
  return {
    selector: nodeSelector,
    ...(replicas === undefined ? {} : { count: replicas }),
    ...(tolerations.length === 0 ? {} : { tolerations }),
  };
}

/**
 * The claims of a resource's cloud, one for each group; `compute` says whether guests run there, `cleaner` is the
 * DaemonSet that cleans nodes for it. `roles`: those that nodes of the cloud may have besides; a node that has such roles
 * alone may be taken as well.
 */
export function nodeClaims(
  resource: KubeObject,
  groups: readonly ClaimedGroup[],
  { compute, cleaner, roles = [] }: { compute: boolean; cleaner: KubeObject; roles?: readonly NodeRole[] },
): NodeClaim[] {
  const cloud = cloudOf(resource);
  const claimant = claimantOf(resource);
  return groups.map((group) => ({
    verb: 'claim',
    labels: { [cloudLabel]: cloud, [nodeGroupLabel]: group.name, ...(compute ? { [computeLabel]: 'true' } : {}) },
    ...(roles.length === 0 ? {} : { apartFrom: [nodeGroupLabel, ...(compute ? apart('compute', roles) : [])] }),
    ...eligibilityOf(group),
    cleaning: { labels: { [cleaningLabel]: claimant, [nodeGroupLabel]: group.name }, daemonSet: cleaner },
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
    const group = nodeGroupOf(labels);
    const alike = claims.filter(
      ({ role, labels: claimed }) => role === undefined && claimed[computeLabel] === labels[computeLabel],
    );
    const groups = alike.map((claim) => claim.labels[nodeGroupLabel] ?? '');
    return group === undefined || groups.length === 0 || groups.includes(group) ? [] : [{ name, group, groups }];
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
