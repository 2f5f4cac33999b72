import { type ApiError, isApiError, PersistentVolumeClaim } from '@openstack-operator/kube';
import type { Action } from '@openstack-operator/openstack';
import type { OperatorContext } from './context.ts';

type Expansion = Extract<Action, { verb: 'expand' }>;

/** The API server does not let a volume grow: mostly as its StorageClass does not. Nothing else waits for that. */
export class VolumeExpansionError extends Error {
  override readonly name = 'VolumeExpansionError';
  readonly code = 'VOLUME_EXPANSION';

  constructor({ live, size, fields }: Expansion, cause: ApiError) {
    const { resources, storageClassName } = (live['spec'] ?? {}) as NonNullable<PersistentVolumeClaim['spec']>;
    const has = resources?.requests?.['storage'];
    const field = fields.join(' or ');
    super(
      `PersistentVolumeClaim ${live.metadata.name} stays at ${has}, although ${field} asks for ${size}: ${cause.status.message}. ` +
        `Set allowVolumeExpansion: true in StorageClass ${storageClassName} if its driver can expand volumes, or lower ${field} to ${has}`,
      { cause },
    );
  }
}

/**
 * Asks for a larger volume.
 * @throws VolumeExpansionError when the API server refuses it
 */
export async function expand(context: Pick<OperatorContext, 'client' | 'signal'>, action: Expansion): Promise<void> {
  const { namespace = '', name, uid } = action.live.metadata;
  const patch = { metadata: { uid }, spec: { resources: { requests: { storage: action.size } } } };
  try {
    await context.client.patch(PersistentVolumeClaim, { namespace, name }, 'merge', patch, { signal: context.signal });
  } catch (error) {
    // 422: a claim that is not bound yet.
    if (isApiError(error, 403) || isApiError(error, 422)) throw new VolumeExpansionError(action, error);
    throw error;
  }
}
