import type { INodeSelectorTerm, IPodAffinityTerm } from 'kubernetes-models/v1';
import { selectorMatches } from '../resources/metadata.ts';
import { quantityNumber } from '../resources/quantity.ts';
import { type Node, PersistentVolume, PersistentVolumeClaim, type Pod, type Stored } from './kinds.ts';
import type { ObjectReader } from './object-source.ts';

/** A node with the pods that are bound to it. */
export interface NodeLoad {
  readonly node: Stored<Node>;
  readonly pods: readonly Stored<Pod>[];
}

/** What a filter may look at. */
export interface FitWorld {
  readonly nodes: readonly NodeLoad[];
  readonly objects: ObjectReader;
}

/** Why a pod does not fit on a node, in the scheduler's words; empty when it fits. */
export function misfits(pod: Stored<Pod>, load: NodeLoad, world: FitWorld): string[] {
  for (const filter of FILTERS) {
    const reasons = filter(pod, load, world);
    if (reasons.length > 0) return reasons;
  }
  return [];
}

type Filter = (pod: Stored<Pod>, load: NodeLoad, world: FitWorld) => string[];

const unschedulable: Filter = (pod, { node }) => {
  const taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
  return node.spec.unschedulable && !tolerates(pod, taint) ? ['node(s) were unschedulable'] : [];
};

const taints: Filter = (pod, { node }) => {
  const hard = (node.spec.taints ?? []).filter(({ effect }) => effect !== 'PreferNoSchedule');
  return hard.every((taint) => tolerates(pod, taint)) ? [] : ['node(s) had untolerated taint(s)'];
};

const affinity: Filter = (pod, { node }) =>
  nodeSelected(pod, node) ? [] : ["node(s) didn't match Pod's node affinity/selector"];

const ports: Filter = (pod, { pods }) => {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return [];
  const taken = pods.flatMap(hostPorts);
  return wanted.some((port) => taken.includes(port))
    ? ["node(s) didn't have free ports for the requested pod ports"]
    : [];
};

const resources: Filter = (pod, { node, pods }) => {
  const allocatable = node.status?.allocatable ?? {};
  const reasons = pods.length + 1 > quantityNumber(allocatable['pods'] ?? 110) ? ['Too many pods'] : [];
  const used = requestsOfAll(pods);
  for (const [name, wanted] of Object.entries(requestsOf(pod))) {
    if (wanted === 0) continue;
    const offered = quantityNumber(allocatable[name] ?? 0);
    if ((used[name] ?? 0) + wanted > offered) reasons.push(`Insufficient ${name}`);
  }
  return reasons;
};

const volumes: Filter = (pod, { node }, { objects }) => {
  for (const { persistentVolumeClaim } of pod.spec.volumes ?? []) {
    if (!persistentVolumeClaim) continue;
    const claim = objects.get(PersistentVolumeClaim, `${pod.metadata.namespace}/${persistentVolumeClaim.claimName}`);
    const volume = claim?.spec.volumeName ? objects.get(PersistentVolume, claim.spec.volumeName) : undefined;
    const terms = volume?.spec.nodeAffinity?.required?.nodeSelectorTerms;
    if (terms && !terms.some((term) => termMatches(term, node))) {
      return ["node(s) didn't match PersistentVolume's node affinity"];
    }
  }
  return [];
};

const topologySpread: Filter = (pod, { node }, { nodes }) => {
  for (const { maxSkew, topologyKey, whenUnsatisfiable, labelSelector } of pod.spec.topologySpreadConstraints ?? []) {
    if (whenUnsatisfiable !== 'DoNotSchedule') continue;
    const domain = node.metadata.labels?.[topologyKey];
    if (domain === undefined) return ["node(s) didn't match pod topology spread constraints (missing required label)"];
    const counts = new Map<string, number>();
    for (const { node: other, pods } of nodes) {
      const value = other.metadata.labels?.[topologyKey];
      if (value === undefined || !nodeSelected(pod, other)) continue;
      const matching = pods.filter(
        (candidate) => sameNamespace(pod, candidate) && matches(labelSelector, candidate),
      ).length;
      counts.set(value, (counts.get(value) ?? 0) + matching);
    }
    const self = matches(labelSelector, pod) ? 1 : 0;
    if ((counts.get(domain) ?? 0) + self - Math.min(...counts.values()) > maxSkew) {
      return ["node(s) didn't match pod topology spread constraints"];
    }
  }
  return [];
};

