import { isDeepStrictEqual } from 'node:util';
import type { StoredObject } from '@openstack-operator/kube';
import { kindOf, protectFinalizer, rootNamed, rootOf as rootReferenceOf } from '@openstack-operator/openstack';
import type { OperatorContext } from './context.ts';
import { chargeOf } from './managing-operator.ts';
import { isPaused } from './report.ts';

/** The resource says something else than when the reconcile began: the next one decides. Nobody is told. */
export class SupersededError extends Error {
  override readonly name = 'SupersededError';

  constructor({ key }: OperatorContext, act: string) {
    super(`${key} was changed in the meantime: ${act} is left to the next reconcile`);
  }
}

/** Whether the resource says what it said when the reconcile began, as far as the cache knows. */
export function isStillMeant(context: OperatorContext): boolean {
  const { uid, generation, deletionTimestamp, annotations: notes } = context.object.metadata;
  const now = context.cache.get(kindOf(context.object), context.key);
  return (
    now?.metadata.uid === uid &&
    now?.metadata.generation === generation &&
    now?.metadata.deletionTimestamp === deletionTimestamp &&
    isDeepStrictEqual(now?.metadata.annotations, notes) &&
    // What is being deleted itself goes either way.
    (deletionTimestamp !== undefined || !isGoingWithOwner(context)) &&
    (deletionTimestamp !== undefined || chargeOf(context.operator, rootOf(context)) === 'manages') &&
    whoPaused(context) === undefined
  );
}

/**
 * The same context, whose every removal asks first whether the resource is still meant: a list of removals takes time, in
 * which a user may take the change back or pause the resource.
 */
export function careful<P extends OperatorContext>(context: P): P {
  return {
    ...context,
    remove: async (object, options) => {
      assertStillMeant(context, `the deletion of ${object.kind} ${object.metadata.name}`);
      return await context.remove(object, options);
    },
  };
}

/** Stops before an act that cannot be undone when the resource was changed since the reconcile began. */
export function assertStillMeant(context: OperatorContext, act: string): void {
  if (!isStillMeant(context)) throw new SupersededError(context, act);
}

/** The root of the cloud that made this resource, such as a control plane: its reference, and what is known of its kind. */
function madeBy({ object, cache }: OperatorContext) {
  const owner = rootReferenceOf(object);
  const root = owner && rootNamed(owner);
  return owner === undefined || root === undefined || !cache.has(root.kind) ? undefined : { owner, root };
}

/** The root that made this resource, while it is there. */
export function ownerOf(context: OperatorContext): StoredObject | undefined {
  const made = madeBy(context);
  if (made === undefined) return undefined;
  const { namespace = '' } = context.object.metadata;
  const above = context.cache.get(made.root.kind, { namespace, name: made.owner.name });
  return above?.metadata.uid === made.owner.uid ? above : undefined;
}

/** The resource whose annotations say who manages it: the control plane above it, or itself. */
export function rootOf(context: OperatorContext): StoredObject {
  return ownerOf(context) ?? context.object;
}

/** Whether the control plane above is being deleted, whatever it waits for, or gone. */
export function isOwnerDeleted(context: OperatorContext): boolean {
  if (madeBy(context) === undefined) return false;
  const above = ownerOf(context);
  return above === undefined || above.metadata.deletionTimestamp !== undefined;
}

/** Whether the control plane above stays, and is not to be without this resource: it makes it anew. */
export function isWantedByOwner(context: OperatorContext): boolean {
  const above = ownerOf(context);
  const root = madeBy(context)?.root;
  const field = root?.children.find(({ kind }) => kind === context.object.kind)?.field;
  return (
    !isOwnerDeleted(context) &&
    above !== undefined &&
    root !== undefined &&
    field !== undefined &&
    root.isEnabled((above['spec'] ?? {}) as Record<string, unknown>, field)
  );
}

/**
 * Whether the garbage collector comes for this resource next, as its control plane goes. What it would write now is for
 * nobody, such as a Job that finds out that the nodes have been let go. While the control plane waits for its servers to
 * be deleted, its services go on.
 */
export function isGoingWithOwner(context: OperatorContext): boolean {
  return isOwnerDeleted(context) && ownerOf(context)?.metadata.finalizers?.includes(protectFinalizer) !== true;
}

/** Which resource's annotation pauses this one: its own, or that of the control plane above it. */
export function whoPaused(context: OperatorContext): StoredObject | undefined {
  if (isPaused(context.object)) return context.object;
  const above = ownerOf(context);
  return above !== undefined && isPaused(above) ? above : undefined;
}
