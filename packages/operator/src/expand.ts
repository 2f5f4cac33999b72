import { type ApiError, isApiError, PersistentVolumeClaim, type StoredObject } from '@openstack-operator/kube';
import type { Action } from '@openstack-operator/openstack';
import type { OperatorContext } from './context.ts';

type Expansion = Extract<Action, { verb: 'expand' }>;

/** What the admission plugin PersistentVolumeClaimResize says of a StorageClass whose volumes do not grow. */
const ofClass = 'the storageclass that provisions the pvc must support resize';

/** The API server does not let a volume grow: mostly as its StorageClass does not. Nothing else waits for that. */
export class VolumeExpansionError extends Error {
  override readonly name = 'VolumeExpansionError';
  readonly code = 'VOLUME_EXPANSION';
  /** That of the claim; '' for none. */
  readonly storageClassName: string;

  constructor({ live, size, fields }: Expansion, cause: ApiError) {
    const { message } = cause.status;
    const { resources } = live['spec'] as NonNullable<PersistentVolumeClaim['spec']>;
    const has = resources?.requests?.['storage'];
    const field = fields.join(' or ');
    const storageClassName = classOf(live);
    const isClass = message?.includes(ofClass) === true && storageClassName !== '';
    const wayOut = isClass
      ? `Set allowVolumeExpansion: true in StorageClass ${storageClassName} if its driver can expand volumes, or lower`
      : 'Remove what refuses it, or lower';
    super(
      `PersistentVolumeClaim ${live.metadata.name} stays at ${has}, although ${field} asks for ${size}: ${message}. ${wayOut} ${field} to ${has}`,
      { cause },
    );
    this.storageClassName = storageClassName;
  }
}

/** The StorageClass of a claim; '' for none. */
export function classOf(claim: StoredObject): string {
  return (claim['spec'] as PersistentVolumeClaim['spec'])?.storageClassName ?? '';
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
    if (isApiError(error, 403) || isApiError(error, 422)) throw new VolumeExpansionError(action, error);
    throw error;
  }
}
