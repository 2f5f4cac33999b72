import type { KubeObject, StoredObject } from '@openstack-operator/kube';
import { annotations, kindOf, ownershipOf } from '@openstack-operator/openstack';
import { leavingReplicas } from './autoscalers.ts';
import { ContendedObjectError } from './contention.ts';
import type { ComposeContext } from './context.ts';

/** An object that is to be applied, with the digest of what it states among its annotations. */
export interface Applied {
  readonly object: KubeObject;
  /** Has no owner reference. */
  readonly retained?: boolean;
  /** As the cache has it. */
  readonly live?: StoredObject | undefined;
  /** Its replicas stay as they are. */
  readonly autoscaled?: boolean;
}

/**
 * Applies an object. What somebody changes back each time is corrected more and more seldom.
 * @throws ContendedObjectError when it is not its time yet
 */
export async function apply(
  context: ComposeContext,
  { object, retained = false, live, autoscaled = false }: Applied,
): Promise<StoredObject> {
  const { name = '', namespace = '' } = object.metadata;
  const state = object.metadata.annotations?.[annotations.applied] ?? '';
  const wait = live === undefined ? 0 : context.contention.wait(live, state, context.clock.monotonic());
  if (wait > 0) {
    // The cache holds no field managers.
    const current = await context.client.get(kindOf(object), { name, namespace }, { signal: context.signal });
    throw new ContendedObjectError(current, context.clock, wait);
  }
  const stated = autoscaled ? await leavingReplicas(context, object) : object;
  const outcome = await context.apply(stated, ownershipOf(context.object, retained));
  if (live !== undefined && outcome.metadata.resourceVersion !== live.metadata.resourceVersion)
    context.contention.changed(live, state, context.clock.monotonic());
  return outcome;
}
