import { digest } from '../../engine/names/digest.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { type RoleGroups, roleLabel } from '../../engine/vocabulary/node-groups.ts';
import type { StorageGroup } from './groups.ts';
import type { Swift, SwiftSpec } from './kind.ts';

/** The role of nodes with devices of their own. */
const role = 'storage';

/** The nodes that groups with devices of nodes ask for, beside what a cloud has these nodes for otherwise. */
export function claimedNodes({ storageGroups = [] }: Pick<SwiftSpec, 'storageGroups'>): RoleGroups {
  return {
    role: { name: role },
    groups: storageGroups.filter(({ hostPath }) => hostPath !== undefined).map(claimedOf),
  };
}

const claimedOf = ({ name, nodeSelector, tolerations }: StorageGroup) => ({
  name,
  ...(nodeSelector && { nodeSelector }),
  ...(tolerations && { tolerations }),
});

/** A node with devices of its own. */
export interface HostNode {
  readonly node: string;
  /** The component that runs there, by which rings name it. */
  readonly component: string;
  /** It is to have data; or they move away from it; or it is gone, and they with it. */
  readonly state: 'wanted' | 'leaving' | 'lost';
}

/**
 * The nodes of a group, of which `held` were so before. It wants those that the cloud has claimed for it and that have the
 * labels that it asks for. Of one that has lost the cloud's labels nothing is known, and it stays; one whose Node object is
 * deleted is lost.
 */
export function hostNodesOf(
  { surroundings }: Context<Swift>,
  { group, held, isStated }: { group: StorageGroup; held: readonly string[]; isStated: boolean },
): HostNode[] {
  const { name, nodeSelector = {} } = group;
  const claimed = surroundings.nodes();
  const isIts = (labels: Readonly<Record<string, string>>) =>
    labels[roleLabel(role)] === name && Object.entries(nodeSelector).every(([key, value]) => labels[key] === value);
  const stateOf = (node: string): HostNode['state'] => {
    if (!surroundings.isNode(node)) return 'lost';
    const labels = claimed.find((one) => one.name === node)?.labels;
    return isStated && (labels === undefined || isIts(labels)) ? 'wanted' : 'leaving';
  };
  const more = isStated ? claimed.filter(({ labels }) => isIts(labels)).map((one) => one.name) : [];
  return [...new Set([...held, ...more])]
    .sort((one, other) => (one < other ? -1 : 1))
    .map((node) => ({ node, component: `storage-${idOf(node)}`, state: stateOf(node) }));
}

/** What stands for a node in names, which have no room for its own. It begins with a digit: no group is called so. */
export const idOf = (node: string): string => `0${digest(node).slice(0, 6)}`;