const podAffinity: Filter = (pod, { node }, { nodes }) => {
  const { podAffinity: wanted, podAntiAffinity: unwanted } = pod.spec.affinity ?? {};
  const near = (owner: Stored<Pod>, term: IPodAffinityTerm, candidate: Stored<Pod>, home: Stored<Node>) =>
    sharesDomain(term.topologyKey, node, home) && termSelects(owner, term, candidate);
  const all = wanted || unwanted ? everyPod(nodes) : [];
  for (const term of wanted?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
    const found = all.some(({ home, candidate }) => near(pod, term, candidate, home));
    // The first pod of a group that wants to be together may start anywhere.
    const first = termSelects(pod, term, pod) && !all.some(({ candidate }) => termSelects(pod, term, candidate));
    if (!found && !first) return ["node(s) didn't match pod affinity rules"];
  }
  for (const term of unwanted?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
    if (all.some(({ home, candidate }) => near(pod, term, candidate, home))) {
      return ["node(s) didn't match pod anti-affinity rules"];
    }
  }
  const objects = podsThatKeepApart(nodes).some(({ home, candidate }) =>
    antiAffinityOf(candidate).some((term) => near(candidate, term, pod, home)),
  );
  return objects ? ["node(s) didn't satisfy existing pods anti-affinity rules"] : [];
};

interface Resident {
  readonly home: Stored<Node>;
  readonly candidate: Stored<Pod>;
}

/** Once for each list of nodes. */
const everyPod = remembered((nodes: readonly NodeLoad[]): Resident[] =>
  nodes.flatMap(({ node: home, pods }) => pods.map((candidate) => ({ home, candidate }))),
);
const keepApart = remembered((pods: readonly Stored<Pod>[]) => pods.filter((pod) => antiAffinityOf(pod).length > 0));
const podsThatKeepApart = remembered((nodes: readonly NodeLoad[]): Resident[] =>
  nodes.flatMap(({ node: home, pods }) => keepApart(pods).map((candidate) => ({ home, candidate }))),
);

function antiAffinityOf({ spec }: Stored<Pod>): readonly IPodAffinityTerm[] {
  return spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}

const FILTERS: readonly Filter[] = [
  unschedulable,
  taints,
  affinity,
  ports,
  resources,
  volumes,
  topologySpread,
  podAffinity,
];

/** How a pod weighs nodes. Lower is better: load, taints one would rather avoid, and soft rules that are not met. */
export function burdenOf(pod: Stored<Pod>, nodes: readonly NodeLoad[]): (load: NodeLoad) => number {
  const { nodeAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  const near = (podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
    ({ weight, podAffinityTerm }) => {
      const inDomain = selectedIn(pod, podAffinityTerm, nodes);
      return (node: Stored<Node>) => weight * inDomain(node);
    },
  );
  return ({ node, pods }) => {
    const soft = (node.spec.taints ?? []).filter(
      (taint) => taint.effect === 'PreferNoSchedule' && !tolerates(pod, taint),
    );
    let score = pods.length + soft.length * 100;
    for (const { weight, preference } of nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []) {
      if (!termMatches(preference, node)) score += weight;
    }
    for (const weigh of near) score += weigh(node);
    for (const { labelSelector } of pod.spec.topologySpreadConstraints ?? []) {
      score += 10 * pods.filter((other) => sameNamespace(pod, other) && matches(labelSelector, other)).length;
    }
    return score;
  };
}

/** How many pods that a term selects are in the domain of a node; a node without its label is in none. */
function selectedIn(pod: Stored<Pod>, term: IPodAffinityTerm, nodes: readonly NodeLoad[]) {
  const domainOf = ({ metadata }: Stored<Node>) => metadata.labels?.[term.topologyKey];
  const counts = new Map<string | undefined, number>();
  for (const { node, pods } of nodes) {
    const selected = pods.filter((other) => termSelects(pod, term, other)).length;
    counts.set(domainOf(node), (counts.get(domainOf(node)) ?? 0) + selected);
  }
  counts.delete(undefined);
  return (node: Stored<Node>): number => counts.get(domainOf(node)) ?? 0;
}

/** nodeSelector and required node affinity. */
export function nodeSelected(pod: Stored<Pod>, node: Stored<Node>): boolean {
  const labels = node.metadata.labels ?? {};
  if (!Object.entries(pod.spec.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)) return false;
  const terms = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return !terms || terms.some((term) => termMatches(term, node));
}

/** Whether a pod bears a taint. */
export function tolerates(
  pod: { readonly spec: { readonly tolerations?: readonly Toleration[] } },
  taint: { readonly key: string; readonly value?: string; readonly effect: string },
): boolean {
  return (pod.spec.tolerations ?? []).some(
    ({ key, operator = 'Equal', value = '', effect }) =>
      (!effect || effect === taint.effect) &&
      (!key || key === taint.key) &&
      (operator === 'Exists' || value === (taint.value ?? '')),
  );
}

/** What a toleration is judged by. */
export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

function termMatches({ matchExpressions = [], matchFields = [] }: INodeSelectorTerm, node: Stored<Node>): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const holds = (value: string | undefined, operator: string, values: readonly string[]) => {
    switch (operator) {
      case 'In':
        return value !== undefined && values.includes(value);
      case 'NotIn':
        return value === undefined || !values.includes(value);
      case 'Exists':
        return value !== undefined;
      case 'DoesNotExist':
        return value === undefined;
      case 'Gt':
        return Number(value) > Number(values[0]);
      default:
        return Number(value) < Number(values[0]);
    }
  };
  return (
    matchExpressions.every(({ key, operator, values = [] }) => holds(node.metadata.labels?.[key], operator, values)) &&
    matchFields.every(({ operator, values = [] }) => holds(node.metadata.name, operator, values))
  );
}

