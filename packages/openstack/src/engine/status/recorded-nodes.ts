import type { ClaimedNode } from '../../api/status.ts';

/** Phase of a node in a resource's status whose agents have been up; else it is claimed, or lost. */
export const joinedNode = 'Joined';

/**
 * Nodes that a status lists one by one. For each field of each of them the API server notes who manages it: with
 * thousands they would come near the 1.5 MiB that etcd takes for an object.
 */
export const mostListed = 200;

/** What a status says of nodes. */
export interface RecordedNodes {
  readonly nodes?: readonly ClaimedNode[];
  readonly furtherNodes?: Readonly<Record<string, string>>;
}

/** By the status of a cached object, which is frozen: each of thousands of nodes is looked for in it. */
const known = new WeakMap<object, readonly ClaimedNode[]>();

/** All nodes that the status of a resource records: those that it lists, and those of which it has but the names. */
export function recordedIn(status: unknown): readonly ClaimedNode[] {
  const recorded: RecordedNodes = status ?? {};
  const { nodes = [], furtherNodes } = recorded;
  if (furtherNodes === undefined) return nodes;
  const found = known.get(recorded);
  if (found !== undefined) return found;
  const further = Object.entries(furtherNodes).flatMap(([key, names]) => {
    const [group = '', phase = ''] = key.split('/');
    return names.split(' ').map((name) => ({ name, ...(group === '' ? {} : { group }), phase }));
  });
  const all = [...nodes, ...further];
  known.set(recorded, all);
  return all;
}

/**
 * What the status of a resource says of its nodes. Of more than `mostListed` it lists those first that are to be looked
 * at: in maintenance, lost, not joined. All that are in maintenance are listed, as more than a name is known of them.
 */
export function recordOf(all: readonly ClaimedNode[]): RecordedNodes {
  if (all.length === 0) return {};
  const byName = [...all].sort((one, other) => (one.name < other.name ? -1 : 1));
  if (all.length <= mostListed) return { nodes: byName };
  const rank = ({ maintenance, phase }: ClaimedNode) => (maintenance !== undefined ? 0 : phase === joinedNode ? 2 : 1);
  const ranked = [...byName].sort((one, other) => rank(one) - rank(other));
  const inMaintenance = all.filter(({ maintenance }) => maintenance !== undefined).length;
  const listed = new Set(ranked.slice(0, Math.max(mostListed, inMaintenance)));
  const further = Map.groupBy(
    byName.filter((node) => !listed.has(node)),
    ({ group = '', phase = '' }) => `${group}/${phase}`,
  );
  return {
    nodes: byName.filter((node) => listed.has(node)),
    furtherNodes: Object.fromEntries([...further].map(([key, some]) => [key, some.map(({ name }) => name).join(' ')])),
  };
}
