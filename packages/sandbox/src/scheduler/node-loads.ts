import type { Cluster } from '../cluster/cluster.ts';
import { Node, type Pod, type Stored } from '../cluster/kinds.ts';
import type { NodeLoad } from '../cluster/node-fit.ts';
import { isEnded } from '../cluster/pod-state.ts';
import { priorityOf } from './preemption.ts';

/**
 * What runs on which node, kept up to date pod by pod: hundreds of nodes are looked at for each pod, and what is known of
 * one (node-fit.ts) stays known for as long as its pods do.
 */
export class NodeLoads {
  readonly #cluster: Cluster;
  readonly #pods = new Map<string, Map<string, Stored<Pod>>>();
  readonly #homes = new Map<string, string>();
  readonly #promised = new Map<string, Stored<Pod>>();
  readonly #loads = new Map<string, NodeLoad>();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Pods that it knows of: those that are bound or promised a node, and have not ended. */
  get size(): number {
    return this.#homes.size + this.#promised.size;
  }

  /** Takes note of a pod as it is now; undefined: it is gone. */
  put(key: string, pod: Stored<Pod> | undefined): void {
    const before = this.#homes.get(key);
    const now = pod && !isEnded(pod) ? pod.spec.nodeName : undefined;
    if (before !== undefined && before !== now) this.#remove(before, key);
    if (pod && now) {
      const pods = this.#pods.get(now) ?? new Map<string, Stored<Pod>>();
      this.#pods.set(now, pods.set(key, pod));
      this.#homes.set(key, now);
      this.#loads.delete(now);
    }
    if (pod?.status?.nominatedNodeName && !pod.spec.nodeName) this.#promised.set(key, pod);
    else this.#promised.delete(key);
  }

  /** A node is gone. */
  forget(node: string): void {
    this.#loads.delete(node);
  }

  /** The nodes as a pod finds them: what those that matter as much have been promised is taken. */
  seenBy(pod: Stored<Pod>): NodeLoad[] {
    const { namespace, name: own } = pod.metadata;
    const others = [...this.#promised.values()].filter(
      (other) =>
        (other.metadata.name !== own || other.metadata.namespace !== namespace) && priorityOf(other) >= priorityOf(pod),
    );
    return this.#cluster.list(Node).map((node) => {
      const { name } = node.metadata;
      const load = this.#loadOf(node);
      const promised = others.filter(({ status }) => status?.nominatedNodeName === name);
      return promised.length === 0 ? load : { node, pods: [...load.pods, ...promised] };
    });
  }

  /** The pods that have been promised a node. */
  promisedTo(node: string): Stored<Pod>[] {
    return [...this.#promised.values()].filter(({ status }) => status?.nominatedNodeName === node);
  }

  #loadOf(node: Stored<Node>): NodeLoad {
    const { name } = node.metadata;
    const known = this.#loads.get(name);
    if (known?.node === node) return known;
    const load = { node, pods: known?.pods ?? [...(this.#pods.get(name)?.values() ?? [])] };
    this.#loads.set(name, load);
    return load;
  }

  #remove(node: string, key: string): void {
    const pods = this.#pods.get(node);
    pods?.delete(key);
    if (pods?.size === 0) this.#pods.delete(node);
    this.#homes.delete(key);
    this.#loads.delete(node);
  }
}
