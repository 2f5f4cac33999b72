import { keyOf } from '@openstack-operator/kube';
import type { Cluster } from '../cluster/cluster.ts';
import { type StatusCondition, withCondition } from '../cluster/conditions.ts';
import { EventRecorder } from '../cluster/events.ts';
import { Node, PersistentVolumeClaim, Pod, PodDisruptionBudget, StorageClass, type Stored } from '../cluster/kinds.ts';
import { burdenOf, misfits, type NodeLoad } from '../cluster/node-fit.ts';
import { isEnded } from '../cluster/pod-state.ts';
import { Worklist } from '../cluster/worklist.ts';
import { deepEqual } from '../resources/json.ts';
import { NodeLoads } from './node-loads.ts';
import { nodesUnavailable, type Preemption, preempt, priorityOf } from './preemption.ts';

/** Where a pod would go, or why it stays, and who goes in its favour. */
type Verdict =
  | { readonly node: string }
  | { readonly waitsForVolumes: true }
  | { readonly reason: string; readonly preemption?: Preemption };

/**
 * Binds pods to nodes. What fits nowhere is looked at again when nodes, pods or claims change, and may drive pods of lower
 * priority out.
 */
export class Scheduler {
  readonly #cluster: Cluster;
  readonly #recorder: EventRecorder;
  readonly #worklist: Worklist;
  readonly #loads: NodeLoads;
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
    this.#loads = new NodeLoads(cluster);
    this.#subscriptions = [
      cluster.subscribe(Pod, ({ key, object, old }) => {
        this.#loads.put(key, object);
        if (object && !object.spec.nodeName) {
          // What the scheduler itself has written of a pod is no reason to look at it again.
          if (!old || !isSameDemand(object, old)) this.#worklist.add(key);
          return;
        }
        this.#stuck.delete(key);
        const freed = !object || (isEnded(object) && old !== undefined && !isEnded(old));
        if (freed) this.#retry();
      }),
      cluster.subscribe(Node, ({ key, object }) => {
        if (!object) this.#loads.forget(key);
        this.#retry();
      }),
      cluster.subscribe(PersistentVolumeClaim, () => this.#retry()),
    ];
    for (const pod of cluster.list(Pod)) {
      this.#loads.put(keyOf(pod), pod);
      if (!pod.spec.nodeName) this.#worklist.add(keyOf(pod));
    }
  }

  stop(): void {
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    this.#worklist.stop();
    this.#stuck.clear();
  }

  get size(): number {
    return this.#stuck.size + this.#worklist.size + this.#loads.size;
  }

  /** All that waits is looked at again, what matters most first. */
  #retry(): void {
    const priority = (key: string) => {
      const pod = this.#cluster.get(Pod, key);
      return pod ? priorityOf(pod) : 0;
    };
    for (const key of [...this.#stuck].sort((a, b) => priority(b) - priority(a))) this.#worklist.add(key);
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
    this.#hold(pod, 'Unschedulable', verdict.reason, verdict.preemption?.node);
    const { node, victims = [] } = verdict.preemption ?? {};
    // Where all of them are going already, a real scheduler leaves promises as they are.
    const staying = victims.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    if (node === undefined || staying.length === 0) return;
    for (const victim of staying) this.#evict(victim, pod, node);
    for (const other of this.#loads.promisedTo(node)) if (priorityOf(other) < priorityOf(pod)) this.#unpromise(other);
  }

  /** A pod that was promised a node which another one gets looks for one anew. */
  #unpromise(pod: Stored<Pod>): void {
    const { nominatedNodeName: _, ...status } = pod.status ?? {};
    this.#cluster.updateStatus(Pod, keyOf(pod), status);
    this.#worklist.add(keyOf(pod));
  }

  /** Ends a pod gracefully in favour of another one. */
  #evict(victim: Stored<Pod>, { metadata: { uid }, spec }: Stored<Pod>, node: string): void {
    const condition: StatusCondition = {
      type: 'DisruptionTarget',
      status: 'True',
      lastProbeTime: null as unknown as string,
      reason: 'PreemptionByScheduler',
      message: `${spec.schedulerName}: preempting to accommodate a higher priority pod`,
      ...(victim.metadata.generation !== undefined && { observedGeneration: victim.metadata.generation }),
    };
    const conditions = withCondition(victim.status?.conditions as StatusCondition[], condition, this.#cluster.now());
    this.#cluster.updateStatus(Pod, keyOf(victim), { ...victim.status, conditions });
    this.#cluster.delete(Pod, victim);
    this.#recorder.record(victim, 'Preempted', `Preempted by pod ${uid} on node ${node}`);
  }

  #hold(pod: Stored<Pod>, reason: string, message: string, nominatedNodeName?: string): void {
    this.#stuck.add(keyOf(pod));
    const { nominatedNodeName: nominated, ...status } = pod.status ?? {};
    const before = status.conditions?.find(({ type }) => type === 'PodScheduled');
    if (before?.reason === reason && before.message === message && nominated === nominatedNodeName) return;
    if (reason === 'Unschedulable') this.#recorder.record(pod, 'FailedScheduling', message, { type: 'Warning' });
    const others = status.conditions?.filter(({ type }) => type !== 'PodScheduled') ?? [];
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason,
      message,
      lastProbeTime: null as unknown as string,
      lastTransitionTime: before?.status === 'False' ? (before.lastTransitionTime ?? '') : this.#cluster.now(),
      ...(pod.metadata.generation !== undefined && { observedGeneration: pod.metadata.generation }),
    };
    const nomination = nominatedNodeName === undefined ? {} : { nominatedNodeName };
    this.#cluster.updateStatus(Pod, keyOf(pod), { ...status, ...nomination, conditions: [...others, condition] });
  }

  #judge(pod: Stored<Pod>): Verdict {
    const nodes = this.#loads.seenBy(pod);
    const claims = this.#claims(pod);
    if (typeof claims === 'string') {
      // The last words are those of a plugin that misses what it has not come to note: a real scheduler says just this.
      return { reason: `0/${nodes.length} nodes are available: ${claims}. not found` };
    }
    if (nodes.length === 0) return { reason: 'no nodes available to schedule pods' };
    const world = { nodes, objects: this.#cluster };
    const named = namedNodes(pod);
    const fits = (load: NodeLoad) => misfits(pod, load, world).length === 0;
    const fitting = nodes.filter((load) => named?.has(load.node.metadata.name) !== false && fits(load));
    const burden = burdenOf(pod, nodes);
    const [best] = fitting
      .map((load) => ({ name: load.node.metadata.name, burden: burden(load) }))
      .sort((a, b) => a.burden - b.burden || (a.name < b.name ? -1 : 1));
    if (best === undefined) {
      const reasons = nodes.map((load) => misfits(pod, load, world));
      const preemption = preempt(pod, world, this.#cluster.list(PodDisruptionBudget));
      const unavailable = nodesUnavailable(nodes.length, reasons.flat());
      const why =
        preemption.reason === undefined ? '' : ` no new claims to deallocate, preemption: ${preemption.reason}`;
      return { reason: `${unavailable}${why}`, preemption };
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

/** The nodes that a pod names, as those of DaemonSets do: no other one is looked at (nodeaffinity, PreFilter). */
function namedNodes({ spec }: Stored<Pod>): ReadonlySet<string> | undefined {
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const names = terms.map(
    ({ matchFields = [] }) =>
      matchFields.find(({ key, operator }) => key === 'metadata.name' && operator === 'In')?.values,
  );
  if (names.length === 0 || names.includes(undefined)) return undefined;
  return new Set(names.flatMap((some = []) => some));
}

/** Whether nothing has changed of what decides where a pod may go. */
function isSameDemand(a: Stored<Pod>, b: Stored<Pod>): boolean {
  return a.metadata.generation === b.metadata.generation && deepEqual(a.metadata.labels, b.metadata.labels);
}
