import { type Clock, keyOf, microTimestamp, type Random, type Timer } from '@openstack-operator/kube';
import type { Cluster } from '../cluster/cluster.ts';
import { EventRecorder } from '../cluster/events.ts';
import { Lease, Node, Pod, type Stored } from '../cluster/kinds.ts';
import type { Storage } from '../cluster/storage.ts';
import { Worklist } from '../cluster/worklist.ts';
import type { AddressPool } from '../network/address-pool.ts';
import type { ClusterNetwork } from '../network/cluster-network.ts';
import { Host } from '../network/host.ts';
import { directoryAt, type Volume } from '../programs/file-tree.ts';
import type { Image } from '../programs/program.ts';
import type { ContainerSlot } from './container-slot.ts';
import { HandlerRunner } from './handler.ts';
import type { NodeContext, NodeTimings } from './node-context.ts';
import { nodeObject } from './node-object.ts';
import { PodVolumes } from './pod-volumes.ts';
import { PodWorker } from './pod-worker.ts';

/** What a node is made of. */
export interface KubeletOptions {
  readonly name: string;
  readonly address: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly { key: string; value?: string; effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute' }[];
  readonly capacity: Readonly<Record<string, string>>;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly network: ClusterNetwork;
  readonly podAddresses: AddressPool;
  readonly storage: Storage;
  /** Outlives the kubelet: what hostPath volumes show. */
  readonly disk: Volume;
  readonly images: readonly Image[];
  readonly timings: NodeTimings;
  readonly onError: (what: string, error: unknown) => void;
}

const LEASE_RENEWAL_MS = 10_000;
const LEASE_NAMESPACE = 'kube-node-lease';
/** The kubelet looks at a pod's ConfigMaps and Secrets about once a minute (--sync-frequency). */
const VOLUME_REFRESH_MS = 60_000;

/** A node: runs the pods that are bound to it. */
export class Kubelet {
  readonly #options: KubeletOptions;
  readonly #context: NodeContext;
  readonly #workers = new Map<string, PodWorker>();
  /** By pod uid: emptyDirs survive a restart of the node. */
  readonly #volumes = new Map<string, PodVolumes>();
  readonly #refreshes = new Map<string, Timer>();
  #worklist: Worklist | undefined;
  #lease: Timer | undefined;

  constructor(options: KubeletOptions) {
    this.#options = options;
    const { cluster, clock, network } = options;
    const host = new Host({ address: options.address });
    this.#context = {
      ...options,
      cluster: cluster.as('kubelet'),
      recorder: new EventRecorder(cluster.as('kubelet'), 'kubelet'),
      host,
      pulled: new Set(),
      allocatable: options.capacity,
      handlers: new HandlerRunner({ network, node: host, clock }),
    };
  }

  get name(): string {
    return this.#options.name;
  }

  get running(): boolean {
    return this.#worklist !== undefined;
  }

