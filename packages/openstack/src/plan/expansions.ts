import { apiVersionOf, type KubeObject, PersistentVolumeClaim, type StoredObject } from '@openstack-operator/kube';
import { amountOf } from '../engine/names/quantity.ts';
import { eventOf } from '../engine/status/event-reasons.ts';
import { kinds } from '../registry/kinds.ts';
import type { Action } from './action.ts';
import type { Live } from './live.ts';

interface Claim {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly resources: { readonly requests: { readonly storage: string } } };
}

/** The size that a claim asks for, as a quantity. */
function sizeOf(claim: { readonly spec?: unknown } | StoredObject): string {
  return (claim.spec as Claim['spec']).resources.requests.storage;
}

/**
 * A claim as stated, but of the size that it has live; any other object as it is. It may have been enlarged by hand, no
 * volume shrinks, and whether it may grow is no matter of the rest of it (`expansions`).
 */
export function withLiveSize(stated: KubeObject, live: StoredObject | undefined): KubeObject {
  if (stated.kind !== PersistentVolumeClaim.kind || live === undefined) return stated;
  const spec = stated['spec'] as Claim['spec'];
  return { ...stated, spec: { ...spec, resources: { requests: { storage: sizeOf(live) } } } };
}

/** Asks for more where a claim that is stated, or one of a stated StatefulSet, is smaller than stated. */
export function expansions({ cache, resource }: Live, stated: KubeObject, step: string): readonly Action[] {
  const { namespace = '' } = stated.metadata;
  return claimsOf(stated).flatMap(({ name, size }): Action[] => {
    const live = cache.get(PersistentVolumeClaim, { namespace, name });
    if (live === undefined || live.metadata.deletionTimestamp !== undefined) return [];
    const [has, wanted] = [amountOf(sizeOf(live)), amountOf(size)];
    if (has === undefined || wanted === undefined || has >= wanted) return [];
    const event = eventOf('VolumeExpanded', `PersistentVolumeClaim ${name}: ${size}`);
    return [{ verb: 'expand', step, reason: 'Differs', live, size, fields: sizeFieldsOf(resource), event }];
  });
}

/** Names of the claims of a stated object, and the sizes that they are to have. */
function claimsOf({ kind, metadata, spec = {} }: KubeObject): { name: string; size: string }[] {
  const { name = '' } = metadata;
  if (kind === PersistentVolumeClaim.kind) return [{ name, size: sizeOf({ spec }) }];
  if (kind !== 'StatefulSet') return [];
  const { volumeClaimTemplates = [], replicas = 1 } = spec as { volumeClaimTemplates?: Claim[]; replicas?: number };
  return volumeClaimTemplates.flatMap((template) =>
    Array.from({ length: replicas }, (_, ordinal) => ({
      name: `${template.metadata.name}-${name}-${ordinal}`,
      size: sizeOf(template),
    })),
  );
}

/** Fields of the spec of a resource that say how large a volume is: each stands beside the one of its StorageClass. */
function sizeFieldsOf({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): readonly string[] {
  const names = kinds.find((one) => one.kind === kind && apiVersionOf(one) === apiVersion)?.spec.names ?? [];
  return names.flatMap(({ kind, path }) =>
    kind === 'StorageClass' ? [['spec', ...path.slice(0, -1), 'size'].join('.').replaceAll('.*', '[]')] : [],
  );
}
