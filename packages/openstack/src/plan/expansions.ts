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
 * A claim as stated, but of the size that it has live: it may have been enlarged by hand, no volume shrinks, and whether it may
 * grow is no matter of the rest of it (`expansions`). The templates of a StatefulSet are not lowered below the claims that
 * there are: what comes later gets the same data. Any other object as it is.
 * @param found the object as it is live
 */
export function withLiveSize(cache: Live['cache'], stated: KubeObject, found: StoredObject | undefined): KubeObject {
  if (stated.kind === PersistentVolumeClaim.kind)
    return found === undefined ? stated : { ...stated, spec: resized(stated as unknown as Claim, sizeOf(found)).spec };
  const { volumeClaimTemplates: wanted = [] } = (stated['spec'] ?? {}) as Templates;
  const { volumeClaimTemplates: before = [] } = (found?.['spec'] ?? {}) as Templates;
  const templates = wanted.map((template) => {
    const { name } = template.metadata;
    const was = before.filter(({ metadata }) => metadata.name === name).map(sizeOf);
    const { namespace } = stated.metadata;
    const there = claimsOf(stated).flatMap((claim) => {
      const live = cache.get(PersistentVolumeClaim, { namespace: namespace ?? '', name: claim.name });
      return live === undefined || claim.template !== name ? [] : [sizeOf(live)];
    });
    const [least] = there.length === 0 ? [] : [...was, ...there].sort(bySize);
    return least === undefined || bySize(sizeOf(template), least) >= 0 ? template : resized(template, least);
  });
  const isStated = templates.every((template, index) => template === wanted[index]);
  return isStated ? stated : { ...stated, spec: { ...(stated['spec'] as object), volumeClaimTemplates: templates } };
}

interface Templates {
  readonly volumeClaimTemplates?: readonly Claim[];
}

const resized = (claim: Claim, storage: string): Claim => ({
  ...claim,
  spec: { ...claim.spec, resources: { requests: { storage } } },
});

const bySize = (one: string, other: string): number => (amountOf(one) ?? 0) - (amountOf(other) ?? 0);

/** Asks for more where a claim that is stated, or one of a stated StatefulSet, is smaller than stated. */
export function expansions({ cache, resource }: Live, stated: KubeObject, step: string): readonly Action[] {
  const { namespace = '' } = stated.metadata;
  return claimsOf(stated).flatMap(({ name, size }): Action[] => {
    const live = cache.get(PersistentVolumeClaim, { namespace, name });
    // Of one that is not bound yet its pod tells.
    if (live === undefined || live.metadata.deletionTimestamp !== undefined || !isBound(live)) return [];
    const [has, wanted] = [amountOf(sizeOf(live)), amountOf(size)];
    if (has === undefined || wanted === undefined || has >= wanted) return [];
    const event = eventOf('VolumeExpanded', `PersistentVolumeClaim ${name}: ${size}`);
    return [{ verb: 'expand', step, reason: 'Differs', live, size, fields: sizeFieldsOf(resource), event }];
  });
}

function isBound(claim: StoredObject): boolean {
  return (claim['status'] as { readonly phase?: string } | undefined)?.phase === 'Bound';
}

/** Names of the claims of a stated object, those of their templates, and the sizes that they are to have. */
function claimsOf({ kind, metadata, spec = {} }: KubeObject): { name: string; size: string; template?: string }[] {
  const { name = '' } = metadata;
  if (kind === PersistentVolumeClaim.kind) return [{ name, size: sizeOf({ spec }) }];
  if (kind !== 'StatefulSet') return [];
  const { volumeClaimTemplates = [], replicas = 1 } = spec as { volumeClaimTemplates?: Claim[]; replicas?: number };
  return volumeClaimTemplates.flatMap((template) =>
    Array.from({ length: replicas }, (_, ordinal) => ({
      name: `${template.metadata.name}-${name}-${ordinal}`,
      size: sizeOf(template),
      template: template.metadata.name,
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
