import { keyOf } from '@openstack-operator/kube';
import type { Cluster } from '../controllers/cluster.ts';
import { EventRecorder } from '../controllers/events.ts';
import { Worklist } from '../controllers/worklist.ts';
import { Node, PersistentVolumeClaim, Pod, StorageClass, type Stored } from '../kinds.ts';
import { burden, misfits, type NodeLoad } from './node-fit.ts';

/** Where a pod would go, or why it stays. */
type Verdict = { readonly node: string } | { readonly waitsForVolumes: true } | { readonly reason: string };

/** Binds pods to nodes. What fits nowhere is looked at again when nodes, pods or claims change. */
export class Scheduler {
  readonly #cluster: Cluster;
  readonly #recorder: EventRecorder;
  readonly #worklist: Worklist;
  readonly #stuck = new Set<string>();
  readonly #subscriptions: (() => void)[];

  constructor(cluster: Cluster, options: { onError: (what: string, error: unknown) => void }) {
    this.#cluster = cluster.as('kube-scheduler');
    this.#recorder = new EventRecorder(this.#cluster, 'default-scheduler');
    this.#worklist = new Worklist({
      clock: cluster.clock,
      handle: (key) => this.#schedule(key),
      onError: (key, error) => options.onError(`scheduler: pod ${key}`, error),
    });
    this.#subscriptions = [
      cluster.subscribe(Pod, ({ key, object, old }) => {
        if (object && !object.spec.nodeName) return this.#worklist.add(key);
        this.#stuck.delete(key);
        const freed = !object || (isTerminal(object) && old !== undefined && !isTerminal(old));
        if (freed) this.#retry();
      }),
      cluster.subscribe(Node, () => this.#retry()),
      cluster.subscribe(PersistentVolumeClaim, () => this.#retry()),
    ];
    for (const pod of cluster.list(Pod)) if (!pod.spec.nodeName) this.#worklist.add(keyOf(pod));
  }

  stop(): void {
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    this.#worklist.stop();
    this.#stuck.clear();
  }

  get size(): number {
    return this.#stuck.size + this.#worklist.size;
  }

  #retry(): void {
    for (const key of this.#stuck) this.#worklist.add(key);
  }

  #schedule(key: string): void {
    const pod = this.#cluster.get(Pod, key);
    if (!pod || pod.spec.nodeName || pod.metadata.deletionTimestamp) {
      this.#stuck.delete(key);
      return this.#worklist.forget(key);
    }
    if (pod.spec.schedulingGates?.length)
      return this.#hold(pod, 'SchedulingGated', 'Scheduling is blocked due to non-empty scheduling gates');
    const verdict = this.#judge(pod);
    if ('node' in verdict) {
      this.#stuck.delete(key);
      this.#cluster.bind(pod, verdict.node);
      const bound = `Successfully assigned ${key} to ${verdict.node}`;
      return this.#recorder.record(pod, 'Scheduled', bound);
    }
    this.#stuck.add(key);
    if ('waitsForVolumes' in verdict) return;
    this.#hold(pod, 'Unschedulable', verdict.reason);
  }

  #hold(pod: Stored<Pod>, reason: string, message: string): void {
    this.#stuck.add(keyOf(pod));
    const before = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    if (before?.reason === reason && before.message === message) return;
    if (reason === 'Unschedulable') this.#recorder.record(pod, 'FailedScheduling', message, { type: 'Warning' });
    const others = pod.status?.conditions?.filter(({ type }) => type !== 'PodScheduled') ?? [];
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason,
      message,
      lastProbeTime: null as unknown as string,
      lastTransitionTime: before?.status === 'False' ? (before.lastTransitionTime ?? '') : this.#cluster.now(),
      ...(pod.metadata.generation !== undefined && { observedGeneration: pod.metadata.generation }),
    };
    this.#cluster.updateStatus(Pod, keyOf(pod), { ...pod.status, conditions: [...others, condition] });
  }

  #judge(pod: Stored<Pod>): Verdict {
    const nodes = this.#loads();
    const available = `0/${nodes.length} nodes are available`;
    const claims = this.#claims(pod);
    if (typeof claims === 'string') {
      return { reason: `${available}: ${claims}. ${NOT_HELPFUL(nodes.length)}` };
    }
    if (nodes.length === 0) return { reason: 'no nodes available to schedule pods' };
    const world = { nodes, objects: this.#cluster };
    const counts = new Map<string, number>();
    const fitting: NodeLoad[] = [];
    for (const load of nodes) {
      const reasons = misfits(pod, load, world);
      if (reasons.length === 0) fitting.push(load);
      for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
    }
    const [best] = fitting
      .map((load) => ({ name: load.node.metadata.name, burden: burden(pod, load) }))
      .sort((a, b) => a.burden - b.burden || (a.name < b.name ? -1 : 1));
    if (best === undefined) {
      const reasons = [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
      const helpful = [...counts.keys()].every(
        (reason) => reason.startsWith('Insufficient') || reason === 'Too many pods',
      );
      return { reason: `${available}: ${reasons.join(', ')}. ${(helpful ? NO_VICTIMS : NOT_HELPFUL)(nodes.length)}` };
    }
    if (claims.length === 0) return { node: best.name };
    // Volumes of WaitForFirstConsumer classes are made where the pod will run; it is bound once they are there.
    for (const claim of claims) {
      this.#cluster.update(PersistentVolumeClaim, keyOf(claim), ({ metadata }) => {
        metadata.annotations = { ...metadata.annotations, 'volume.kubernetes.io/selected-node': best.name };
      });
    }
    return { waitsForVolumes: true };
  }

  #loads(): NodeLoad[] {
    const byNode = new Map<string, Stored<Pod>[]>();
    for (const pod of this.#cluster.list(Pod)) {
      if (!pod.spec.nodeName || isTerminal(pod)) continue;
      const pods = byNode.get(pod.spec.nodeName);
      if (pods) pods.push(pod);
      else byNode.set(pod.spec.nodeName, [pod]);
    }
    return this.#cluster.list(Node).map((node) => ({ node, pods: byNode.get(node.metadata.name) ?? [] }));
  }

  /** Claims that are still to be bound, or why the pod cannot be scheduled because of one. */
  #claims(pod: Stored<Pod>): Stored<PersistentVolumeClaim>[] | string {
    const unbound: Stored<PersistentVolumeClaim>[] = [];
    for (const { persistentVolumeClaim } of pod.spec.volumes ?? []) {
      if (!persistentVolumeClaim) continue;
      const { claimName } = persistentVolumeClaim;
      const claim = this.#cluster.get(PersistentVolumeClaim, `${pod.metadata.namespace}/${claimName}`);
      if (!claim) return `persistentvolumeclaim "${claimName}" not found`;
      if (claim.metadata.deletionTimestamp) return `persistentvolumeclaim "${claimName}" is being deleted`;
      if (claim.status?.phase === 'Lost') {
        return `persistentvolumeclaim "${claimName}" bound to non-existent persistentvolume "${claim.spec.volumeName}"`;
      }
      if (claim.status?.phase === 'Bound') continue;
      const { storageClassName } = claim.spec;
      const storageClass = storageClassName ? this.#cluster.get(StorageClass, storageClassName) : undefined;
      if (storageClass?.volumeBindingMode !== 'WaitForFirstConsumer') {
        return 'pod has unbound immediate PersistentVolumeClaims';
      }
      unbound.push(claim);
    }
    return unbound;
  }
}

const NOT_HELPFUL = (nodes: number) =>
  `preemption: 0/${nodes} nodes are available: ${nodes} Preemption is not helpful for scheduling.`;
const NO_VICTIMS = (nodes: number) =>
  `preemption: 0/${nodes} nodes are available: ${nodes} No preemption victims found for incoming pod.`;

function isTerminal({ status }: Stored<Pod>): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
