import { keyOf } from '@openstack-operator/kube';
import type { IDaemonSetStatus } from 'kubernetes-models/apps/v1';
import { ControllerRevision, DaemonSet, Node, Pod, type Stored } from '../cluster/kinds.ts';
import { nodeSelected, type Toleration, tolerates } from '../cluster/node-fit.ts';
import { isAvailable, isReady, untilAvailable } from '../cluster/pod-state.ts';
import { deepEqual } from '../resources/json.ts';
import { claim } from './claim.ts';
import { type ControllerContext, type ControllerDefinition, orphansOf, ownerOf, wakeBy } from './controller.ts';
import { resolveIntOrPercent } from './int-or-percent.ts';
import type { OwnerIndex } from './owner-index.ts';
import { createPod, deletePod, podFromTemplate } from './pods.ts';
import { ensureRevision, REVISION_LABEL, trimRevisions } from './revisions.ts';

/** What daemon pods bear although their template does not say so (AddOrUpdateDaemonPodTolerations). */
const TOLERATIONS: readonly Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];
const NETWORK_UNAVAILABLE: Toleration = {
  key: 'node.kubernetes.io/network-unavailable',
  operator: 'Exists',
  effect: 'NoSchedule',
};

/** Pods that are made in one go (BurstReplicas); those that are made have it look again. */
const MOST_AT_ONCE = 250;

interface Sync {
  readonly set: Stored<DaemonSet>;
  readonly nodes: readonly Stored<Node>[];
  readonly byNode: ReadonlyMap<string, readonly Stored<Pod>[]>;
  readonly hash: string;
  readonly context: ControllerContext;
}

/** Keeps one pod on every node that a DaemonSet is for (pkg/controller/daemon). */
export function daemonSetController(
  pods: OwnerIndex<Pod>,
  revisions: OwnerIndex<ControllerRevision>,
): ControllerDefinition<DaemonSet> {
  return {
    name: 'daemonset-controller',
    kind: DaemonSet,
    wakes: [
      ownerOf(Pod, DaemonSet),
      orphansOf(Pod, DaemonSet),
      ownerOf(ControllerRevision, DaemonSet),
      wakeBy(Node, ({ object, old }, cluster) => {
        const same =
          object && old && deepEqual(object.spec, old.spec) && deepEqual(object.metadata.labels, old.metadata.labels);
        return same ? [] : cluster.list(DaemonSet).map(keyOf);
      }),
    ],
    reconcile(set, key, context) {
      if (set.metadata.deletionTimestamp) return;
      const owned = claim(Pod, set, set.spec.selector, pods, context);
      const revision = ensureRevision(set, revisions, REVISION_LABEL, context);
      const hash = revision.metadata.labels?.[REVISION_LABEL] ?? '';
      const sync: Sync = { set, nodes: context.cluster.list(Node), byNode: groupByNode(owned), hash, context };
      try {
        manage(sync);
        if (set.spec.updateStrategy?.type !== 'OnDelete') roll(sync);
      } finally {
        report(key, { ...sync, byNode: groupByNode(pods.owned(set)) });
      }
      const inUse = new Set([revision.metadata.name, ...owned.map((pod) => `${set.metadata.name}-${hashOf(pod)}`)]);
      trimRevisions(set, revisions, inUse, context);
    },
  };
}

/** The node that a pod is on, or is made for. */
function nodeOf({ spec }: Stored<Pod>): string {
  if (spec.nodeName) return spec.nodeName;
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return terms.flatMap(({ matchFields = [] }) => matchFields.flatMap(({ values = [] }) => values))[0] ?? '';
}

function groupByNode(pods: readonly Stored<Pod>[]): Map<string, Stored<Pod>[]> {
  const groups = new Map<string, Stored<Pod>[]>();
  for (const pod of pods) {
    const node = nodeOf(pod);
    const group = groups.get(node);
    if (group) group.push(pod);
    else groups.set(node, [pod]);
  }
  return groups;
}

/** Whether a pod belongs on a node, and whether one that is there may stay (NodeShouldRunDaemonPod). */
function judge(set: Stored<DaemonSet>, node: Stored<Node>): { runs: boolean; stays: boolean } {
  const pod = { ...set, spec: set.spec.template.spec ?? { containers: [] } } as unknown as Stored<Pod>;
  if (!nodeSelected(pod, node)) return { runs: false, stays: false };
  const tolerations = [...((pod.spec.tolerations ?? []) as Toleration[]), ...TOLERATIONS];
  const intolerable = (node.spec.taints ?? []).filter(
    ({ key, value, effect }) =>
      !tolerates({ spec: { tolerations } }, { key, effect, ...(value !== undefined && { value }) }),
  );
  const hard = intolerable.filter(({ effect }) => effect !== 'PreferNoSchedule');
  return { runs: hard.length === 0, stays: !hard.some(({ effect }) => effect === 'NoExecute') };
}

