import { isDeepStrictEqual } from 'node:util';
import type { StoredObject } from '@openstack-operator/kube';
import { kindOf, rootNamed, rootOf as rootReferenceOf, serversFinalizer } from '@openstack-operator/openstack';
import { chargeOf } from './managing-operator.ts';
import type { Begun } from './pass.ts';
import { isPaused } from './report.ts';

/** The resource says something else than when the reconcile began: the next one decides. Nobody is told. */
export class SupersededError extends Error {
  override readonly name = 'SupersededError';

  constructor({ key }: Begun, act: string) {
    super(`${key} was changed in the meantime: ${act} is left to the next reconcile`);
  }
}

/** Whether the resource says what it said when the reconcile began, as far as the cache knows. */
export function isStillMeant(pass: Begun): boolean {
  const { uid, generation, deletionTimestamp, annotations: notes } = pass.object.metadata;
  const now = pass.cache.get(kindOf(pass.object), pass.key);
  return (
    now?.metadata.uid === uid &&
    now?.metadata.generation === generation &&
    now?.metadata.deletionTimestamp === deletionTimestamp &&
    isDeepStrictEqual(now?.metadata.annotations, notes) &&
    // What is being deleted itself goes either way.
    (deletionTimestamp !== undefined || !isGoingWithOwner(pass)) &&
    (deletionTimestamp !== undefined || chargeOf(pass.operator, rootOf(pass)) === 'manages') &&
    whoPaused(pass) === undefined
  );
}

/**
 * The same pass, whose every removal asks first whether the resource is still meant: a list of removals takes time, in
 * which a user may take the change back or pause the resource.
 */
export function careful<P extends Begun>(pass: P): P {
  return {
    ...pass,
    remove: async (object, options) => {
      assertStillMeant(pass, `the deletion of ${object.kind} ${object.metadata.name}`);
      return await pass.remove(object, options);
    },
  };
}

/** Stops before an act that cannot be undone when the resource was changed since the reconcile began. */
export function assertStillMeant(pass: Begun, act: string): void {
  if (!isStillMeant(pass)) throw new SupersededError(pass, act);
}

/** The root of the cloud that made this resource, such as a control plane: its reference, and what is known of its kind. */
function madeBy({ object, cache }: Begun) {
  const owner = rootReferenceOf(object);
  const root = owner && rootNamed(owner);
  return owner === undefined || root === undefined || !cache.has(root.kind) ? undefined : { owner, root };
}

/** The root that made this resource, while it is there. */
export function ownerOf(begun: Begun): StoredObject | undefined {
  const made = madeBy(begun);
  if (made === undefined) return undefined;
  const { namespace = '' } = begun.object.metadata;
  const above = begun.cache.get(made.root.kind, { namespace, name: made.owner.name });
  return above?.metadata.uid === made.owner.uid ? above : undefined;
}

/** The resource whose annotations say who manages it: the control plane above it, or itself. */
export function rootOf(begun: Begun): StoredObject {
  return ownerOf(begun) ?? begun.object;
}

/** Whether the control plane above is being deleted, whatever it waits for, or gone. */
export function isOwnerDeleted(pass: Begun): boolean {
  if (madeBy(pass) === undefined) return false;
  const above = ownerOf(pass);
  return above === undefined || above.metadata.deletionTimestamp !== undefined;
}

/** Whether the control plane above stays, and is not to be without this resource: it makes it anew. */
export function isWantedByOwner(pass: Begun): boolean {
  const above = ownerOf(pass);
  const root = madeBy(pass)?.root;
  const field = root?.children.find(({ kind }) => kind === pass.object.kind)?.field;
  return (
    !isOwnerDeleted(pass) &&
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
export function isGoingWithOwner(pass: Begun): boolean {
  return isOwnerDeleted(pass) && ownerOf(pass)?.metadata.finalizers?.includes(serversFinalizer) !== true;
}

/** Which resource's annotation pauses this one: its own, or that of the control plane above it. */
export function whoPaused(pass: Begun): StoredObject | undefined {
  if (isPaused(pass.object)) return pass.object;
  const above = ownerOf(pass);
  return above !== undefined && isPaused(above) ? above : undefined;
}
