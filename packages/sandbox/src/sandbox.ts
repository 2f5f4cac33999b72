import {
  type Client,
  type Clock,
  keyOf,
  type ObjectRef,
  type Random,
  realClock,
  realRandom,
  type StoredObject,
  type Transport,
  timestamp,
  uuid,
  type VirtualClock,
} from '@openstack-operator/kube';
import { type ApiServer, createApiServer } from './api/api-server.ts';
import type { Faults } from './api/faults.ts';
import { type Listening, type ListenOptions, listen } from './api/listen.ts';
import type { LogRequest } from './api/log-handler.ts';
import type { User } from './api/request-info.ts';
import { badRequest, StatusError } from './api/status.ts';
import type { WebhookCaller } from './api/webhooks.ts';
import { bootstrap } from './cluster/bootstrap.ts';
import { Cluster } from './cluster/cluster.ts';
import { expireEvents } from './cluster/events.ts';
import { ConfigMap, Node, Pod, Secret } from './cluster/kinds.ts';
import { Storage } from './cluster/storage.ts';
import { workloadAdmission } from './controllers/admission.ts';
import { startControllers } from './controllers/controllers.ts';
import { serviceAddresses } from './controllers/service-addresses.ts';
import { AddressPool } from './network/address-pool.ts';
import { ClusterNetwork } from './network/cluster-network.ts';
import type { ExecResult } from './nodes/container.ts';
import { nodeDisk } from './nodes/host-path.ts';
import { Kubelet } from './nodes/kubelet.ts';
import type { NodeTimings } from './nodes/node-context.ts';
import { type MountOptions, NodeMounts } from './nodes/node-mounts.ts';
import { fileNode, plant, type Volume } from './programs/file-tree.ts';
import type { Image } from './programs/program.ts';
import { builtinResourceTypes } from './resources/builtin/builtin-resource-types.ts';
import { resourceTypeFromCrd } from './resources/crd.ts';
import { quantityNumber } from './resources/quantity.ts';
import { Scheduler } from './scheduler/scheduler.ts';

