import type { IProbe } from 'kubernetes-models/v1';
import type { Container } from './container.ts';
import type { ContainerSlot } from './container-slot.ts';
import type { NodeContext } from './node-context.ts';
import { Prober, type ProbeType } from './probe.ts';

/** Runs the probes of a pod's containers: sets `started` and `ready` of their slots, and asks for restarts. */
export class PodProbes {
  readonly #node: NodeContext;
  readonly #event: (slot: ContainerSlot, reason: string, message: string) => void;
  readonly #changed: () => void;
  readonly #restart: (slot: ContainerSlot, message: string, graceMs: number) => void;

  constructor(options: {
    node: NodeContext;
    event: (slot: ContainerSlot, reason: string, message: string) => void;
    changed: () => void;
    restart: (slot: ContainerSlot, message: string, graceMs: number) => void;
  }) {
    this.#node = options.node;
    this.#event = options.event;
    this.#changed = options.changed;
    this.#restart = options.restart;
  }

  /** A container has begun to run. */
  start(slot: ContainerSlot, container: Container, pod: { ip: string; graceSeconds: number }): void {
    const { startupProbe, readinessProbe, livenessProbe } = slot.spec;
    const begin = (type: ProbeType, probe: IProbe, onResult: (success: boolean) => void) => {
      const target = { container, spec: slot.spec, podIp: pod.ip };
      const prober = new Prober({
        probe,
        clock: this.#node.clock,
        ask: () => this.#node.handlers.run(probe, target, (probe.timeoutSeconds || 1) * 1000),
        onResult,
        onFailure: ({ outcome, output }) => {
          const how = outcome === 'error' ? 'errored and resulted in unknown state' : 'failed';
          this.#event(slot, 'Unhealthy', `${type} probe ${how}: ${output}`);
        },
      });
      slot.probers.push(prober);
      prober.start();
      return prober;
    };
    const graceOf = (probe: IProbe) => (probe.terminationGracePeriodSeconds ?? pod.graceSeconds) * 1000;
    const started = () => {
      slot.started = true;
      slot.ready = readinessProbe === undefined;
      if (readinessProbe) {
        begin('Readiness', readinessProbe, (success) => {
          if (slot.ready === success) return;
          slot.ready = success;
          this.#changed();
        });
      }
      if (livenessProbe) {
        const prober = begin('Liveness', livenessProbe, (success) => {
          if (success) return;
          prober.stop();
          this.#restart(slot, `Container ${slot.spec.name} failed liveness probe`, graceOf(livenessProbe));
        });
      }
    };
    if (!startupProbe) return started();
    const prober = begin('Startup', startupProbe, (success) => {
      prober.stop();
      if (success) started();
      else this.#restart(slot, `Container ${slot.spec.name} failed startup probe`, graceOf(startupProbe));
      this.#changed();
    });
  }

  /** The pod is being deleted: its containers are no longer asked, nor restarted. */
  quiet(slot: ContainerSlot): void {
    for (const prober of slot.probers) prober.stop();
  }

  /** The container has ended. */
  stop(slot: ContainerSlot): void {
    for (const prober of slot.probers) prober.stop();
    slot.probers = [];
  }
}