/** Creates what is missing, deletes what is too much or on the wrong node. */
function manage(sync: Sync): void {
  const { set, nodes, byNode, context } = sync;
  let made = 0;
  for (const node of nodes) {
    const here = byNode.get(node.metadata.name) ?? [];
    const { runs, stays } = judge(set, node);
    if (!runs && !stays) {
      for (const pod of here) deletePod(pod, set, context);
      continue;
    }
    const alive: Stored<Pod>[] = [];
    for (const pod of here) {
      const { phase } = pod.status ?? {};
      if (pod.metadata.deletionTimestamp) continue;
      if (phase === 'Failed' || phase === 'Succeeded') {
        const reason = phase === 'Failed' ? 'FailedDaemonPod' : 'SucceededDaemonPod';
        const found = `Found ${phase === 'Failed' ? 'failed' : 'succeeded'} daemon pod ${keyOf(pod)} on node ${node.metadata.name}, will try to ${phase === 'Failed' ? 'kill' : 'delete'} it`;
        context.recorder.record(set, reason, found, { type: phase === 'Failed' ? 'Warning' : 'Normal' });
        deletePod(pod, set, context);
      } else alive.push(pod);
    }
    const leaving = here.length > alive.length;
    // A pod that is on its way out is waited for, unless a surge may stand beside it.
    if (runs && alive.length === 0 && (!leaving || surgeOf(sync) > 0) && made++ < MOST_AT_ONCE) create(sync, node);
    const newest = alive.filter((pod) => hashOf(pod) === sync.hash);
    for (const pod of newest.slice(1)) deletePod(pod, set, context);
  }
}

function create({ set, hash, context }: Sync, node: Stored<Node>): void {
  const pod = podFromTemplate(set.spec.template, set, { generateName: `${set.metadata.name}-` });
  pod.metadata.labels = {
    ...pod.metadata.labels,
    [REVISION_LABEL]: hash,
    'pod-template-generation': set.metadata.annotations?.['deprecated.daemonset.template.generation'] ?? '1',
  };
  const affinity = pod.spec.affinity ?? {};
  pod.spec.affinity = {
    ...affinity,
    nodeAffinity: {
      ...affinity.nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node.metadata.name] }] }],
      },
    },
  };
  const own = [...TOLERATIONS, ...(pod.spec.hostNetwork ? [NETWORK_UNAVAILABLE] : [])];
  const given = (pod.spec.tolerations ?? []).filter(
    ({ key, effect }) => !own.some((toleration) => toleration.key === key && toleration.effect === effect),
  );
  pod.spec.tolerations = [...given, ...(own as typeof given)];
  createPod(pod, set, context);
}

/** Replaces old pods, as many at once as may be unavailable; with a surge the new one comes first. */
function roll(sync: Sync): void {
  const { set, nodes, byNode, hash, context } = sync;
  const wanted = nodes.filter((node) => judge(set, node).runs);
  const surge = surgeOf(sync, wanted.length);
  const { maxUnavailable = 1 } = set.spec.updateStrategy?.rollingUpdate ?? {};
  let budget = Math.max(resolveIntOrPercent(maxUnavailable, wanted.length, 'up'), surge > 0 ? 0 : 1);
  let room = surge;
  const replaceable: Stored<Pod>[] = [];
  for (const node of wanted) {
    const here = (byNode.get(node.metadata.name) ?? []).filter(({ metadata }) => !metadata.deletionTimestamp);
    const old = here.find((pod) => hashOf(pod) !== hash);
    const fresh = here.find((pod) => hashOf(pod) === hash);
    const available = (pod: Stored<Pod> | undefined) =>
      pod !== undefined && isAvailable(pod, set.spec.minReadySeconds ?? 0, context.now);
    if (surge === 0) {
      if (old && !available(old)) {
        deletePod(old, set, context);
        budget--;
      } else if (old) replaceable.push(old);
      else if (!available(fresh)) budget--;
      continue;
    }
    if (old && fresh && available(fresh)) deletePod(old, set, context);
    else if (old && fresh) room--;
    else if (old && !available(old)) {
      create(sync, node);
      deletePod(old, set, context);
    } else if (old && room > 0) {
      create(sync, node);
      room--;
    }
  }
  for (const pod of replaceable.slice(0, Math.max(0, budget))) deletePod(pod, set, context);
}

function surgeOf({ set, nodes }: Sync, wanted = nodes.length): number {
  return resolveIntOrPercent(set.spec.updateStrategy?.rollingUpdate?.maxSurge, wanted, 'up');
}

function report(key: string, { set, nodes, byNode, hash, context }: Sync): void {
  const { cluster, now, wakeAfter } = context;
  const { minReadySeconds = 0 } = set.spec;
  const counts = { desired: 0, scheduled: 0, misscheduled: 0, ready: 0, available: 0, updated: 0 };
  for (const node of nodes) {
    const here = byNode.get(node.metadata.name) ?? [];
    if (!judge(set, node).runs) {
      if (here.length > 0) counts.misscheduled++;
      continue;
    }
    counts.desired++;
    const [oldest] = here.toSorted((a, b) =>
      (a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? -1 : 1,
    );
    if (!oldest) continue;
    counts.scheduled++;
    if (isReady(oldest)) counts.ready++;
    const wait = untilAvailable(oldest, minReadySeconds, now);
    if (wait) wakeAfter(key, wait);
    if (wait === 0) counts.available++;
    if (here.some((pod) => hashOf(pod) === hash)) counts.updated++;
  }
  const status: IDaemonSetStatus = {
    currentNumberScheduled: counts.scheduled,
    numberMisscheduled: counts.misscheduled,
    desiredNumberScheduled: counts.desired,
    numberReady: counts.ready,
    ...(set.metadata.generation !== undefined && { observedGeneration: set.metadata.generation }),
    ...(counts.updated > 0 && { updatedNumberScheduled: counts.updated }),
    ...(counts.available > 0 && { numberAvailable: counts.available }),
    ...(counts.desired > counts.available && { numberUnavailable: counts.desired - counts.available }),
  };
  if (!deepEqual(status, set.status)) cluster.updateStatus(DaemonSet, key, status);
}

function hashOf({ metadata }: Stored<Pod>): string {
  return metadata.labels?.[REVISION_LABEL] ?? '';
}
