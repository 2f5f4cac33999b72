import type { KubeObject } from '@openstack-operator/kube';
import { age } from '../age.ts';
import { type JsonObject, objectOf, objectsOf, textOf, textsOf } from '../json.ts';

/** `spec` of an object; empty when there is none. */
export function specOf(object: KubeObject): JsonObject {
  return objectOf(object.spec);
}

/** `status` of an object; empty when there is none. */
export function statusOf(object: KubeObject): JsonObject {
  return objectOf(object.status);
}

/** The object's name, for the first column. */
export function nameOf(object: KubeObject): string {
  return object.metadata.name ?? '';
}

/** How old the object is. */
export function ageOf(object: KubeObject, now: number): string {
  return age(object.metadata.creationTimestamp, now);
}

/** Names and images of a pod template's containers, for wide tables. */
export function containerCells(template: unknown): [string, string] {
  const containers = objectsOf(objectOf(objectOf(template).spec).containers);
  return [containers.map(({ name }) => textOf(name)).join(','), containers.map(({ image }) => textOf(image)).join(',')];
}

/** A map of labels as `a=b,c=d`, `<none>` when empty (labels.FormatLabels). */
export function formatLabels(labels: unknown): string {
  const pairs = Object.entries(textsOf(labels)).sort(([a], [b]) => (a < b ? -1 : 1));
  return pairs.length === 0 ? '<none>' : pairs.map(([name, value]) => `${name}=${value}`).join(',');
}

/** Whether a condition of that type is True. */
export function hasCondition(conditions: unknown, type: string): boolean {
  return objectsOf(conditions).some((condition) => condition.type === type && condition.status === 'True');
}
