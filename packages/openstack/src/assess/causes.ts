import { Node, type StoredObject } from '@openstack-operator/kube';
import { type NodeState, reasonsOf } from '../engine/status/agents.ts';
import { conditionOf } from '../engine/status/conditions.ts';
import { podWords, refusalWords } from '../engine/status/pod-words.ts';
import type { Reason } from '../engine/status/reasons.ts';
import type { Cause } from '../engine/vocabulary/step.ts';
import type { Observed } from './observed.ts';
import { podsOf } from './pods-of.ts';

/** Of a workload whose pods do not start no more pods are looked at. */
const mostPods = 10;

/**
 * Why a workload or Job is not as desired: the API server refuses its pods, or what each of them says last.
 * @param reason that of the workload
 */
export function podCauses(owner: StoredObject, observed: Observed, reason: Reason): readonly Cause[] {
  const refusal = refusalWords(owner, observed.eventWords);
  if (refusal !== undefined) return [{ reason, message: refusal, causes: [] }];
  const causes: Cause[] = [];
  for (const pod of podsOf(owner, observed)) {
    const words = nodeWords(pod, observed) ?? podWords(pod, observed.eventWords);
    if (words === undefined) continue;
    const message = `${wantedNode(owner, words)}${words}`;
    const { name, namespace = '' } = pod.metadata;
    causes.push({ object: { kind: 'Pod', namespace, name }, reason, message, causes: [] });
    if (causes.length === mostPods) break;
  }
  return causes;
}

/** That the node of a pod is not Ready: nobody hears of its containers then. */
function nodeWords(pod: StoredObject, { nodes, observe }: Observed): string | undefined {
  const { nodeName } = (pod['spec'] ?? {}) as { readonly nodeName?: string };
  if (nodes === undefined || nodeName === undefined) return undefined;
  const node = observe(Node, { name: nodeName });
  const ready = node && conditionOf(node, 'Ready');
  return ready === undefined || ready.status === 'True'
    ? undefined
    : `its node ${nodeName} is not Ready: ${ready.message || ready.reason}`;
}

/** The labels of the nodes that a workload is for, where the scheduler says that nodes are not these: it does not name them. */
function wantedNode(owner: StoredObject, words: string): string {
  const { template } = (owner['spec'] ?? {}) as {
    readonly template?: { readonly spec?: { readonly nodeSelector?: Readonly<Record<string, string>> } };
  };
  const labels = Object.entries(template?.spec?.nodeSelector ?? {}).map(([name, value]) => `${name}=${value}`);
  const isNone = labels.length > 0 && words.includes("didn't match Pod's node affinity/selector");
  return isNone ? `it needs a node with ${labels.join(', ')}: ` : '';
}

/** Why agents are not up, by node. */
export function nodeCauses(states: readonly NodeState[]): readonly Cause[] {
  return states
    .filter(({ state }) => state !== 'up')
    .map(({ name, state, why }) => ({
      object: { kind: 'Node', name },
      reason: state === 'down' ? 'Degraded' : 'NotAvailable',
      message: why,
      causes: [],
    }));
}

/** What is said of something in one sentence: its own words, and those of what explains it most. */
export function sentenceOf({ message, causes }: Pick<Cause, 'message' | 'causes'>): string {
  const nodes = causes.flatMap(({ object, message: why }): NodeState[] =>
    object?.kind === 'Node' ? [{ name: object.name, state: 'down', why }] : [],
  );
  if (nodes.length > 0) return `${message}; ${reasonsOf(nodes)}`;
  const [first] = causes;
  if (first === undefined) return message;
  const { object } = first;
  return `${message}; ${object?.kind === 'Pod' ? `pod ${object.name}: ` : ''}${sentenceOf(first)}`;
}
