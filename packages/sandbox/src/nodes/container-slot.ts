import type { IContainer, IContainerState, IContainerStatus } from 'kubernetes-models/v1';
import type { Pod, Stored } from '../cluster/kinds.ts';
import type { Container } from './container.ts';
import type { ContainerLog } from './container-log.ts';
import type { Prober } from './probe.ts';

/** How a container belongs to its pod: `sidecar` is an init container with restartPolicy Always. */
export type ContainerRole = 'init' | 'sidecar' | 'main';

/** One container of a pod over all its runs. */
export interface ContainerSlot {
  readonly spec: IContainer;
  readonly role: ContainerRole;
  state: IContainerState;
  lastState: IContainerState | undefined;
  restartCount: number;
  /** The present run, from its creation to its end. */
  container: Container | undefined;
  containerId: string | undefined;
  imageId: string;
  started: boolean;
  ready: boolean;
  /** Something that takes time is under way: a pull, a hook, a stop. */
  busy: boolean;
  stopping: boolean;
  /** Milliseconds since the epoch. */
  startedAt: number;
  finishedAt: number;
  /** Crash back-off: how long the next wait is, and when it was last raised. */
  backOff: { ms: number; at: number } | undefined;
  /** Image pull back-off. */
  pull: { ms: number; until: number; message: string } | undefined;
  /** Not tried again before, after a configuration error. */
  retryAt: number;
  log: ContainerLog | undefined;
  previousLog: ContainerLog | undefined;
  probers: Prober[];
}

/** The slots of a pod, init containers first; what an earlier kubelet reported is taken up. */
export function containerSlots(pod: Stored<Pod>): ContainerSlot[] {
  const { initContainers = [], containers } = pod.spec;
  const reported = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const slot = (spec: IContainer, role: ContainerRole): ContainerSlot => ({
    spec,
    role,
    state: {
      waiting: { reason: role === 'main' && initContainers.length > 0 ? 'PodInitializing' : 'ContainerCreating' },
    },
    lastState: undefined,
    restartCount: 0,
    container: undefined,
    containerId: undefined,
    imageId: '',
    started: false,
    ready: false,
    busy: false,
    stopping: false,
    startedAt: 0,
    finishedAt: 0,
    backOff: undefined,
    pull: undefined,
    retryAt: 0,
    log: undefined,
    previousLog: undefined,
    probers: [],
    ...takeUp(reported.find(({ name }) => name === spec.name)),
  });
  return [
    ...initContainers.map((spec) => slot(spec, spec.restartPolicy === 'Always' ? 'sidecar' : 'init')),
    ...containers.map((spec) => slot(spec, 'main')),
  ];
}

/** After a node's restart: what ran is gone, what had ended stays ended. */
function takeUp(status: IContainerStatus | undefined): Partial<ContainerSlot> {
  if (!status?.containerID) return {};
  const { running, terminated } = status.state ?? {};
  const ended: IContainerState | undefined = running
    ? {
        terminated: {
          exitCode: 255,
          reason: 'Unknown',
          startedAt: running.startedAt ?? '',
          finishedAt: running.startedAt ?? '',
          containerID: status.containerID,
        },
      }
    : terminated && { terminated };
  return {
    restartCount: status.restartCount,
    containerId: status.containerID,
    imageId: status.imageID,
    ...(ended && { state: ended }),
    ...(status.lastState && { lastState: status.lastState }),
  };
}

/** Whether a container that has ended is started again. */
export function restarts(pod: Stored<Pod>, slot: ContainerSlot): boolean {
  const { terminated } = slot.state;
  const policy = pod.spec.restartPolicy ?? 'Always';
  if (slot.role === 'sidecar') return true;
  if (slot.role === 'init') return terminated?.exitCode !== 0 && policy !== 'Never';
  return policy === 'Always' || (policy === 'OnFailure' && terminated?.exitCode !== 0);
}
