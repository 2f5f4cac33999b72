import { isDeepStrictEqual } from 'node:util';
import type { Condition } from '@openstack-operator/kube';
import { conditionOf, eventTypeOf } from '@openstack-operator/openstack';
import type { OperatorContext } from './context.ts';

/** Milliseconds between two statuses of a resource that only tell of its progress. */
const shortest = 1000;

type Status = Readonly<Record<string, unknown>>;

/**
 * How often the status of a resource is written. In a rollout a step is done every few milliseconds, and each status is a
 * write, an event to all who watch, and a reconcile of the control plane. What is awaited may be told a second later; what
 * somebody waits for or has to act on is told at once.
 */
export class StatusPace {
  readonly #written = new Map<string, number>();

  /** Milliseconds that the status may wait; 0 when it is to be written now. */
  wait(context: OperatorContext, status: Status): number {
    const last = this.#written.get(idOf(context.object.kind, context.key));
    if (last === undefined || !isMereProgress(context, status)) return 0;
    return Math.max(0, last + shortest - context.clock.monotonic());
  }

  /** The status was written. */
  written({ object, key, clock }: OperatorContext): void {
    this.#written.set(idOf(object.kind, key), clock.monotonic());
  }

  /** The resource is gone. */
  forget(kind: string, key: string): void {
    this.#written.delete(idOf(kind, key));
  }
}

/** Fields whose changes somebody waits for. */
const telling = [
  'observedGeneration',
  'lastHandledReconcileAt',
  'readyGeneration',
  'phase',
  'release',
  'members',
  'rotated',
  'authorities',
  'tls',
];

/** Whether a status tells of nothing but steps of the same rollout: no event belongs to it. */
function isMereProgress({ object }: OperatorContext, status: Status): boolean {
  const before = (object['status'] ?? {}) as Status;
  const same = (field: string) => isDeepStrictEqual(before[field], status[field]);
  if (!telling.every(same)) return false;
  return (status['conditions'] as Condition[]).every(({ type, status: now, reason }) => {
    const { status: was, reason: why } = conditionOf(object, type) ?? {};
    if (type === 'Ready' && was !== now) return false;
    return why === reason || (isQuiet(reason) && isQuiet(why));
  });
}

/** Whether a reason calls for nobody. */
function isQuiet(reason: string | undefined): boolean {
  return reason === undefined || eventTypeOf(reason) !== 'Warning';
}

function idOf(kind: string, key: string): string {
  return `${kind} ${key}`;
}
