import type { Reason } from '../engine/status/reasons.ts';
import type { Cause } from '../engine/vocabulary/step.ts';

/** Whether one object is as desired; otherwise what is awaited. */
export type Health =
  /**
   * `note`: of node agents that wait for somebody to have them replaced. `leaving`: of those that the operator
   * replaces by itself; `true` when a resource says it of its own. `remark`: of what is as it should be, all the same. `degraded`:
   * usable, but something is to be mended.
   */
  | {
      readonly done: true;
      readonly note?: string;
      readonly leaving?: string | true;
      readonly remark?: string;
      readonly degraded?: string;
      /** Of what is degraded. */
      readonly causes?: readonly Cause[];
      readonly requeueAfter?: number;
    }
  | {
      readonly done: false;
      readonly reason: Reason;
      readonly message: string;
      /** Why it is not: pods, nodes, other resources. The first one explains most. */
      readonly causes?: readonly Cause[];
      /** What stays until then, said after the causes. */
      readonly meanwhile?: string;
      readonly requeueAfter?: number;
      /** When what is awaited showed a sign of life last (milliseconds since the epoch). */
      readonly begun?: number;
      /** Another resource of ours says it, which knows itself when it waits too long. */
      readonly said?: boolean;
      /** A Job that has to run anew: like what is missing, it waits for what the step awaits. */
      readonly rerun?: boolean;
    };

/** As desired. */
export const done: Health = { done: true };

/** Not as desired yet. */
export const wait = (reason: Reason, message: string): Health & { done: false } => ({ done: false, reason, message });