/** A node of a sandbox. */
export interface NodeOptions {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly { key: string; value?: string; effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute' }[];
  /** Default: 64 cores, 256Gi, 250 pods. */
  readonly capacity?: Readonly<Record<string, string>>;
  /** What hostPath volumes find on its disk: absolute path -> content. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Options of `createSandbox`. */
export interface SandboxOptions {
  /** Default: the machine's. With kube's `virtualClock`, `run` moves time. */
  readonly clock?: Clock | VirtualClock;
  readonly random?: Random;
  /** What its nodes can run. */
  readonly images: readonly Image[];
  /**
   * What is there when it starts, as another sandbox's store has it: nothing of it is checked once more. Reading thirty
   * definitions takes longer than all the rest of a start.
   */
  readonly objects?: readonly StoredObject[];
  /** Default: one node, `node-1`. */
  readonly nodes?: readonly NodeOptions[];
  /** `false`: pods stay unbound, as in a cluster without kube-scheduler. */
  readonly scheduler?: boolean;
  readonly authorization?: 'AlwaysAllow' | 'RBAC';
  readonly faults?: Faults;
  /** How webhooks are called (`callOverHttps`). Default: their configurations are stored, and they are never asked. */
  readonly webhooks?: WebhookCaller;
  /** How long nodes take, in milliseconds; default: no time at all. Programs wait on the clock for themselves. */
  readonly startTimes?: Partial<NodeTimings>;
  /**
   * Told of errors inside controllers and nodes, which are retried. Default: what the API server refuses is left to the
   * retry (it stands in conditions and events); anything else is a bug, and is thrown.
   */
  readonly onError?: (what: string, error: unknown) => void;
}

/** A Kubernetes in this process. */
export interface Sandbox extends AsyncDisposable {
  readonly api: ApiServer;
  readonly network: ClusterNetwork;
  client(user?: User): Client;
  transport(user?: User): Transport;
  /** Serves the API over sockets. */
  listen(options?: ListenOptions): Promise<Listening>;
  readonly nodes: {
    /** Cuts the power: its processes end, nobody is told; its disk stays. */
    stop(name: string): void;
    /** Switches it on again. */
    start(name: string): void;
    add(options: NodeOptions): void;
    /** Names, in the order in which they were added. */
    list(): string[];
    /** Mounts an empty file system on a directory of a node; one that was mounted there before is put back as it was. */
    mount(name: string, path: string, options?: MountOptions): void;
    /** Takes a file system off its directory: what it has stays. @throws Error when none is mounted there */
    unmount(name: string, path: string): void;
  };
  readonly pods: {
    /** Runs a command in a container (default: the first). @throws StatusError 400 when it does not run */
    exec(
      pod: ObjectRef,
      argv: readonly string[],
      options?: { container?: string; stdin?: string },
    ): Promise<ExecResult>;
    /** SIGKILL to the processes of a container (default: the first). @throws StatusError 400 when it does not run */
    kill(pod: ObjectRef, options?: { container?: string }): void;
    /** What a container has written so far. @throws StatusError 400 when it never ran */
    logs(pod: ObjectRef, options?: { container?: string; previous?: boolean; tailLines?: number }): string;
  };
  /** Whether no controller and no node has anything to do right now. */
  idle(): boolean;
  /** With a virtual clock: lets time pass until the condition holds. @throws Error when it never does */
  run(until: () => boolean, options?: { limit?: number }): Promise<void>;
  /** Entries in the per-key maps of controllers, nodes and network: back at its first value when all is deleted. */
  size(): number;
  /** Ends everything. */
  stop(): void;
}

const SERVICE_CIDR = '10.96.0.0/16';
const NODE_NETWORK = '10.89.0.0/16';
/** Each node has 254 addresses for pods, from 10.244.0.0/24 to 10.255.255.0/24. */
const MOST_NODES = 12 * 256;
const DEFAULT_CAPACITY = { cpu: '64', memory: '256Gi', pods: '250', 'ephemeral-storage': '1Ti' };

/** Tells each node of its own pods and of what they mount: with hundreds of nodes, none may look at everything. */
function tellKubelets(cluster: Cluster, kubelets: ReadonlyMap<string, Kubelet>): void {
  cluster.subscribe(Pod, ({ key, object, old }) => {
    kubelets.get((object ?? old)?.spec.nodeName ?? '')?.podChanged(key);
  });
  const sourceChanged = (kind: 'ConfigMap' | 'Secret', source: StoredObject | undefined) => {
    if (!source) return;
    for (const pod of cluster.list(Pod, source.metadata.namespace)) {
      kubelets.get(pod.spec.nodeName ?? '')?.sourceChanged(keyOf(pod), kind, source.metadata.name);
    }
  };
  cluster.subscribe(ConfigMap, ({ object }) => sourceChanged('ConfigMap', object));
  cluster.subscribe(Secret, ({ object }) => sourceChanged('Secret', object));
}

/**
 * Starts a Kubernetes: API server, controllers, scheduler, nodes that run the programs of `images`.
 *
 * @example
 * const clock = virtualClock();
 * const sandbox = createSandbox({ clock, random: seededRandom(1), images: [nginx] });
 * await sandbox.client().create(Deployment, web);
 * await sandbox.run(() => sandbox.api.store.get(Deployment, 'default/web')?.status?.availableReplicas === 1);
 */
export function createSandbox(options: SandboxOptions): Sandbox {
  const { clock = realClock, random = realRandom, images, nodes = [{ name: 'node-1' }] } = options;
  const { imagePull = 0, containerStart = 0 } = options.startTimes ?? {};
  const onError = options.onError ?? rethrow;
  const stopping = new AbortController();
  const kubelets = new Map<string, Kubelet>();

  const api = createApiServer({
    clock,
    random,
    types: builtinResourceTypes(),
    customType: resourceTypeFromCrd,
    logs: (request, signal) => readLog(request, signal),
    ...(options.authorization && { authorization: options.authorization }),
    ...(options.faults && { faults: options.faults }),
    ...(options.webhooks && { webhooks: options.webhooks }),
  });
  const { store, registry, admission } = api;
  const cluster = new Cluster({ store, registry, clock, random, admission }, 'kube-apiserver');
  admission.push(workloadAdmission(cluster), serviceAddresses(cluster, SERVICE_CIDR));
  bootstrap(cluster);
  for (const object of options.objects ?? []) {
    const served = registry.findKind(object.apiVersion, object.kind);
    if (!served) throw new Error(`objects: the sandbox serves no ${object.kind} of ${object.apiVersion}`);
    const metadata = { ...object.metadata, uid: uuid(random), creationTimestamp: timestamp(clock) };
    store.put(served.id, { ...object, metadata });
  }

  const storage = new Storage();
  // A node that is switched off cannot let go of the volumes of pods that are deleted meanwhile.
  cluster.subscribe(Pod, ({ object, old }) => {
    if (!object && old) storage.detach(old.metadata.uid);
  });
  const network = new ClusterNetwork({ objects: cluster, clock, random });
  const controllers = startControllers(cluster, { storage, caCertificate: '', onError });
  const scheduler = options.scheduler === false ? undefined : new Scheduler(cluster, { onError });
  tellKubelets(cluster, kubelets);
  expireEvents(cluster, stopping.signal);
  const disks = new Map<string, NodeMounts>();
  const nodeAddresses = new AddressPool(NODE_NETWORK);

  function addNode({ name, labels, taints, capacity: stated, files = {} }: NodeOptions): void {
    if (kubelets.has(name)) throw new Error(`the sandbox has a node ${name} already: choose another name`);
    if (kubelets.size === MOST_NODES) throw new Error(`the sandbox has ${MOST_NODES} nodes: more have no addresses`);
    const capacity = { ...DEFAULT_CAPACITY, ...stated };
    const mounts = new Map<string, Volume>();
    const disk: Volume = { root: nodeDisk(), used: 0, capacity: quantityNumber(capacity['ephemeral-storage']), mounts };
    disks.set(name, new NodeMounts(disk, mounts));
    for (const [path, content] of Object.entries(files)) plant(disk.root, path, fileNode(content));
    const kubelet = new Kubelet({
      name,
      address: nodeAddresses.take(),
      ...(labels && { labels }),
      ...(taints && { taints }),
      capacity,
      cluster,
      clock,
      random,
      network,
      podAddresses: new AddressPool(`10.${244 + Math.floor(kubelets.size / 256)}.${kubelets.size % 256}.0/24`),
      storage,
      disk,
      images,
      timings: { imagePull, containerStart },
      onError,
    });
    kubelets.set(name, kubelet);
    kubelet.start();
  }

  function mountsOf(name: string): NodeMounts {
    const found = disks.get(name);
    if (found === undefined) throw new Error(unknownNode(name));
    return found;
  }

  function unknownNode(name: string): string {
    return `the sandbox has no node ${name}: it has ${[...kubelets.keys()].join(', ')}`;
  }

  function nodeNamed(name: string): Kubelet {
    const kubelet = kubelets.get(name);
    if (!kubelet) throw new Error(unknownNode(name));
    return kubelet;
  }

  function slotOf(ref: ObjectRef, container: string | undefined) {
    const key = `${ref.namespace ?? 'default'}/${ref.name}`;
    const pod = cluster.get(Pod, key);
    if (!pod) throw badRequest(`pod ${key} does not exist`);
    const slot = kubelets.get(pod.spec.nodeName ?? '')?.slot(key, container);
    if (!slot) {
      const name = container ?? pod.spec.containers[0]?.name ?? '';
      throw badRequest(`container "${name}" in pod "${ref.name}" is waiting to start: ContainerCreating`);
    }
    return slot;
  }

  function runningIn(ref: ObjectRef, name: string | undefined) {
    const { container, spec } = slotOf(ref, name);
    if (!container) throw badRequest(`container ${spec.name} in pod ${ref.name} is not running`);
    return container;
  }

  function logOf(ref: ObjectRef, container: string | undefined, previous: boolean) {
    const slot = slotOf(ref, container);
    const { name } = slot.spec;
    if (previous) {
      const log = slot.container ? slot.previousLog : (slot.previousLog ?? slot.log);
      if (!log || slot.restartCount === 0)
        throw badRequest(`previous terminated container "${name}" in pod "${ref.name}" not found`);
      return log;
    }
    if (slot.log) return slot.log;
    const { reason = 'ContainerCreating', message } = slot.state.waiting ?? {};
    const why = message && /Image/.test(reason) ? 'trying and failing to pull image' : reason;
    throw badRequest(`container "${name}" in pod "${ref.name}" is waiting to start: ${why}`);
  }

  function readLog(request: LogRequest, signal: AbortSignal): AsyncIterable<string> {
    const { name, namespace } = request.pod.metadata;
    const log = logOf({ name, ...(namespace && { namespace }) }, request.container, request.previous);
    return request.follow ? log.follow(request, signal) : once(log.read(request));
  }

  for (const node of nodes) addNode(node);

  const stop = () => {
    stopping.abort();
    scheduler?.stop();
    for (const controller of controllers) controller.stop();
    for (const kubelet of kubelets.values()) if (kubelet.running) kubelet.stop();
  };
  return {
    api,
    network,
    client: (user) => api.client(user),
    transport: (user) => api.transport(user),
    listen: (listenOptions) => listen(api, listenOptions),
    nodes: {
      stop: (name) => nodeNamed(name).stop(),
      start: (name) => nodeNamed(name).start(),
      mount: (name, path, options) => mountsOf(name).mount(path, options),
      unmount: (name, path) => mountsOf(name).unmount(path),
      add: addNode,
      list: () => cluster.list(Node).map(({ metadata }) => metadata.name),
    },
    pods: {
      exec: async (ref, argv, { container, stdin } = {}) =>
        await runningIn(ref, container).exec(argv, { ...(stdin !== undefined && { stdin }) }),
      kill: (ref, { container } = {}) => runningIn(ref, container).kill(),
      logs: (ref, { container, previous = false, tailLines } = {}) =>
        logOf(ref, container, previous).read({ ...(tailLines !== undefined && { tailLines }) }),
    },
    idle: () => controllers.every(({ ready }) => ready === 0),
    run(until, runOptions) {
      if (!isVirtual(clock))
        throw new Error('run needs a virtual clock: give createSandbox({ clock: virtualClock() })');
      return clock.run(until, runOptions);
    },
    size() {
      const parts = [
        ...controllers,
        ...(scheduler ? [scheduler] : []),
        ...kubelets.values(),
        network,
        network.services,
      ];
      return parts.reduce((sum, { size }) => sum + size, storage.size);
    },
    stop,
    [Symbol.asyncDispose]: async () => stop(),
  };
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}

function isVirtual(clock: Clock | VirtualClock): clock is VirtualClock {
  return 'run' in clock;
}

function rethrow(what: string, error: unknown): void {
  if (error instanceof StatusError && error.status.code < 500) return;
  throw new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
}
