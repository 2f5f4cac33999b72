import type { IContainerStatus, IPodCondition, IPodStatus } from 'kubernetes-models/v1';
import type { Pod, Stored } from '../cluster/kinds.ts';
import { qualityOfService } from '../resources/builtin/quality-of-service.ts';
import type { JsonObject } from '../resources/json.ts';
import { type ContainerSlot, restarts } from './container-slot.ts';

/** What a node tells of a pod beside its containers. */
export interface PodFindings {
  readonly hostIp: string;
  /** Absent before the pod's network is set up. */
  readonly podIp?: string;
  readonly startTime: string;
  readonly now: string;
  /** The pod's containers have stopped and will not start again. */
  readonly terminal: boolean;
  /** Why the node failed the pod as a whole: `DeadlineExceeded`, `Evicted`. */
  readonly failure?: { readonly reason: string; readonly message: string };
}

/**
 * The status that a kubelet reports (pkg/kubelet/kubelet_pods.go, status/generate.go). Conditions that others own
 * (readiness gates, DisruptionTarget) stay; times of conditions move only with their status.
 */
export function podStatus(pod: Stored<Pod>, slots: readonly ContainerSlot[], findings: PodFindings): IPodStatus {
  const old = pod.status ?? {};
  const phase = findings.failure ? 'Failed' : podPhase(pod, slots, findings.terminal);
  const terminal = phase === 'Failed' || phase === 'Succeeded';
  const inits = slots.filter(({ role }) => role !== 'main').map((slot) => containerStatus(slot, terminal));
  const mains = slots.filter(({ role }) => role === 'main').map((slot) => containerStatus(slot, terminal));
  const { podIp, hostIp } = findings;
  return {
    ...old,
    ...(pod.metadata.generation !== undefined && { observedGeneration: pod.metadata.generation }),
    phase,
    ...findings.failure,
    hostIP: hostIp,
    hostIPs: [{ ip: hostIp }],
    ...(podIp && { podIP: podIp, podIPs: [{ ip: podIp }] }),
    startTime: old.startTime ?? findings.startTime,
    qosClass: old.qosClass ?? qualityOfService(pod.spec as unknown as JsonObject),
    conditions: podConditions(pod, slots, findings, phase),
    ...(inits.length > 0 && { initContainerStatuses: inits }),
    containerStatuses: mains.sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

function containerStatus(slot: ContainerSlot, terminal: boolean): IContainerStatus {
  const { spec, state, lastState } = slot;
  const completed = slot.role === 'init' && state.terminated?.exitCode === 0;
  return {
    name: spec.name,
    state,
    lastState: lastState ?? {},
    ready: completed || (slot.ready && state.running !== undefined && !terminal),
    started: slot.started && state.running !== undefined,
    restartCount: slot.restartCount,
    image: spec.image ?? '',
    imageID: slot.imageId,
    ...(slot.containerId && { containerID: slot.containerId }),
  };
}

function podPhase(
  pod: Stored<Pod>,
  slots: readonly ContainerSlot[],
  terminal: boolean,
): NonNullable<IPodStatus['phase']> {
  const inits = slots.filter(({ role }) => role === 'init');
  const mains = slots.filter(({ role }) => role === 'main');
  const sidecars = slots.filter(({ role }) => role === 'sidecar');
  const exitOf = (slot: ContainerSlot) => slot.state.terminated ?? (slot.state.waiting && slot.lastState?.terminated);
  const initFailed = inits.some(
    (slot) => exitOf(slot) !== undefined && exitOf(slot)?.exitCode !== 0 && !restarts(pod, slot),
  );
  if (initFailed) return 'Failed';
  const initialized = hasStarted(mains);
  const pendingInit = inits.some((slot) => exitOf(slot) === undefined);
  const pendingSidecar = !initialized && sidecars.some(({ started }) => !started);
  const waiting = mains.some((slot) => slot.state.waiting && !exitOf(slot));
  if (pendingInit || pendingSidecar || waiting) return 'Pending';
  if (mains.some(({ state }) => state.running) || sidecars.some(({ state }) => state.running)) return 'Running';
  if (!terminal && mains.some((slot) => restarts(pod, slot))) return 'Running';
  return mains.every((slot) => exitOf(slot)?.exitCode === 0) ? 'Succeeded' : 'Failed';
}

function hasStarted(mains: readonly ContainerSlot[]): boolean {
  return mains.some(({ containerId }) => containerId !== undefined);
}

function podConditions(
  pod: Stored<Pod>,
  slots: readonly ContainerSlot[],
  findings: PodFindings,
  phase: string,
): IPodCondition[] {
  const old = pod.status?.conditions ?? [];
  const mains = slots.filter(({ role }) => role === 'main');
  const names = (list: readonly ContainerSlot[]) => `[${list.map(({ spec }) => spec.name).join(' ')}]`;
  const incomplete = slots.filter(
    (slot) =>
      (slot.role === 'init' && slot.state.terminated?.exitCode !== 0) || (slot.role === 'sidecar' && !slot.started),
  );
  const initialized: Verdict =
    phase === 'Succeeded'
      ? { status: 'True', reason: 'PodCompleted' }
      : hasStarted(mains) || incomplete.length === 0
        ? { status: 'True' }
        : {
            status: 'False',
            reason: 'ContainersNotInitialized',
            message: `containers with incomplete status: ${names(incomplete)}`,
          };
  const unready = slots.filter(({ role, ready, state }) => role !== 'init' && !(ready && state.running));
  const containersReady: Verdict =
    phase === 'Succeeded'
      ? { status: 'False', reason: 'PodCompleted' }
      : phase === 'Failed'
        ? { status: 'False', reason: 'PodFailed' }
        : unready.length > 0
          ? {
              status: 'False',
              reason: 'ContainersNotReady',
              message: `containers with unready status: ${names(unready)}`,
            }
          : { status: 'True' };
  const verdicts: Record<string, Verdict> = {
    PodReadyToStartContainers: {
      status: findings.podIp && phase !== 'Succeeded' && phase !== 'Failed' ? 'True' : 'False',
    },
    Initialized: initialized,
    Ready: containersReady.status === 'True' ? readinessGates(pod) : containersReady,
    ContainersReady: containersReady,
    PodScheduled: { status: 'True' },
  };
  const own = Object.entries(verdicts).map(([type, verdict]): IPodCondition => {
    const before = old.find((condition) => condition.type === type);
    const changed = before?.status !== verdict.status;
    return {
      type,
      ...verdict,
      ...(pod.metadata.generation !== undefined && { observedGeneration: pod.metadata.generation }),
      lastProbeTime: null as unknown as string,
      lastTransitionTime: changed ? findings.now : (before?.lastTransitionTime ?? findings.now),
    };
  });
  return [...own, ...old.filter(({ type }) => !(type in verdicts))];
}

type Verdict = Pick<IPodCondition, 'status' | 'reason' | 'message'>;

function readinessGates(pod: Stored<Pod>): Verdict {
  const complaints: string[] = [];
  for (const { conditionType } of pod.spec.readinessGates ?? []) {
    const condition = pod.status?.conditions?.find(({ type }) => type === conditionType);
    if (!condition) complaints.push(`corresponding condition of pod readiness gate "${conditionType}" does not exist.`);
    else if (condition.status !== 'True') {
      complaints.push(`the status of pod readiness gate "${conditionType}" is not "True", but ${condition.status}`);
    }
  }
  if (complaints.length === 0) return { status: 'True' };
  return { status: 'False', reason: 'ReadinessGatesNotReady', message: complaints.join(', ') };
}
