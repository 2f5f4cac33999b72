import { ForeignObjectError, type KubeObject, type StoredObject } from '@openstack-operator/kube';
import { digest } from '../engine/names/digest.ts';
import { annotations } from '../engine/names/names.ts';
import { kindOf } from '../registry/kinds.ts';
import { type Action, joined, nothing, type Plan } from './action.ts';
import { expansions, withLiveSize } from './expansions.ts';
import { mustBeRecreated } from './immutable-fields.ts';
import type { Live } from './live.ts';
import { nextMember } from './members.ts';
import { ownershipOf } from './ownership.ts';
import { sameFields } from './same-fields.ts';
import { stuckPod } from './stuck-pods.ts';

/**
 * What was live as it was stated, by what was stated. A reconcile asks about every object of its resource, and most are
 * the same two as before: they need not be compared again.
 */
const settled = new WeakMap<KubeObject, StoredObject>();

/** What makes an object live as it is stated: nothing, an apply, or its replacement; and what makes its volumes as large. */
export function planApplied(live: Live, stated: KubeObject, { retained = false, step }: Where): Plan {
  const actions = difference(live, stated, { retained, step });
  // Of what is somebody else's nothing is changed.
  const grown = actions.some(({ verb }) => verb === 'refuse') ? [] : expansions(live, stated, step);
  if (stated.kind !== 'StatefulSet') return { actions: [...actions, ...grown] };
  const stuck = stuckPod(live, stated, step);
  // What is about to have another template has no members of an older revision yet.
  const next = stuck.length === 0 && actions.length === 0 ? nextMember(live, stated, step) : nothing;
  return joined([{ actions: [...grown, ...stuck, ...actions] }, next]);
}

/** The step of a stated object, and whether that outlives its resource. */
export interface Where {
  readonly retained?: boolean;
  readonly step: string;
}

function difference(live: Live, stated: KubeObject, { retained, step }: Required<Where>): readonly Action[] {
  const { name = '', namespace = '' } = stated.metadata;
  const found = live.cache.get(kindOf(stated), { name, namespace });
  if (found !== undefined && settled.get(stated) === found) return [];
  // Its end enqueues the resource, and it is made anew then.
  if (found?.metadata.deletionTimestamp !== undefined) return nothing.actions;
  const object = withLiveSize(live.cache, noted(stated, digest(stated)), found);
  const autoscaled = found !== undefined && live.isAutoscaled?.(object) === true;
  if (found === undefined) return [{ verb: 'apply', step, reason: 'Missing', object, retained, autoscaled }];
  if (ownershipOf(live.resource, retained).ours?.(found) !== true)
    return [{ verb: 'refuse', step, reason: 'Refused', error: new ForeignObjectError(found, live.resource) }];
  if (isLiveAs(autoscaled ? withoutReplicas(object) : object, found, live.resource, retained)) {
    if (!autoscaled) settled.set(stated, found);
    return [];
  }
  if (mustBeRecreated(object, found)) return [{ verb: 'replace', step, reason: 'Immutable', live: found }];
  return [{ verb: 'apply', step, reason: 'Differs', object, retained, autoscaled, live: found }];
}

/** Whether what is live of an object is what is stated, and has the owner that it is to have. */
export function isLiveAs(stated: KubeObject, found: StoredObject, owner: StoredObject, retained: boolean): boolean {
  const isOwned = retained || found.metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) === true;
  return isOwned && sameFields(stated, found);
}

/** Remembers what was stated last: a field that is no longer stated makes a difference as well. */
export function noted(object: KubeObject, stated: string): KubeObject {
  return withAnnotation(object, annotations.applied, stated);
}

/** The object with one more annotation. */
export function withAnnotation<T extends KubeObject>(object: T, name: string, value: string): T {
  return {
    ...object,
    metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [name]: value } },
  };
}

/** What is stated of a workload, but for its replicas. */
export function withoutReplicas(workload: KubeObject): KubeObject {
  const { replicas: _replicas, ...spec } = (workload['spec'] ?? {}) as Record<string, unknown>;
  return { ...workload, spec };
}
