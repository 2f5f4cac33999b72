import type { KubeObject } from '@openstack-operator/kube';
import { forbidden, invalid } from '../field-error.ts';
import { deepEqual, type JsonObject, objectsOf } from '../json.ts';
import type { FieldError } from '../resource-type.ts';
import { specOf } from './cells.ts';

const updatable =
  '`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** A pod's spec stays as it is but for images, deadline, added tolerations and removed scheduling gates. */
export function validatePodUpdate(pod: KubeObject, old: KubeObject): FieldError[] {
  const spec = specOf(pod);
  const before = specOf(old);
  const errors: FieldError[] = [];
  for (const field of ['containers', 'initContainers']) {
    if (objectsOf(spec[field]).length === objectsOf(before[field]).length) continue;
    return [forbidden(`spec.${field}`, `pod updates may not add or remove containers`)];
  }
  const { activeDeadlineSeconds: deadline } = spec;
  const { activeDeadlineSeconds: oldDeadline } = before;
  if (typeof deadline === 'number' && typeof oldDeadline === 'number' && oldDeadline < deadline) {
    return [invalid('spec.activeDeadlineSeconds', deadline, 'must be less than or equal to previous value')];
  }
  if (deadline === undefined && oldDeadline !== undefined) {
    errors.push(invalid('spec.activeDeadlineSeconds', null, 'must not update from a positive integer to nil value'));
  }
  const tolerations = objectsOf(spec.tolerations);
  if (!objectsOf(before.tolerations).every((old) => tolerations.some((toleration) => deepEqual(toleration, old)))) {
    errors.push(forbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds'));
  }
  const gates = objectsOf(before.schedulingGates);
  if (!objectsOf(spec.schedulingGates).every((gate) => gates.some((old) => deepEqual(old, gate)))) {
    errors.push(forbidden('spec.schedulingGates', 'only deletion is allowed, but found new scheduling gate'));
  }
  const gated = gates.length > 0;
  if (!deepEqual(masked(spec, before, gated), before)) {
    errors.push(forbidden('spec', `pod updates may not change fields other than ${updatable}`));
  }
  return errors;
}

/** The new spec with all that may change put back. */
function masked(spec: JsonObject, before: JsonObject, gated: boolean): JsonObject {
  const images = (field: string) => {
    const old = objectsOf(before[field]);
    return spec[field] === undefined
      ? undefined
      : objectsOf(spec[field]).map((container, position) => ({ ...container, image: old[position]?.image }));
  };
  return {
    ...spec,
    containers: images('containers'),
    initContainers: images('initContainers'),
    activeDeadlineSeconds: before.activeDeadlineSeconds,
    tolerations: before.tolerations,
    schedulingGates: before.schedulingGates,
    ...(gated && { nodeSelector: before.nodeSelector, affinity: before.affinity }),
  };
}
