import { digest } from '../../engine/names/digest.ts';
import { annotations, cloudLabel, cloudOf } from '../../engine/names/names.ts';
import { nodesToForget } from '../../engine/objects/forgetting-job.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { type RoleGroups, roleLabel } from '../../engine/vocabulary/node-groups.ts';
import type { StorageGroup } from './groups.ts';
import type { HeldGroup } from './held-group.ts';
import type { Swift, SwiftSpec } from './kind.ts';

/** The role of nodes with devices of their own. */
const role = 'storage';

/** The nodes that groups with devices of nodes ask for, beside what a cloud has these nodes for otherwise. */
export function claimedNodes({
  storageGroups = [],
  components,
}: Pick<SwiftSpec, 'storageGroups' | 'components'>): RoleGroups {
  const byDefault = components?.storage?.tolerations;
  return {
    role: { name: role },
    groups: storageGroups
      .filter(({ hostPath }) => hostPath !== undefined)
      .map(({ name, nodeSelector, tolerations = byDefault }) => ({
        name,
        ...(nodeSelector && { nodeSelector }),
        ...(tolerations && { tolerations }),
      })),
  };
}

/** A node with devices of its own. */
export interface HostNode {
  readonly node: string;
  /** The component that runs there, by which rings name it. */
  readonly component: string;
  /** It is to have data; or they move away from it; or it is gone for ever, and they with it. */
  readonly state: 'wanted' | 'leaving' | 'lost';
}

/** What is known of the nodes of groups. */
interface Known {
  readonly group: StorageGroup;
  readonly isStated: boolean;
  /** Those of the group, and of all others, as they are remembered. */
  readonly held: readonly string[];
  readonly ofOthers: readonly string[];
  /** Whether the rings have had devices of a node. */
  readonly isInRings: (node: string) => boolean;
  /** Whether it is known that they have none. */
  readonly isOffRings: (node: string) => boolean;
}

/**
 * The nodes of a group, of which `held` were so before. It wants those that the cloud has claimed for it and that have the
 * labels that it asks for, and none that another group holds still. Where that is remembered no more, those in the rings that are
 * claimed for it count as held. Of one that has lost the cloud's labels, or its Node object, nothing is known, and it stays: while
 * rings have its devices, somebody has to say that it is gone for ever.
 */
export function hostNodesOf(
  context: Context<Swift>,
  { group, isStated, held, ofOthers, isInRings, isOffRings }: Known,
): HostNode[] {
  const { surroundings } = context;
  const claimed = surroundings.nodes();
  const gone = goneForEver(context);
  const stateOf = (node: string): HostNode['state'] => {
    if (gone.includes(node) || (!surroundings.isNode(node) && isOffRings(node))) return 'lost';
    const labels = claimed.find((one) => one.name === node)?.labels;
    return isStated && (labels === undefined || isAskedFor(group, labels)) ? 'wanted' : 'leaving';
  };
  const more = claimed.filter(
    ({ name, labels }) =>
      labels[storageLabel] === group.name &&
      !ofOthers.includes(name) &&
      ((isStated && isAskedFor(group, labels)) || isInRings(name)),
  );
  return [...new Set([...held, ...more.map(({ name }) => name)])]
    .sort((one, other) => (one < other ? -1 : 1))
    .map((node) => ({ node, component: `storage-${idOf(node)}`, state: stateOf(node) }));
}

/** Nodes that have no Node object, and of which somebody has said that they do not come back. */
function goneForEver(context: Context<Swift>): readonly string[] {
  const { hosts, problem } = nodesToForget(context);
  return problem === undefined ? hosts : [];
}

type Labels = Readonly<Record<string, string>>;
const storageLabel = roleLabel(role);
const isAskedFor = ({ nodeSelector = {} }: StorageGroup, labels: Labels): boolean =>
  Object.entries(nodeSelector).every(([key, value]) => labels[key] === value);

/** What keeps nodes from being of the group that asks for them, or from leaving it, with the way out. */
export function labelWords(
  context: Context<Swift>,
  stated: readonly StorageGroup[],
  held: readonly HeldGroup[],
  isOffRings: Known['isOffRings'],
): string[] {
  const { resource, surroundings } = context;
  const claimed = surroundings.nodes();
  const holderOf = (node: string) => held.find(({ nodes }) => nodes?.includes(node))?.name;
  const hosts = stated.filter(({ hostPath }) => hostPath !== undefined);
  const known = claimed.flatMap(({ name, labels }) => {
    const holder = holderOf(name);
    const is = labels[storageLabel];
    const group = hosts.find((one) => isAskedFor(one, labels));
    const wanted = hosts.some((one) => one.name === holder && isAskedFor(one, labels)) ? holder : group?.name;
    if (is === undefined || wanted === undefined || is === wanted) return [];
    const has = `node ${name} has label ${storageLabel}=${is}, and spec.storageGroups[name=${wanted}] asks for it`;
    if (holder === wanted) return [`${has}: kubectl label node ${name} --overwrite ${storageLabel}=${wanted}`];
    return [
      holder === undefined
        ? `${has}: kubectl label node ${name} ${storageLabel}-`
        : `${has}: it is of group ${holder} until everything has moved away; state ${holder} again, or add other devices first`,
    ];
  });
  const cloud = `${cloudLabel}=${cloudOf(resource)}`;
  const all = held.flatMap(({ name, nodes = [] }) => nodes.map((node) => ({ node, group: name })));
  const forgotten = goneForEver(context);
  const gone = all
    .filter(({ node }) => !surroundings.isNode(node) && !forgotten.includes(node) && !isOffRings(node))
    .map(
      ({ node, group }) =>
        `node ${node} of group ${group} is no node of the cluster any more, and its devices stay in the rings; if it does not come back, annotate the control plane with ${annotations.forgetNodes}=${node}`,
    );
  const unknown = all
    // Who may not see nodes has claimed none.
    .filter(({ node }) => claimed.length > 0 && surroundings.isNode(node) && !claimed.some(({ name }) => name === node))
    .map(
      ({ node, group }) =>
        `node ${node} has lost label ${cloudLabel} and stays in group ${group}: kubectl label node ${node} ${cloud} ${storageLabel}=${group}; without the labels of nodeSelector it leaves then`,
    );
  return [...known, ...unknown, ...gone];
}

/** What stands for a node in names, which have no room for its own. It begins with a digit: no group is called so. */
export const idOf = (node: string): string => `0${digest(node).slice(0, 6)}`;
