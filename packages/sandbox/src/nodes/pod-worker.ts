import { sleep, type Timer, timestamp } from '@openstack-operator/kube';
import { Pod, type Stored } from '../cluster/kinds.ts';
import { deepEqual } from '../resources/json.ts';
import { type Container, type Exit, StartError } from './container.ts';
import { type ContainerSlot, containerSlots, restarts } from './container-slot.ts';
import { ContainerError, createContainer, terminationMessage } from './container-start.ts';
import { LEAST_GRACE_MS, stopContainer } from './container-stop.ts';
import { crashBackOff } from './crash-back-off.ts';
import { ensureImage } from './image-pull.ts';
import type { NodeContext } from './node-context.ts';
import { type PodNetwork, setUpPodNetwork } from './pod-network.ts';
import { PodProbes } from './pod-probes.ts';
import { podStatus } from './pod-status.ts';
import type { PodVolumes } from './pod-volumes.ts';

const FIRST_MOUNT_RETRY_MS = 500;
const LONGEST_MOUNT_RETRY_MS = 122_000;
const CONFIG_RETRY_MS = 10_000;
const START_ERROR = 128;

/** Runs one pod: compares what its containers do with what they should do, and does the next thing. */
export class PodWorker {
  readonly slots: readonly ContainerSlot[];
  readonly #node: NodeContext;
  readonly #volumes: PodVolumes;
  readonly #probes: PodProbes;
  readonly #onFinished: () => void;
  readonly #key: string;
  readonly #timers = new Map<string, Timer>();
  #pod: Stored<Pod>;
  #network: PodNetwork | undefined;
  #mountRetryMs = FIRST_MOUNT_RETRY_MS;
  #failure: { reason: string; message: string } | undefined;
  #terminating = false;
  #terminal = false;
  #finished = false;
  #syncing = false;
  #again = false;

