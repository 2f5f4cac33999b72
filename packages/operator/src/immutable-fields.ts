import { type KubeObject, PersistentVolumeClaim, type StoredObject } from '@openstack-operator/kube';
import { fieldManager } from '@openstack-operator/openstack';
import type { Pass } from './pass.ts';
import { quantity, sameFields } from './same-fields.ts';

/**
 * Fields of the spec that the API server never changes: an object that has to differ there is deleted without its
 * children (orphaned) and created again, which takes the children up by their labels.
 */
const immutable: Readonly<Record<string, readonly string[]>> = {
  Deployment: ['selector'],
  DaemonSet: ['selector'],
  StatefulSet: ['selector', 'serviceName', 'podManagementPolicy', 'volumeClaimTemplates'],
};

/** Whether `stated` differs from what is live in a field that cannot be changed. */
export function mustBeRecreated(stated: KubeObject, live: StoredObject): boolean {
  const wanted = (stated['spec'] ?? {}) as Record<string, unknown>;
  const current = (live['spec'] ?? {}) as Record<string, unknown>;
  return (immutable[stated.kind] ?? []).some((field) => !sameFields(wanted[field], current[field]));
}

interface Claim {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly resources: { readonly requests: { readonly storage: string } } };
}

/** What a live claim asks for if that is no less than stated: it may have been enlarged by hand, and no volume shrinks. */
function sizeOfLarger(live: StoredObject, { resources }: Claim['spec']): string | undefined {
  const { storage } = (live['spec'] as Claim['spec']).resources.requests;
  const [size, wanted] = [quantity(storage), quantity(resources.requests.storage)];
  return size !== undefined && wanted !== undefined && size >= wanted ? storage : undefined;
}

/** A claim as stated, but of the size that it has live if that is larger; any other object as it is. */
export function withLiveSize(stated: KubeObject, live: StoredObject | undefined): KubeObject {
  if (stated.kind !== PersistentVolumeClaim.kind || live === undefined) return stated;
  const spec = stated['spec'] as Claim['spec'];
  const storage = sizeOfLarger(live, spec);
  return storage === undefined ? stated : { ...stated, spec: { ...spec, resources: { requests: { storage } } } };
}

/**
 * Grows the volumes of a StatefulSet that are smaller than its templates say now, then takes the StatefulSet away from
 * above its pods. Its end wakes the resource, and the next pass creates it again.
 */
export async function recreate(pass: Pass, stated: KubeObject, live: StoredObject): Promise<void> {
  const { volumeClaimTemplates: claims = [], replicas = 1 } = (stated['spec'] ?? {}) as {
    volumeClaimTemplates?: Claim[];
    replicas?: number;
  };
  const { namespace = '' } = live.metadata;
  for (const claim of claims) {
    for (let ordinal = 0; ordinal < replicas; ordinal++) {
      const name = `${claim.metadata.name}-${live.metadata.name}-${ordinal}`;
      const volume = pass.cache.get(PersistentVolumeClaim, { namespace, name });
      if (volume === undefined || sizeOfLarger(volume, claim.spec) !== undefined) continue;
      const patch = { metadata: { uid: volume.metadata.uid }, spec: { resources: claim.spec.resources } };
      await pass.client.patch(PersistentVolumeClaim, { namespace, name }, 'merge', patch, {
        fieldManager,
        signal: pass.signal,
      });
      pass.event({
        type: 'Normal',
        reason: 'VolumeExpanded',
        action: 'Expand',
        note: `PersistentVolumeClaim ${name}: ${claim.spec.resources.requests.storage}`,
      });
    }
  }
  await pass.remove(live, { propagationPolicy: 'Orphan' });
}
