import { type KubeObject, PersistentVolumeClaim, type StoredObject } from '@openstack-operator/kube';
import { amountOf } from '../engine/names/quantity.ts';
import { eventOf } from '../engine/status/event-reasons.ts';
import type { Action } from './action.ts';
import type { Live } from './live.ts';
import { sameFields } from './same-fields.ts';

/**
 * Fields of the spec that the API server does not change: an object that has to differ there is deleted without its
 * children (orphaned) and created again, which takes the children up by their labels.
 */
const immutable: Readonly<Record<string, readonly string[]>> = {
  Deployment: ['selector'],
  DaemonSet: ['selector'],
  // An update to another strategy leaves the partition of the one before, with which it is refused.
  StatefulSet: ['selector', 'serviceName', 'podManagementPolicy', 'updateStrategy', 'volumeClaimTemplates'],
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
  const [size, wanted] = [amountOf(storage), amountOf(resources.requests.storage)];
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
 * Expands the volumes of a StatefulSet that are smaller than its templates say now: before it is replaced, as nobody
 * knows them otherwise.
 */
export function expansions({ cache }: Live, stated: KubeObject, live: StoredObject, step: string): readonly Action[] {
  const { volumeClaimTemplates: claims = [], replicas = 1 } = (stated['spec'] ?? {}) as {
    volumeClaimTemplates?: Claim[];
    replicas?: number;
  };
  const { namespace = '' } = live.metadata;
  return claims.flatMap(({ metadata, spec }) =>
    Array.from({ length: replicas }, (_, ordinal) => `${metadata.name}-${live.metadata.name}-${ordinal}`).flatMap(
      (name): Action[] => {
        const volume = cache.get(PersistentVolumeClaim, { namespace, name });
        if (volume === undefined || sizeOfLarger(volume, spec) !== undefined) return [];
        const note = `PersistentVolumeClaim ${name}: ${spec.resources.requests.storage}`;
        return [
          {
            verb: 'patch',
            step,
            reason: 'Differs',
            live: volume,
            patch: { metadata: { uid: volume.metadata.uid }, spec: { resources: spec.resources } },
            act: `the expansion of PersistentVolumeClaim ${name}`,
            event: eventOf('VolumeExpanded', note),
          },
        ];
      },
    ),
  );
}