  /** Switches the node on: it registers, and takes up its pods. */
  start(): void {
    if (this.running) return;
    const { clock, network, onError } = this.#options;
    const { cluster, host } = this.#context;
    host.up = true;
    network.add(host);
    this.#worklist = new Worklist({
      clock,
      handle: (key) => this.#sync(key),
      onError: (key, error) => onError(`kubelet ${this.name}: pod ${key}`, error),
    });
    this.#forgetVolumes();
    this.#register();
    this.#renew();
    for (const pod of cluster.list(Pod)) if (pod.spec.nodeName === this.name) this.#worklist.add(keyOf(pod));
  }

  /** Switches the node off: its processes end at once, and nobody is told. */
  stop(): void {
    const { network } = this.#options;
    this.#worklist?.stop();
    this.#worklist = undefined;
    this.#lease?.cancel();
    for (const timer of this.#refreshes.values()) timer.cancel();
    this.#refreshes.clear();
    for (const worker of this.#workers.values()) worker.cutOff();
    this.#workers.clear();
    // What outlives its container does not outlive its node.
    directoryAt(this.#options.disk.root, ['proc']).children.clear();
    this.#context.host.up = false;
    network.remove(this.#context.host);
  }

  /** A pod that is bound to this node, or was, is another one now. */
  podChanged(key: string): void {
    this.#worklist?.add(key);
  }

  /** A ConfigMap or Secret in the namespace of a pod is another one now: volumes follow after a while, not at once. */
  sourceChanged(key: string, kind: 'ConfigMap' | 'Secret', name: string): void {
    const pod = this.#workers.get(key)?.pod;
    if (pod === undefined || this.#refreshes.has(key)) return;
    if (!this.#volumes.get(pod.metadata.uid)?.uses(pod, kind, name)) return;
    const timer = this.#options.clock.after(VOLUME_REFRESH_MS, () => {
      this.#refreshes.delete(key);
      this.#workers.get(key)?.refreshVolumes();
    });
    this.#refreshes.set(key, timer);
  }

  /** A container of a pod on this node, as it is now. */
  slot(podKey: string, container?: string): ContainerSlot | undefined {
    const slots = this.#workers.get(podKey)?.slots ?? [];
    if (container !== undefined) return slots.find(({ spec }) => spec.name === container);
    return slots.find(({ role }) => role === 'main');
  }

  /** Entries in its maps; 0 when no pod is left. */
  get size(): number {
    return this.#workers.size + this.#volumes.size + this.#refreshes.size + (this.#worklist?.size ?? 0);
  }

  #sync(key: string): void {
    const pod = this.#context.cluster.get(Pod, key);
    const worker = this.#workers.get(key);
    if (worker && worker.pod.metadata.uid !== pod?.metadata.uid) {
      worker.orphan();
      return;
    }
    if (pod === undefined || pod.spec.nodeName !== this.name) return this.#worklist?.forget(key);
    if (worker) return worker.update(pod);
    // All of it has ended here; a finalizer keeps the object.
    if (pod.metadata.deletionTimestamp && pod.metadata.deletionGracePeriodSeconds === 0) return;
    this.#admit(key, pod);
  }

  #admit(key: string, pod: Stored<Pod>): void {
    const { uid } = pod.metadata;
    const { clock, storage, disk } = this.#options;
    const volumes = this.#volumes.get(uid) ?? new PodVolumes({ clock, storage, disk, objects: this.#context.cluster });
    this.#volumes.set(uid, volumes);
    const worker = new PodWorker({
      pod,
      node: this.#context,
      volumes,
      onFinished: () => {
        this.#workers.delete(key);
        this.#volumes.delete(uid);
        this.#refreshes.get(key)?.cancel();
        this.#refreshes.delete(key);
        // A pod of the same name may wait already.
        this.#worklist?.add(key);
      },
    });
    this.#workers.set(key, worker);
    worker.sync();
  }

  /** Pods that were deleted while the node was off left their volumes behind. */
  #forgetVolumes(): void {
    const uids = new Set(this.#context.cluster.list(Pod).map(({ metadata }) => metadata.uid));
    for (const uid of this.#volumes.keys()) if (!uids.has(uid)) this.#volumes.delete(uid);
  }

  #register(): void {
    const { cluster } = this.#context;
    const { name } = this.#options;
    const wanted = nodeObject(this.#options, cluster.get(Node, name), cluster.now());
    if (!cluster.get(Node, name)) cluster.create(Node, wanted);
    cluster.updateStatus(Node, name, wanted.status);
    this.#context.recorder.record(cluster.get(Node, name) as Stored<Node>, 'Starting', 'Starting kubelet.', {
      host: name,
    });
  }

  #renew(): void {
    const { cluster } = this.#context;
    const { name, clock } = this.#options;
    const key = `${LEASE_NAMESPACE}/${name}`;
    const renewTime = microTimestamp(clock);
    const renewed = cluster.update(Lease, key, (lease) => {
      lease.spec.renewTime = renewTime;
    });
    if (!renewed) {
      cluster.create(Lease, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name, namespace: LEASE_NAMESPACE },
        spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime },
      });
    }
    this.#lease = clock.after(LEASE_RENEWAL_MS, () => this.#renew(), { ref: false });
  }
}
