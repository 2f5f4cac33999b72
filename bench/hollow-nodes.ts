import {
  type Clock,
  controllerOf,
  isApiError,
  type KubeObject,
  keyOf,
  Lease,
  Node,
  Pod,
  type StoredObject,
  sleep,
  timestamp,
} from '@openstack-operator/kube';
import type { Sandbox } from '@openstack-operator/sandbox';

/** A lease that runs until then is not renewed: nodes by the thousand would do nothing else. */
const forever = '2099-01-01T00:00:00.000000Z';
const longAgo = '2020-01-01T00:00:00.000000Z';
/** Milliseconds for which pods are started before controllers, scheduler and sockets have their turn. */
const TURN = 200;
/** The network of a zone's nodes and pods: nothing is reached there. */
const addressOf = (number: number) => `10.${64 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`;

type PodSpec = { readonly nodeName?: string; readonly containers: readonly { readonly name: string }[] };

/**
 * Nodes of a sandbox that run nothing, as kubemark's: each pod that is bound to one is ready at once, and each Job's has
 * succeeded. API server, controllers and scheduler are the sandbox's own.
 */
export class HollowNodes {
  readonly #sandbox: Sandbox;
  readonly #clock: Clock;
  readonly #silent = new Set<string>();
  readonly #waiting = new Set<string>();
  #addresses = 0;
  #draining = false;

  constructor(sandbox: Sandbox, clock: Clock) {
    this.#sandbox = sandbox;
    this.#clock = clock;
    sandbox.api.store.subscribe(Pod, ({ type, object }) => {
      if (type === 'DELETED') return;
      this.#waiting.add(keyOf(object));
      void this.#drain();
    });
  }

  /** Registers nodes. */
  async add(names: readonly string[]): Promise<void> {
    const client = this.#sandbox.client();
    for (const name of names) {
      const labels = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' };
      await client.create(Lease, lease(name, forever));
      await client.create(Node, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } });
      const capacity = { cpu: '64', memory: '256Gi', pods: '250', 'ephemeral-storage': '1Ti' };
      const addresses = [{ type: 'InternalIP', address: addressOf(this.#addresses++) }];
      await this.#patchNode(name, { capacity, allocatable: capacity, addresses, conditions: this.#conditions() });
    }
  }

  /** The nodes say that they are still there, as kubelets do every five minutes. */
  async report(): Promise<void> {
    for (const { metadata } of this.#sandbox.api.store.list(Node))
      await this.#patchNode(metadata.name, { conditions: this.#conditions() });
  }

  /** The nodes say no more: node-controller notices it. */
  async silence(names: readonly string[]): Promise<void> {
    const client = this.#sandbox.client();
    for (const name of names) {
      this.#silent.add(name);
      await client.patch(Lease, { namespace, name }, 'merge', lease(name, longAgo));
    }
  }

  /** They are back, and so are their pods. */
  async restore(names: readonly string[]): Promise<void> {
    const client = this.#sandbox.client();
    for (const name of names) {
      this.#silent.delete(name);
      await client.patch(Lease, { namespace, name }, 'merge', lease(name, forever));
      await this.#patchNode(name, { conditions: this.#conditions() });
    }
    for (const pod of this.#sandbox.api.store.list(Pod)) {
      if (!names.includes(specOf(pod).nodeName ?? '')) continue;
      this.#waiting.add(keyOf(pod));
    }
    await this.#drain();
  }

  /** Names of those that run nothing but agents, and Jobs that have ended. */
  withoutControlPlane(): string[] {
    const { store } = this.#sandbox.api;
    const others = new Set(
      store
        .list(Pod)
        .flatMap((pod) => (['DaemonSet', 'Job'].includes(controllerOf(pod)?.kind ?? '') ? [] : [specOf(pod).nodeName])),
    );
    return store.list(Node).flatMap(({ metadata: { name } }) => (others.has(name) ? [] : [name]));
  }

  #conditions(): readonly object[] {
    const now = timestamp(this.#clock);
    const common = { status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' };
    return [{ type: 'Ready', ...common, lastHeartbeatTime: now, lastTransitionTime: now }];
  }

  async #patchNode(name: string, status: object): Promise<void> {
    await this.#sandbox.client().patch(Node, { name }, 'merge', { status }, { subresource: 'status' });
  }

  async #drain(): Promise<void> {
    if (this.#draining) return;
    this.#draining = true;
    let end = 0;
    for (const key of this.#waiting) {
      if (this.#clock.monotonic() >= end) {
        await sleep(this.#clock, 0);
        end = this.#clock.monotonic() + TURN;
      }
      this.#waiting.delete(key);
      const pod = this.#sandbox.api.store.get(Pod, key);
      if (pod === undefined) continue;
      await this.#run(pod).catch((error: unknown) => {
        // Somebody else was faster: what became of it is told.
        if (!isApiError(error, 404) && !isApiError(error, 409)) throw error;
      });
    }
    this.#draining = false;
  }

  async #run(pod: StoredObject): Promise<void> {
    const client = this.#sandbox.client();
    const { namespace = '', name, deletionTimestamp } = pod.metadata;
    const { nodeName, containers } = specOf(pod);
    if (nodeName === undefined || this.#silent.has(nodeName)) return;
    if (deletionTimestamp !== undefined) {
      await client.delete(Pod, { namespace, name }, { gracePeriodSeconds: 0 });
      return;
    }
    const { phase, conditions = [] } = (pod['status'] ?? {}) as {
      phase?: string;
      conditions?: { type: string; status: string }[];
    };
    const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
    if (phase === 'Succeeded' || (phase === 'Running' && isReady)) return;
    const now = timestamp(this.#clock);
    const ends = controllerOf(pod)?.kind === 'Job';
    const state = ends
      ? { terminated: { exitCode: 0, reason: 'Completed', startedAt: now, finishedAt: now } }
      : { running: { startedAt: now } };
    const podIP = addressOf(2 ** 20 + this.#addresses++);
    const status = {
      phase: ends ? 'Succeeded' : 'Running',
      startTime: now,
      podIP,
      podIPs: [{ ip: podIP }],
      conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => {
        const status = ends && type.endsWith('Ready') ? 'False' : 'True';
        return { type, status, lastTransitionTime: now };
      }),
      containerStatuses: containers.map(({ name }) => ({
        name,
        state,
        ready: !ends,
        started: !ends,
        restartCount: 0,
        image: '',
        imageID: '',
      })),
    };
    await client.patch(Pod, { namespace, name }, 'merge', { status }, { subresource: 'status' });
  }
}

const namespace = 'kube-node-lease';

function lease(name: string, renewTime: string): KubeObject {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime },
  };
}

function specOf(pod: StoredObject): PodSpec {
  return (pod['spec'] ?? { containers: [] }) as PodSpec;
}
