import type { Kind, KubeObject, ObjectRef, ReconcileContext, StoredObject } from '@openstack-operator/kube';
import { isApiError } from '@openstack-operator/kube';

/** One pass of the reconciler, and what is the same for all passes of this operator. */
export interface Pass extends ReconcileContext {
  /** Key of the digests of Secrets: 32 bytes that stay the same across restarts. */
  readonly digestKey: Uint8Array;
  /** Image of the operator itself, for its Jobs. */
  readonly operatorImage: string;
  /** The cluster's DNS domain. */
  readonly clusterDomain: string;
}

/** Reads an object from the cache, or live where the cache does not have it: it only follows what is ours. */
export async function readLive<T extends KubeObject>(
  pass: Pass,
  kind: Kind<T>,
  ref: ObjectRef,
): Promise<StoredObject<T> | undefined> {
  const cached = pass.cache.get(kind, ref);
  if (cached !== undefined) return cached;
  try {
    return await pass.client.get(kind, ref, { signal: pass.signal });
  } catch (error) {
    if (isApiError(error, 404)) return undefined;
    throw error;
  }
}
