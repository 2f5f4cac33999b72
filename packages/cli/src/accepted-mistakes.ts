import type { Schema } from '@openstack-operator/sandbox/schema';
import type { Mistake } from './admission.ts';
import { isObject } from './is-object.ts';

/** What a schema admits, and nobody means: an item that stands twice in a list that is replaced as a whole. */
export function accepted(schema: Schema, value: unknown, path = ''): Mistake[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return [];
    const repeated = schema['x-kubernetes-list-type'] === 'atomic' ? repeatedItems(value, path) : [];
    return [...repeated, ...value.flatMap((item, position) => accepted(items, item, `${path}[${position}]`))];
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, child]) => {
    const { properties = {}, additionalProperties } = schema;
    if (Object.hasOwn(properties, name)) {
      return accepted(properties[name] ?? {}, child, path === '' ? name : `${path}.${name}`);
    }
    return typeof additionalProperties === 'object' ? accepted(additionalProperties, child, `${path}[${name}]`) : [];
  });
}

function repeatedItems(items: readonly unknown[], path: string): Mistake[] {
  const first = new Map<string, number>();
  return items.flatMap((item, position) => {
    const text = JSON.stringify(item);
    const before = first.get(text);
    if (before === undefined) first.set(text, position);
    return before === undefined
      ? []
      : [{ field: `${path}[${position}]`, message: `the same as ${path}[${before}]: remove one of the two` }];
  });
}
