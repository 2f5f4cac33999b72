import { keyOf, parseTimestamp } from '@openstack-operator/kube';
import type { Cluster } from '../cluster/cluster.ts';
import { Lease, Node, Pod, type Stored } from '../cluster/kinds.ts';
import { type Toleration, tolerates } from '../cluster/node-fit.ts';
import { deepEqual } from '../resources/json.ts';
import { type ControllerContext, type ControllerDefinition, wakeBy } from './controller.ts';

/** kube-controller-manager --node-monitor-grace-period */
const GRACE_MS = 50_000;
const UNREACHABLE = 'node.kubernetes.io/unreachable';
const NOT_READY = 'node.kubernetes.io/not-ready';
const CONDITIONS = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'] as const;
const MANAGED = new Set([UNREACHABLE, NOT_READY]);

/** Notices nodes whose kubelet has fallen silent, taints them, and marks their pods as not ready. */
export function nodeLifecycleController(): ControllerDefinition<Node> {
  return {
    name: 'node-controller',
    kind: Node,
    wakes: [
      wakeBy(Lease, ({ key }) => (key.startsWith('kube-node-lease/') ? [key.slice('kube-node-lease/'.length)] : [])),
    ],
    reconcile(node, name, context) {
      const { cluster, now, wakeAfter } = context;
      const lease = cluster.get(Lease, `kube-node-lease/${name}`);
      const silence = now - parseTimestamp(lease?.spec.renewTime ?? node.metadata.creationTimestamp ?? '');
      if (silence < GRACE_MS) wakeAfter(name, GRACE_MS - silence);
      else silent(node, name, context);
      taint(name, cluster);
    },
  };
}

function silent(node: Stored<Node>, name: string, { cluster, recorder }: ControllerContext): void {
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status === 'Unknown') return;
  const now = cluster.now();
  const conditions = CONDITIONS.map((type) => {
    const before = node.status?.conditions?.find((condition) => condition.type === type);
    return {
      ...before,
      type,
      status: 'Unknown',
      reason: before ? 'NodeStatusUnknown' : 'NodeStatusNeverUpdated',
      message: before ? 'Kubelet stopped posting node status.' : 'Kubelet never posted node status.',
      lastTransitionTime: now,
    };
  });
  cluster.updateStatus(Node, name, { ...node.status, conditions });
  recorder.record(node, 'NodeNotReady', `Node ${name} status is now: NodeNotReady`);
  for (const pod of cluster.list(Pod)) {
    if (pod.spec.nodeName !== name) continue;
    const before = pod.status?.conditions?.find(({ type }) => type === 'Ready');
    if (before?.status !== 'True') continue;
    const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'Ready');
    const next = { ...before, status: 'False', lastTransitionTime: now };
    cluster.updateStatus(Pod, keyOf(pod), { ...pod.status, conditions: [...others, next] });
    recorder.record(pod, 'NodeNotReady', 'Node is not ready', { type: 'Warning' });
  }
}

/** Taints follow the Ready condition. */
function taint(name: string, cluster: Cluster): void {
  const node = cluster.get(Node, name);
  const ready = node?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  // A node that has not reported yet is neither.
  const key = ready === 'Unknown' ? UNREACHABLE : ready === 'False' ? NOT_READY : undefined;
  const others = (node?.spec.taints ?? []).filter((one) => !MANAGED.has(one.key));
  const before = (node?.spec.taints ?? []).filter((one) => MANAGED.has(one.key));
  if (key === undefined ? before.length === 0 : before.length > 0 && before.every((one) => one.key === key)) return;
  const timeAdded = cluster.now();
  const own = key
    ? [
        { key, effect: 'NoSchedule' as const },
        { key, effect: 'NoExecute' as const, timeAdded },
      ]
    : [];
  const taints = [...others, ...own];
  cluster.update(Node, name, (draft) => {
    if (taints.length > 0) draft.spec.taints = taints;
    else delete draft.spec.taints;
  });
}

/** Deletes pods that do not bear a NoExecute taint of their node, when their patience is over; and those without node. */
export function taintEvictionController(): ControllerDefinition<Pod> {
  return {
    name: 'taint-eviction-controller',
    kind: Pod,
    wakes: [
      wakeBy(Node, ({ key, object, old }, cluster) =>
        object && old && deepEqual(object.spec.taints, old.spec.taints)
          ? []
          : cluster
              .list(Pod)
              .filter(({ spec }) => spec.nodeName === key)
              .map(keyOf),
      ),
    ],
    reconcile(pod, key, context) {
      const { cluster, recorder, now, wakeAfter } = context;
      const { nodeName } = pod.spec;
      if (!nodeName) return;
      const node = cluster.get(Node, nodeName);
      if (!node) return cluster.delete(Pod, pod, { gracePeriodSeconds: 0 });
      if (pod.metadata.deletionTimestamp) return;
      const patience = (node.spec.taints ?? [])
        .filter(({ effect }) => effect === 'NoExecute')
        .map((one) => patienceOf(pod, one.key, parseTimestamp(one.timeAdded ?? '')));
      const end = Math.min(...patience);
      if (end === Number.POSITIVE_INFINITY) return;
      if (end > now) return wakeAfter(key, end - now);
      recorder.record(pod, 'TaintManagerEviction', `Marking for deletion Pod ${key}`);
      const condition = {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'DeletionByTaintManager',
        message: 'Taint manager: deleting due to NoExecute taint',
        lastProbeTime: null as unknown as string,
        lastTransitionTime: cluster.now(),
      };
      const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== 'DisruptionTarget');
      cluster.updateStatus(Pod, key, { ...pod.status, conditions: [...others, condition] });
      cluster.delete(Pod, pod);
    },
  };
}

/** When a pod gives in to a taint that was set then, in milliseconds since the epoch. */
function patienceOf(pod: Stored<Pod>, key: string, since: number): number {
  const taint = { key, effect: 'NoExecute' };
  const matching = ((pod.spec.tolerations ?? []) as Toleration[]).filter((toleration) =>
    tolerates({ spec: { tolerations: [toleration] } }, taint),
  );
  if (matching.length === 0) return 0;
  const seconds = matching.map(({ tolerationSeconds }) => tolerationSeconds ?? Number.POSITIVE_INFINITY);
  return (Number.isNaN(since) ? 0 : since) + Math.min(...seconds) * 1000;
}
