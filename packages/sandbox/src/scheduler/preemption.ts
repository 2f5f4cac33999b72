import { parseTimestamp } from '@openstack-operator/kube';
import type { Pod, PodDisruptionBudget, Stored } from '../cluster/kinds.ts';
import { type FitWorld, misfits, type NodeLoad } from '../cluster/node-fit.ts';
import { selectorMatches } from '../resources/metadata.ts';

/** What preemption comes to for a pod that fits nowhere. */
export interface Preemption {
  /** The node that the pod is nominated for from now on; undefined: none. */
  readonly node: string | undefined;
  /** Pods of lower priority that have to go from it. */
  readonly victims: readonly Stored<Pod>[];
  /** Why nobody has to go, in the scheduler's words. */
  readonly reason?: string;
}

/** A node that would take the pod, and what that costs. */
interface Candidate {
  readonly node: string;
  /** Those that matter most first. */
  readonly victims: readonly Stored<Pod>[];
  /** How many of them a disruption budget would keep. */
  readonly violations: number;
}

/**
 * Looks for pods of lower priority that make room for one that fits nowhere
 * (pkg/scheduler/framework/plugins/defaultpreemption).
 */
export function preempt(
  pod: Stored<Pod>,
  world: FitWorld,
  budgets: readonly Stored<PodDisruptionBudget>[],
): Preemption {
  const nominated = pod.status?.nominatedNodeName;
  const stays = { node: nominated, victims: [] };
  if (pod.spec.preemptionPolicy === 'Never') return { ...stays, reason: 'not eligible due to preemptionPolicy=Never.' };
  const home = world.nodes.find(({ node }) => node.metadata.name === nominated);
  if (home?.pods.some((other) => priorityOf(other) < priorityOf(pod) && isPreempted(other))) {
    return { ...stays, reason: 'not eligible due to a terminating pod on the nominated node.' };
  }
  const reasons: string[] = [];
  const candidates: Candidate[] = [];
  for (const load of world.nodes) {
    const found = candidateOn(pod, load, world, budgets);
    if (Array.isArray(found)) reasons.push(...found);
    else candidates.push(found);
  }
  const [best] = candidates.sort(byCost);
  return best ?? { node: undefined, victims: [], reason: nodesUnavailable(world.nodes.length, reasons) };
}

/** `0/3 nodes are available: 1 Insufficient cpu, 2 Too many pods.`, from the reasons of all nodes. */
export function nodesUnavailable(nodes: number, reasons: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const told = [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${nodes} nodes are available: ${told.join(', ')}.`;
}

/** The priority that admission gave a pod. */
export function priorityOf({ spec }: Stored<Pod>): number {
  return spec.priority ?? 0;
}

/** The fewest that have to go from a node, or why that would not help. */
function candidateOn(
  pod: Stored<Pod>,
  load: NodeLoad,
  world: FitWorld,
  budgets: readonly Stored<PodDisruptionBudget>[],
): Candidate | string[] {
  const reasonsWith = (pods: readonly Stored<Pod>[]) => {
    const changed = { ...load, pods };
    return misfits(pod, changed, { ...world, nodes: world.nodes.map((other) => (other === load ? changed : other)) });
  };
  if (reasonsWith([]).length > 0) return ['Preemption is not helpful for scheduling'];
  const lower = load.pods.filter((other) => priorityOf(other) < priorityOf(pod)).sort(byImportance);
  if (lower.length === 0) return ['No preemption victims found for incoming pod'];
  let staying = load.pods.filter((other) => !lower.includes(other));
  const reasons = reasonsWith(staying);
  if (reasons.length > 0) return reasons;
  const kept = keptByBudgets(lower, budgets);
  const victims: Stored<Pod>[] = [];
  for (const other of [...kept, ...lower.filter((one) => !kept.includes(one))]) {
    if (reasonsWith([...staying, other]).length === 0) staying = [...staying, other];
    else victims.push(other);
  }
  const violations = victims.filter((victim) => kept.includes(victim)).length;
  return { node: load.node.metadata.name, victims: victims.sort(byImportance), violations };
}

/** Those whose end a disruption budget does not allow, when they go in this order. */
function keptByBudgets(
  pods: readonly Stored<Pod>[],
  budgets: readonly Stored<PodDisruptionBudget>[],
): readonly Stored<Pod>[] {
  const allowed = new Map(budgets.map((budget) => [budget, budget.status?.disruptionsAllowed ?? 0]));
  return pods.filter(({ metadata: { name, namespace, labels = {} } }) => {
    const guards = budgets.filter(
      (budget) =>
        budget.metadata.namespace === namespace &&
        // For the scheduler an empty selector is one of nobody, though for the budget's controller it is one of all.
        !isEmpty(budget.spec.selector) &&
        selectorMatches(budget.spec.selector, labels) &&
        budget.status?.disruptedPods?.[name] === undefined,
    );
    for (const budget of guards) allowed.set(budget, (allowed.get(budget) ?? 0) - 1);
    return guards.some((budget) => (allowed.get(budget) ?? 0) < 0);
  });
}

function isEmpty({ matchLabels = {}, matchExpressions = [] }: PodDisruptionBudget['spec']['selector'] = {}): boolean {
  return Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
}

/** Those that matter most first: by priority, then by how long they have run. */
function byImportance(a: Stored<Pod>, b: Stored<Pod>): number {
  return priorityOf(b) - priorityOf(a) || startOf(a) - startOf(b);
}

function byCost(a: Candidate, b: Candidate): number {
  const highest = ({ victims: [first] }: Candidate) => (first ? priorityOf(first) : 0);
  // Many of a negative priority are worse than few: each counts, whatever its priority.
  const sum = ({ victims }: Candidate) => victims.reduce((total, victim) => total + priorityOf(victim) + 2 ** 31, 0);
  const earliest = (one: Candidate) =>
    Math.min(...one.victims.filter((victim) => priorityOf(victim) === highest(one)).map(startOf));
  return (
    a.violations - b.violations ||
    highest(a) - highest(b) ||
    sum(a) - sum(b) ||
    a.victims.length - b.victims.length ||
    earliest(b) - earliest(a) ||
    (a.node < b.node ? -1 : 1)
  );
}

/** Milliseconds; one that has not started yet is the youngest. */
function startOf({ status }: Stored<Pod>): number {
  return status?.startTime === undefined ? Number.MAX_SAFE_INTEGER : parseTimestamp(status.startTime);
}

function isPreempted({ metadata, status }: Stored<Pod>): boolean {
  return (
    metadata.deletionTimestamp !== undefined &&
    status?.conditions?.some(
      ({ type, reason }) => type === 'DisruptionTarget' && reason === 'PreemptionByScheduler',
    ) === true
  );
}