  /** @param options.onFinished told once, when the pod has stopped and left the node */
  constructor(options: { pod: Stored<Pod>; node: NodeContext; volumes: PodVolumes; onFinished: () => void }) {
    this.#pod = options.pod;
    this.#node = options.node;
    this.#volumes = options.volumes;
    this.#onFinished = options.onFinished;
    this.#key = `${options.pod.metadata.namespace}/${options.pod.metadata.name}`;
    this.slots = containerSlots(options.pod);
    this.#probes = new PodProbes({
      node: options.node,
      event: (slot, reason, message) => this.#event(slot, reason, message, 'Warning'),
      changed: () => this.sync(),
      restart: (slot, message, graceMs) => void this.#stop(slot, `${message}, will be restarted`, graceMs),
    });
    const { phase } = options.pod.status ?? {};
    this.#terminal = phase === 'Succeeded' || phase === 'Failed';
  }

  get pod(): Stored<Pod> {
    return this.#pod;
  }

  /** The pod has changed in the API. */
  update(pod: Stored<Pod>): void {
    this.#pod = pod;
    this.sync();
  }

  /** The pod has vanished from the API: what still runs is stopped. */
  orphan(): void {
    if (this.#finished) return;
    this.#terminating = true;
    void this.#terminate(LEAST_GRACE_MS);
  }

  /** A ConfigMap or Secret that a volume is made from has changed. */
  refreshVolumes(): void {
    if (this.#network) this.#volumes.refresh(this.#pod, this.#facts());
  }

  /** The node loses its power: everything ends at once, nobody is told. */
  cutOff(): void {
    this.#finished = true;
    this.#stopTimers();
    for (const slot of this.slots) {
      this.#probes.stop(slot);
      slot.container?.kill();
    }
    this.#network?.release();
  }

  /** Does what is to be done now. */
  sync(): void {
    if (this.#finished) return;
    this.#again = true;
    if (this.#syncing) return;
    this.#syncing = true;
    try {
      while (this.#again && !this.#finished) {
        this.#again = false;
        this.#step();
      }
    } finally {
      this.#syncing = false;
    }
  }

  #step(): void {
    const { deletionTimestamp, deletionGracePeriodSeconds = 30 } = this.#pod.metadata;
    if (deletionTimestamp && !this.#terminating) {
      this.#terminating = true;
      this.#report();
      void this.#terminate(Math.max(LEAST_GRACE_MS, deletionGracePeriodSeconds * 1000));
      return;
    }
    if (!this.#terminating && !this.#terminal && this.#prepared()) this.#advance();
    this.#report();
  }

  /** Volumes and network: true when containers may start. */
  #prepared(): boolean {
    if (this.#network) return true;
    const failures = this.#volumes.setUp(this.#pod, this.#facts());
    if (failures.length > 0) {
      for (const { reason, message } of failures) this.#record(reason, message, 'Warning');
      this.#wake('mount', this.#mountRetryMs);
      this.#mountRetryMs = Math.min(this.#mountRetryMs * 2, LONGEST_MOUNT_RETRY_MS);
      return false;
    }
    this.#network = setUpPodNetwork(this.#pod, this.#node);
    const { activeDeadlineSeconds } = this.#pod.spec;
    if (activeDeadlineSeconds !== undefined) {
      this.#timers.set(
        'deadline',
        this.#node.clock.after(activeDeadlineSeconds * 1000, () => this.#exceedDeadline()),
      );
    }
    return true;
  }

  /** Init containers one after another, sidecars among them, then all others. */
  #advance(): void {
    const mains = this.slots.filter(({ role }) => role === 'main');
    if (mains.every((slot) => slot.state.terminated && !restarts(this.#pod, slot))) return this.#complete();
    const initialized = mains.some(({ containerId }) => containerId !== undefined);
    for (const slot of this.slots) {
      if (slot.role === 'init' && (initialized || slot.state.terminated?.exitCode === 0)) continue;
      this.#ensure(slot);
      if (initialized || slot.role === 'main') continue;
      if (slot.role === 'init') {
        if (slot.state.terminated && !restarts(this.#pod, slot)) this.#complete();
        return;
      }
      if (!slot.started) return;
    }
  }

  /** All containers that count have ended: sidecars are stopped, the pod is through. */
  #complete(): void {
    this.#terminal = true;
    void this.#stopAll(this.#graceMs()).then(() => {
      this.#release();
      this.#report();
    });
  }

  #ensure(slot: ContainerSlot): void {
    if (slot.container || slot.busy) return;
    const now = this.#node.clock.now();
    if (slot.containerId !== undefined) {
      if (slot.state.terminated && !restarts(this.#pod, slot)) return;
      const wait = crashBackOff(slot, this.#pod, now, (reason, message) =>
        this.#event(slot, reason, message, 'Warning'),
      );
      if (wait > 0) return this.#wake(slot.spec.name, wait);
    }
    if (slot.retryAt > now) return this.#wake(slot.spec.name, slot.retryAt - now);
    slot.busy = true;
    void this.#start(slot).finally(() => {
      slot.busy = false;
      this.sync();
    });
  }

  async #start(slot: ContainerSlot): Promise<void> {
    const node = this.#node;
    const pulled = await ensureImage(slot, node, (reason, message, type) => this.#event(slot, reason, message, type));
    if (this.#finished || this.#terminating || !this.#network) return;
    if (!('image' in pulled)) return this.#wait(slot, pulled.reason, pulled.message, pulled.retryAt);
    if (node.timings.containerStart > 0) await sleep(node.clock, node.timings.containerStart);
    if (this.#finished || this.#terminating) return;
    let container: Container;
    try {
      container = createContainer({
        node,
        pod: this.#pod,
        slot,
        image: pulled.image,
        network: this.#network,
        volumes: this.#volumes,
        onExit: (ended, exit) => this.#onExit(slot, ended, exit),
      });
    } catch (error) {
      if (!(error instanceof ContainerError)) throw error;
      this.#event(slot, 'Failed', `Error: ${error.message}`, 'Warning');
      return this.#wait(slot, error.reason, error.message, node.clock.now() + CONFIG_RETRY_MS);
    }
    this.#begin(slot, container);
    await this.#launch(slot, container);
  }

  #begin(slot: ContainerSlot, container: Container): void {
    if (slot.containerId !== undefined) {
      slot.restartCount++;
      if (slot.state.terminated) slot.lastState = slot.state;
    }
    slot.previousLog = slot.log;
    slot.log = container.log;
    slot.container = container;
    slot.containerId = container.id;
    slot.imageId = slot.spec.image ?? '';
    slot.startedAt = this.#node.clock.now();
    this.#event(slot, 'Created', 'Container created', 'Normal');
  }

  async #launch(slot: ContainerSlot, container: Container): Promise<void> {
    try {
      container.start();
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      this.#event(slot, 'Failed', `Error: ${error.message}`, 'Warning');
      this.#onExit(slot, container, { code: START_ERROR, reason: 'StartError', message: error.message });
      return;
    }
    this.#event(slot, 'Started', 'Container started', 'Normal');
    const postStart = slot.spec.lifecycle?.postStart;
    if (postStart) {
      const target = { container, spec: slot.spec, podIp: this.#network?.host.address ?? '' };
      const result = await this.#node.handlers.run(postStart, target, this.#graceMs());
      if (slot.container !== container) return;
      if (result.outcome !== 'success') {
        this.#event(slot, 'FailedPostStartHook', 'PostStartHook failed', 'Warning');
        await this.#stop(slot, 'FailedPostStartHook', this.#graceMs());
        return;
      }
    }
    slot.state = { running: { startedAt: timestamp(this.#node.clock) } };
    this.#probes.start(slot, container, {
      ip: this.#network?.host.address ?? '',
      graceSeconds: this.#graceMs() / 1000,
    });
  }

  #wait(slot: ContainerSlot, reason: string, message: string, retryAt: number): void {
    if (slot.state.terminated) slot.lastState = slot.state;
    slot.state = { waiting: { reason, message } };
    slot.retryAt = retryAt;
  }

  #onExit(slot: ContainerSlot, container: Container, exit: Exit): void {
    if (slot.container !== container) return;
    const finishedAt = timestamp(this.#node.clock);
    const message = exit.message ?? terminationMessage(slot, container, exit);
    slot.container = undefined;
    slot.started = false;
    slot.ready = false;
    slot.stopping = false;
    slot.finishedAt = this.#node.clock.now();
    slot.state = {
      terminated: {
        exitCode: exit.code,
        reason: exit.reason,
        ...(message && { message }),
        startedAt: timestamp({ ...this.#node.clock, now: () => slot.startedAt }),
        finishedAt,
        containerID: container.id,
      },
    };
    this.#probes.stop(slot);
    this.sync();
  }

  #stop(slot: ContainerSlot, why: string, graceMs: number): Promise<void> {
    return stopContainer({
      slot,
      graceMs,
      node: this.#node,
      podIp: this.#network?.host.address ?? '',
      killing: () => this.#event(slot, 'Killing', why, 'Normal'),
      preStopFailed: () => this.#event(slot, 'FailedPreStopHook', 'PreStopHook failed', 'Warning'),
    });
  }

  /** All main containers side by side, then the sidecars, last one first. */
  async #stopAll(graceMs: number): Promise<void> {
    const running = this.slots.filter(({ container }) => container);
    const say = ({ spec }: ContainerSlot) => `Stopping container ${spec.name}`;
    const others = running.filter(({ role }) => role !== 'sidecar');
    await Promise.all(others.map((slot) => this.#stop(slot, say(slot), graceMs)));
    for (const slot of running.filter(({ role }) => role === 'sidecar').reverse()) {
      await this.#stop(slot, say(slot), graceMs);
    }
  }

  async #terminate(graceMs: number): Promise<void> {
    for (const slot of this.slots) this.#probes.quiet(slot);
    await this.#stopAll(graceMs);
    if (this.#finished) return;
    this.#terminal = true;
    this.#release();
    this.#report();
    this.#finished = true;
    const live = this.#node.cluster.get(Pod, this.#key);
    if (live?.metadata.uid === this.#pod.metadata.uid && live.metadata.deletionTimestamp) {
      this.#node.cluster.delete(Pod, live, { gracePeriodSeconds: 0 });
    }
    this.#onFinished();
  }

  #exceedDeadline(): void {
    if (this.#terminal || this.#terminating) return;
    this.#failure = {
      reason: 'DeadlineExceeded',
      message: 'Pod was active on the node longer than the specified deadline',
    };
    this.#record('DeadlineExceeded', this.#failure.message, 'Normal');
    this.#complete();
  }

  #release(): void {
    this.#stopTimers();
    this.#network?.release();
    this.#node.storage.detach(this.#pod.metadata.uid);
  }

  #stopTimers(): void {
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }

  #wake(name: string, ms: number): void {
    this.#timers.get(name)?.cancel();
    this.#timers.set(
      name,
      this.#node.clock.after(ms, () => {
        this.#timers.delete(name);
        this.sync();
      }),
    );
  }

  /** Writes the status when it has changed. */
  #report(): void {
    const live = this.#node.cluster.get(Pod, this.#key);
    if (live?.metadata.uid !== this.#pod.metadata.uid) return;
    const now = timestamp(this.#node.clock);
    const status = podStatus(live, this.slots, {
      hostIp: this.#node.host.address,
      ...(this.#network && { podIp: this.#network.host.address }),
      startTime: now,
      now,
      terminal: this.#terminal && this.slots.every(({ container }) => !container),
      ...(this.#failure && { failure: this.#failure }),
    });
    if (!deepEqual(status, live.status)) this.#node.cluster.updateStatus(Pod, this.#key, status);
  }

  #event(slot: ContainerSlot, reason: string, message: string, type: 'Normal' | 'Warning'): void {
    const list = slot.role === 'main' ? 'containers' : 'initContainers';
    this.#record(reason, message, type, `spec.${list}{${slot.spec.name}}`);
  }

  #record(reason: string, message: string, type: 'Normal' | 'Warning', fieldPath?: string): void {
    const host = this.#node.name;
    this.#node.recorder.record(this.#pod, reason, message, { type, host, ...(fieldPath && { fieldPath }) });
  }

  #facts() {
    const hostIp = this.#node.host.address;
    return { podIp: this.#network?.host.address ?? '', hostIp, allocatable: this.#node.allocatable };
  }

  #graceMs(): number {
    return (this.#pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
  }
}
