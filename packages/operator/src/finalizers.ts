import { isApiError, type ReconcileResult } from '@openstack-operator/kube';
import { type Deregistration, isHeldByUsers, kindOf, protectFinalizer } from '@openstack-operator/openstack';
import type { ComposeContext, OperatorContext } from './context.ts';
import { deregister, keepsRecords, recordsFinalizer } from './deregister.ts';
import { nodesFinalizer, releaseNodes } from './release-nodes.ts';
import { reconciled } from './report.ts';
import { reportInstead } from './report-instead.ts';
import { assertStillMeant } from './still-meant.ts';

/** What of a resource lives outside its namespace. */
export interface Outside {
  /** Whether it claims nodes: a finalizer keeps it until they are released. */
  readonly claimsNodes?: boolean;
  /** How what it has in an external database server, broker or Keystone is taken back; absent where it has nothing there. */
  readonly deregistration?: () => Deregistration | undefined;
}

/** Finalizers that we set. */
export const ourFinalizers: readonly string[] = [protectFinalizer, recordsFinalizer, nodesFinalizer];

/**
 * Lets go what is being deleted. First of what protects servers, so that its services write nothing any more; then of
 * the nodes.
 */
export async function finalize(
  context: OperatorContext,
  recipe: Pick<Outside, 'deregistration'>,
): Promise<ReconcileResult | undefined> {
  const { kind, metadata } = context.object;
  assertStillMeant(context, `the end of ${kind} ${metadata.name}`);
  // What it owns is to stay (--cascade=orphan), and is still its own: the garbage collector comes first.
  if (metadata.finalizers?.includes('orphan') === true) return { requeueAfter: orphaning };
  if (metadata.finalizers?.includes(protectFinalizer) === true) {
    const message = `${kind} ${metadata.name} is being deleted, and with it all that it owns`;
    await reportInstead(context, 'Deleting', { condition: reconciled, status: 'False', reason: 'Deleting', message });
    await setFinalizers(context, (now) => now.filter((name) => name !== protectFinalizer));
    return undefined;
  }
  if (keepsRecords(context.object)) {
    const wait = await deregister(context, () => recipe.deregistration?.());
    if (wait !== undefined) return { requeueAfter: wait };
    await setFinalizers(context, (now) => now.filter((name) => name !== recordsFinalizer));
    // The patch enqueues the resource, for what else keeps it.
    return undefined;
  }
  await releaseNodes(context);
  await setFinalizers(context, (now) => now.filter((name) => name !== nodesFinalizer));
  return undefined;
}

/** Milliseconds between two looks at whether the garbage collector has orphaned what a resource owns. */
const orphaning = 2000;

/** Sets the finalizers that a resource needs and does not have. */
export async function addFinalizers(
  context: ComposeContext,
  { claimsNodes = false, deregistration }: Outside,
): Promise<void> {
  const { finalizers = [] } = context.object.metadata;
  const wanted = [
    ...(isHeldByUsers(context.object) ? [protectFinalizer] : []),
    ...(deregistration === undefined ? [] : [recordsFinalizer]),
    ...(claimsNodes ? [nodesFinalizer] : []),
  ];
  const missing = wanted.filter((name) => !finalizers.includes(name));
  if (missing.length > 0) await setFinalizers(context, (now) => [...now, ...missing]);
}

/**
 * Under the resourceVersion: finalizers of others that come and go meanwhile stay as they are. A resource that loses its
 * last one is gone at once; the cache learns it later, as the answer has the resourceVersion of before.
 */
async function setFinalizers(
  context: OperatorContext,
  change: (now: readonly string[]) => readonly string[],
): Promise<void> {
  const kind = kindOf(context.object);
  const live = context.cache.get(kind, context.key) ?? context.object;
  const { name, namespace = '', uid, resourceVersion, deletionTimestamp, finalizers = [] } = live.metadata;
  const patch = { metadata: { uid, resourceVersion, finalizers: change(finalizers) } };
  try {
    await context.client.patch(kind, { name, namespace }, 'merge', patch, { signal: context.signal });
  } catch (error) {
    if (deletionTimestamp === undefined || !isApiError(error, 404)) throw error;
  }
}
