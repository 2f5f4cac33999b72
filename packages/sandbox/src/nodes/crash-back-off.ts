import type { Pod, Stored } from '../cluster/kinds.ts';
import type { ContainerSlot } from './container-slot.ts';

const FIRST_MS = 10_000;
const LONGEST_MS = 300_000;

/**
 * Milliseconds that a container that has ended still has to wait before it is started again (doBackOff in
 * pkg/kubelet/kuberuntime): the first restart is at once, then 10 s, 20 s .. 5 min; forgotten after a run of 10 minutes.
 * Sets the slot's state to CrashLoopBackOff while it waits, and raises the back-off when it does not.
 */
export function crashBackOff(
  slot: ContainerSlot,
  pod: Stored<Pod>,
  now: number,
  warn: (reason: string, message: string) => void,
): number {
  // A configuration error after a crash keeps its own reason and its own clock.
  if (slot.state.waiting && slot.state.waiting.reason !== 'CrashLoopBackOff') return 0;
  const { backOff, finishedAt } = slot;
  const forgotten = backOff === undefined || finishedAt - backOff.at > 2 * LONGEST_MS;
  const wait = forgotten ? 0 : finishedAt + backOff.ms - now;
  if (wait <= 0) {
    slot.backOff = { ms: forgotten ? FIRST_MS : Math.min(backOff.ms * 2, LONGEST_MS), at: now };
    return 0;
  }
  if (slot.state.terminated) {
    const { name, namespace, uid } = pod.metadata;
    const where = `${name}_${namespace}(${uid})`;
    const message = `back-off ${goDuration(backOff?.ms ?? 0)} restarting failed container=${slot.spec.name} pod=${where}`;
    slot.lastState = slot.state;
    slot.state = { waiting: { reason: 'CrashLoopBackOff', message } };
    warn('BackOff', `Back-off restarting failed container ${slot.spec.name} in pod ${where}`);
  }
  return wait;
}

/** `10s`, `1m20s`, `5m0s`, as Go prints durations. */
function goDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