function termSelects(owner: Stored<Pod>, term: IPodAffinityTerm, candidate: Stored<Pod>): boolean {
  const { namespaces = [], labelSelector } = term;
  const namespace = candidate.metadata.namespace ?? '';
  const inNamespace =
    namespaces.length > 0
      ? namespaces.includes(namespace)
      : term.namespaceSelector !== undefined || sameNamespace(owner, candidate);
  return inNamespace && matches(labelSelector, candidate);
}

function sharesDomain(topologyKey: string, a: Stored<Node>, b: Stored<Node>): boolean {
  const domain = a.metadata.labels?.[topologyKey];
  return domain !== undefined && domain === b.metadata.labels?.[topologyKey];
}

function matches(selector: Parameters<typeof selectorMatches>[0], pod: Stored<Pod>): boolean {
  return selectorMatches(selector, pod.metadata.labels ?? {});
}

function sameNamespace(a: Stored<Pod>, b: Stored<Pod>): boolean {
  return a.metadata.namespace === b.metadata.namespace;
}

function hostPorts(pod: Stored<Pod>): string[] {
  const containers = [
    ...(pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy),
    ...pod.spec.containers,
  ];
  return containers.flatMap(({ ports: list = [] }) =>
    list.flatMap(({ hostPort, containerPort, protocol = 'TCP' }) => {
      const port = hostPort || (pod.spec.hostNetwork ? containerPort : 0);
      return port ? [`${protocol}:${port}`] : [];
    }),
  );
}

const requestsOfAll = remembered((pods: readonly Stored<Pod>[]) => {
  const sums: Record<string, number> = {};
  for (const pod of pods)
    for (const [name, value] of Object.entries(requestsOf(pod))) sums[name] = (sums[name] ?? 0) + value;
  return sums;
});

/** What a pod asks of a node: all its containers together, or its greediest init container. */
const requestsOf = remembered((pod: Stored<Pod>): Readonly<Record<string, number>> => {
  const sums: Record<string, number> = {};
  for (const { resources: { requests = {} } = {} } of pod.spec.containers) {
    for (const [name, amount] of Object.entries(requests)) sums[name] = (sums[name] ?? 0) + quantityNumber(amount);
  }
  for (const { resources: { requests = {} } = {}, restartPolicy } of pod.spec.initContainers ?? []) {
    for (const [name, amount] of Object.entries(requests)) {
      const value = quantityNumber(amount);
      sums[name] = restartPolicy === 'Always' ? (sums[name] ?? 0) + value : Math.max(sums[name] ?? 0, value);
    }
  }
  return sums;
});

/** What has been worked out of something that never changes is worked out once. */
function remembered<In extends object, Out>(work: (of: In) => Out): (of: In) => Out {
  const known = new WeakMap<In, { readonly out: Out }>();
  return (of) => {
    let found = known.get(of);
    if (!found) known.set(of, (found = { out: work(of) }));
    return found.out;
  };
}
