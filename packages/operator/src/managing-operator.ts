import { keyOf, type ReconcileResult, type StoredObject } from '@openstack-operator/kube';
import { annotations, eventOf, kindOf } from '@openstack-operator/openstack';
import type { OperatorContext, OperatorIdentity } from './context.ts';

/**
 * What an operator may do with a resource: `manages` it; `unclaimed`: nobody does yet; `other class`: it is for operators
 * of another class, which is no news; or the operator that manages it.
 */
export type Charge = 'manages' | 'unclaimed' | 'other class' | { readonly operator: string };

/** `root`: the resource, or the control plane above it, whose annotations count for all that is made from it. */
export function chargeOf({ name, resourceClass }: OperatorIdentity, root: StoredObject): Charge {
  const { annotations: notes = {} } = root.metadata;
  if ((notes[annotations.operatorClass] ?? '') !== (resourceClass ?? '')) return 'other class';
  const operator = notes[annotations.operator];
  if (operator === undefined) return 'unclaimed';
  return operator === name ? 'manages' : { operator };
}

/** Milliseconds between two events that tell who manages a resource. */
const toldEvery = 3_600_000;

/** When each resource was refused last, so that it is not told at every change of it. */
export class Refusals {
  readonly #told = new Map<string, { readonly operator: string; readonly at: number }>();

  /** Tells of a resource that another operator manages who does, and how it is handed over. */
  tell(context: OperatorContext, operator: string): ReconcileResult {
    const { clock, object } = context;
    const id = idOf(object.kind, context.key);
    const last = this.#told.get(id);
    if (last?.operator === operator && clock.now() - last.at < toldEvery)
      return { requeueAfter: last.at + toldEvery - clock.now() };
    this.#told.set(id, { operator, at: clock.now() });
    const own = context.operator.name;
    const note =
      `${object.kind} ${keyOf(object)} is managed by the operator in namespace ${operator}; the one in namespace ${own} leaves ` +
      `it alone. To hand it over, stop the other one and annotate the resource: ${annotations.operator}=${own}`;
    context.event(eventOf('ManagedByOtherOperator', note));
    context.log.warn('another operator manages the resource', { operator });
    return { requeueAfter: toldEvery };
  }

  /** The resource is gone. */
  forget(kind: string, key: string): void {
    this.#told.delete(idOf(kind, key));
  }
}

function idOf(kind: string, key: string): string {
  return `${kind} ${key}`;
}

/**
 * Records that this operator manages the resource. Under the resourceVersion: of two operators one wins, and the other
 * meets a conflict. The change wakes the resource again.
 * @throws ApiError 409 when somebody was faster
 */
export async function claimResource({ client, object, operator, signal }: OperatorContext): Promise<void> {
  const { name, namespace = '', uid, resourceVersion } = object.metadata;
  const patch = { metadata: { uid, resourceVersion, annotations: { [annotations.operator]: operator.name } } };
  await client.patch(kindOf(object), { name, namespace }, 'merge', patch, { signal });
}
