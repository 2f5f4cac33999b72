import { parseTimestamp, type StoredObject } from '@openstack-operator/kube';
import { cloudLabel } from '../names/names.ts';
import { conditionOf } from './conditions.ts';

/** Milliseconds that an agent may be unready before its node is given up on: a start with an image to be pulled. */
export const agentGrace = 300_000;

/** What the state of the agents of a node follows from. */
export interface AgentsView {
  readonly nodes: readonly StoredObject[];
  /** The pods that a DaemonSet controls. */
  readonly podsOf: (daemonSet: StoredObject) => readonly StoredObject[];
  /** What keeps a pod from being ready, in words. */
  readonly words: (pod: StoredObject) => string | undefined;
  /** Why a DaemonSet gets no pods, in words. Default: nothing is known. */
  readonly refusal?: (daemonSet: StoredObject) => string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * How the agents of one node are: all are Ready; some are not, for less than `agentGrace`; or the node is not Ready
 * itself, an agent of it has not been Ready for longer than that, or the API server refuses its pod.
 */
export interface NodeState {
  readonly name: string;
  readonly state: 'up' | 'starting' | 'down';
  /** Why it is not up: what the node says, or the pod. Empty for one that is up. */
  readonly why: string;
  /** Milliseconds until a starting one is given up on; undefined when no pod tells. */
  readonly patience?: number;
}

/** Whether a DaemonSet runs agents on the nodes that a cloud has claimed. */
export function isNodeAgent(daemonSet: StoredObject): boolean {
  return podOf(daemonSet).nodeSelector?.[cloudLabel] !== undefined;
}

/** The nodes that the DaemonSets are for, with what has become of their agents, by name. */
export function nodeStates(daemonSets: readonly StoredObject[], view: AgentsView): NodeState[] {
  const pods = daemonSets.map((daemonSet) => {
    const alive = view.podsOf(daemonSet).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const ready = new Set(alive.filter(isReadyPod).map(nodeOf));
    return {
      daemonSet,
      ready,
      others: Map.groupBy(
        alive.filter((pod) => !isReadyPod(pod)),
        nodeOf,
      ),
    };
  });
  return view.nodes
    .flatMap((node): NodeState[] => {
      const { name } = node.metadata;
      const mine = pods.filter(({ daemonSet }) => isSelected(node, daemonSet));
      if (mine.length === 0) return [];
      const open = mine.flatMap(({ daemonSet, ready, others }): OpenState[] => {
        if (ready.has(name)) return [];
        const [pod] = others.get(name) ?? [];
        if (pod === undefined) {
          const title = `DaemonSet ${daemonSet.metadata.name}`;
          const refusal = view.refusal?.(daemonSet);
          return refusal === undefined
            ? [{ name, state: 'starting', why: `no pod of ${title} yet`, saysWhy: false }]
            : [{ name, state: 'down', why: `${title}: ${refusal}`, saysWhy: true }];
        }
        const patience = unreadySince(pod) + agentGrace - view.now;
        const words = view.words(pod);
        const why = `pod ${pod.metadata.name}: ${words ?? 'not ready'}`;
        const saysWhy = words !== undefined;
        return [
          patience > 0 ? { name, state: 'starting', why, saysWhy, patience } : { name, state: 'down', why, saysWhy },
        ];
      });
      const ready = conditionOf(node, 'Ready');
      if (ready !== undefined && ready.status !== 'True') {
        return [
          { name, state: 'down', why: `the node is not Ready: ${ready.message || ready.reason || ready.status}` },
        ];
      }
      // Agents wait for each other: the one that says why it is not up is the cause.
      const down = open.filter(({ state }) => state === 'down');
      const candidates = down.length > 0 ? down : open;
      const { saysWhy: _saysWhy, ...state } =
        candidates.find(({ saysWhy }) => saysWhy) ?? candidates[0] ?? upState(name);
      return [state];
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** By cached object: each of the thousands of pods of an agent is asked in every pass. */
const readyPods = new WeakMap<StoredObject, boolean>();

function isReadyPod(pod: StoredObject): boolean {
  const found = readyPods.get(pod) ?? conditionOf(pod, 'Ready')?.status === 'True';
  readyPods.set(pod, found);
  return found;
}

/** The state of one agent that is not up, and whether its words say why. */
type OpenState = NodeState & { readonly saysWhy: boolean };

const upState = (name: string): OpenState => ({ name, state: 'up', why: '', saysWhy: false });

/** `node-2: why; node-3: why`, the first few of them; those with the same reason together. */
export function reasonsOf(states: readonly NodeState[]): string {
  const open = states.filter(({ state }) => state !== 'up');
  const byWhy = Map.groupBy(open.slice(0, mostTold), ({ why }) => why);
  const told = [...byWhy].map(([why, alike]) => `${alike.map(({ name }) => name).join(', ')}: ${why}`);
  return [...told, ...(open.length > mostTold ? [`${open.length - mostTold} more`] : [])].join('; ');
}

/** A message is for people: a rack that is off is told by a few of its nodes. */
const mostTold = 3;

/** Since when a pod is not ready, in milliseconds since the epoch: its condition says so, or since it was made. */
export function unreadySince(pod: StoredObject): number {
  const since = conditionOf(pod, 'Ready')?.lastTransitionTime ?? pod.metadata.creationTimestamp;
  return since === undefined ? 0 : parseTimestamp(since);
}

/** The node of a pod, or the one that it was made for, by name; '' for one that may run anywhere. */
export function nodeOf(pod: StoredObject): string {
  const { nodeName, affinity } = (pod['spec'] ?? {}) as AgentPod & { readonly nodeName?: string };
  if (nodeName !== undefined) return nodeName;
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return terms.flatMap(({ matchFields = [] }) => matchFields.flatMap(({ values = [] }) => values))[0] ?? '';
}

/** Whether a node agent's DaemonSet is for a node, by its labels. */
export function isSelected(node: StoredObject, daemonSet: StoredObject): boolean {
  const { nodeSelector = {} } = podOf(daemonSet);
  const labels = node.metadata.labels ?? {};
  for (const key in nodeSelector) if (labels[key] !== nodeSelector[key]) return false;
  return true;
}

function podOf(daemonSet: StoredObject): AgentPod {
  return (daemonSet['spec'] as { template?: { spec?: AgentPod } } | undefined)?.template?.spec ?? {};
}

/** What of a node agent's pod says where it runs; the DaemonSet controller has named the node in its affinity. */
interface AgentPod {
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: {
    readonly nodeAffinity?: {
      readonly requiredDuringSchedulingIgnoredDuringExecution?: {
        readonly nodeSelectorTerms: readonly {
          readonly matchFields?: readonly { readonly values?: readonly string[] }[];
        }[];
      };
    };
  };
}
