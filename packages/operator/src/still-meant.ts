import { isDeepStrictEqual } from 'node:util';
import { apiVersionOf, controllerOf, type OwnerReference, type StoredObject } from '@openstack-operator/kube';
import { children, isEnabled, kindOf, OpenStackControlPlane } from '@openstack-operator/openstack';
import { serversFinalizer } from './guest-carriers.ts';
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

/** The reference to the control plane that made this resource, if one did. */
function controlPlaneOf(resource: StoredObject): OwnerReference | undefined {
  const owner = controllerOf(resource);
  return owner?.kind === OpenStackControlPlane.kind && owner.apiVersion === apiVersionOf(OpenStackControlPlane)
    ? owner
    : undefined;
}

/** The control plane that made this resource, while it is there. */
function ownerOf({ object, cache }: Begun): StoredObject | undefined {
  const owner = controlPlaneOf(object);
  if (owner === undefined || !cache.has(OpenStackControlPlane)) return undefined;
  const { namespace = '' } = object.metadata;
  const above = cache.get(OpenStackControlPlane, { namespace, name: owner.name });
  return above?.metadata.uid === owner.uid ? above : undefined;
}

/** The resource whose annotations say who manages it: the control plane above it, or itself. */
export function rootOf(begun: Begun): StoredObject {
  return ownerOf(begun) ?? begun.object;
}

/** Whether the control plane above is being deleted, whatever it waits for, or gone. */
export function isOwnerDeleted(pass: Begun): boolean {
  if (controlPlaneOf(pass.object) === undefined || !pass.cache.has(OpenStackControlPlane)) return false;
  const above = ownerOf(pass);
  return above === undefined || above.metadata.deletionTimestamp !== undefined;
}

/** Whether the control plane above stays, and is not to be without this resource: it makes it anew. */
export function isWantedByOwner(pass: Begun): boolean {
  const above = ownerOf(pass);
  const field = children.find(({ kind }) => kind === pass.object.kind)?.field;
  return (
    !isOwnerDeleted(pass) &&
    above !== undefined &&
    field !== undefined &&
    isEnabled((above['spec'] ?? {}) as Record<string, unknown>, field)
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
