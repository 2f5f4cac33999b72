import type { Condition, KubeObject } from '@openstack-operator/kube';
import { mostOfRequest } from '../../api/status.ts';
import { annotations } from '../names/names.ts';

/** A condition of an object's status. */
export function conditionOf(object: KubeObject, type: string): Condition | undefined {
  return ((object['status'] ?? {}) as { conditions?: Condition[] }).conditions?.find(
    (condition) => condition.type === type,
  );
}

/** What annotation `reconcile-at` says, as a status that is about it repeats it. */
export function reconcileRequestOf(object: KubeObject): string | undefined {
  return requestOf(object, annotations.reconcileAt);
}

/** What an annotation asks for, as far as a status repeats it; undefined for nothing, or an empty text. */
export function requestOf({ metadata }: KubeObject, annotation: string): string | undefined {
  const text = metadata.annotations?.[annotation];
  // By characters, as the bound counts them: half of one would be another text to the API server.
  return text ? Array.from(text).slice(0, mostOfRequest).join('') : undefined;
}

/**
 * Whether a condition is about an earlier generation of its object, or about the time before its Jobs were asked to run
 * once more: an annotation leaves the generation as it is.
 */
export function isStale(condition: Condition, object: KubeObject): boolean {
  const { observedGeneration = Infinity } = condition;
  const { lastHandledReconcileAt: handled } = (object['status'] ?? {}) as { lastHandledReconcileAt?: string };
  return observedGeneration < (object.metadata.generation ?? 0) || reconcileRequestOf(object) !== handled;
}
