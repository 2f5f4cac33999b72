import type { ContainerSlot } from './container-slot.ts';
import type { NodeContext } from './node-context.ts';

/** A container that was told to stop gets at least this long (kuberuntime minimumGracePeriodInSeconds). */
export const LEAST_GRACE_MS = 2_000;

/** Stops a container: preStop, SIGTERM, and SIGKILL when the grace is over. Resolves when it has ended. */
export async function stopContainer(options: {
  readonly slot: ContainerSlot;
  readonly graceMs: number;
  readonly node: NodeContext;
  readonly podIp: string;
  killing(): void;
  preStopFailed(): void;
}): Promise<void> {
  const { slot, graceMs, node, podIp } = options;
  const { container, spec } = slot;
  if (!container) return;
  const ended = new Promise<void>((resolve) => {
    if (container.ended.aborted) resolve();
    else container.ended.addEventListener('abort', () => resolve(), { once: true });
  });
  if (slot.stopping) return ended;
  slot.stopping = true;
  options.killing();
  const deadline = node.clock.monotonic() + graceMs;
  const { preStop } = spec.lifecycle ?? {};
  if (preStop && graceMs > 0) {
    const result = await node.handlers.run(preStop, { container, spec, podIp }, graceMs);
    if (result.outcome !== 'success') options.preStopFailed();
  }
  if (container.ended.aborted) return;
  const left = Math.max(LEAST_GRACE_MS, deadline - node.clock.monotonic());
  const timer = node.clock.after(left, () => container.kill());
  container.ended.addEventListener('abort', () => timer.cancel(), { once: true });
  container.terminate();
  return ended;
}
