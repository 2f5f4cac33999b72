import type { Clock, Timer } from '@openstack-operator/kube';
import type { IProbe } from 'kubernetes-models/v1';
import type { HandlerResult } from './handler.ts';

/** Which of a container's probes. */
export type ProbeType = 'Startup' | 'Readiness' | 'Liveness';

/** The kubelet's workers tick from an arbitrary moment on: a first look this soon after the start is the common case. */
const FIRST_LOOK_MS = 1000;

/**
 * Asks a container again and again: `initialDelaySeconds`, then each `periodSeconds`. A result counts once it has come
 * `successThreshold` or `failureThreshold` times in a row.
 */
export class Prober {
  readonly #probe: IProbe;
  readonly #clock: Clock;
  readonly #ask: () => Promise<HandlerResult>;
  readonly #onResult: (success: boolean) => void;
  readonly #onFailure: (result: HandlerResult) => void;
  #timer: Timer | undefined;
  #last: boolean | undefined;
  #run = 0;
  #stopped = false;

  /**
   * @param options.onResult told each time that a threshold is reached, also when nothing changes by it
   * @param options.onFailure told of each failed attempt, for events
   */
  constructor(options: {
    probe: IProbe;
    clock: Clock;
    ask: () => Promise<HandlerResult>;
    onResult: (success: boolean) => void;
    onFailure: (result: HandlerResult) => void;
  }) {
    this.#probe = options.probe;
    this.#clock = options.clock;
    this.#ask = options.ask;
    this.#onResult = options.onResult;
    this.#onFailure = options.onFailure;
  }

  start(): void {
    const first = Math.min(FIRST_LOOK_MS, this.#periodMs());
    this.#schedule((this.#probe.initialDelaySeconds ?? 0) * 1000 + first);
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #schedule(ms: number): void {
    this.#timer = this.#clock.after(ms, () => void this.#look());
  }

  async #look(): Promise<void> {
    const begun = this.#clock.monotonic();
    const result = await this.#ask();
    if (this.#stopped) return;
    // A tick that passes while an answer is awaited is skipped, as a Go ticker does.
    const elapsed = this.#clock.monotonic() - begun;
    const period = this.#periodMs();
    this.#schedule(period - (elapsed % period));
    if (result.outcome !== 'success') this.#onFailure(result);
    if (result.outcome === 'error') return;
    const success = result.outcome === 'success';
    this.#run = this.#last === success ? this.#run + 1 : 1;
    this.#last = success;
    const { failureThreshold = 3, successThreshold = 1 } = this.#probe;
    if (this.#run >= (success ? successThreshold : failureThreshold)) this.#onResult(success);
  }

  #periodMs(): number {
    return (this.#probe.periodSeconds || 10) * 1000;
  }
}
