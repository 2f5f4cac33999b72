import { schemaOf } from './defaulting.ts';
import { duplicate, goJson, invalid } from './field-error.ts';
import { isObject } from './json.ts';
import { child, index, key } from './path.ts';
import { ownProperty } from './pruning.ts';
import type { FieldError } from './resource-type.ts';
import type { Schema } from './schema.ts';

/** Checks that lists of type set hold each item once and lists of type map each key once. */
export function validateListTypes(schema: Schema, value: unknown, path = ''): FieldError[] {
  if (isObject(value)) {
    return Object.entries(value).flatMap(([name, field]) => {
      const fieldSchema = schemaOf(schema, name);
      if (!fieldSchema) return [];
      const at = ownProperty(schema, name) ? child(path, name) : key(path, name);
      return validateListTypes(fieldSchema, field, at);
    });
  }
  if (!Array.isArray(value)) return [];
  const { items } = schema;
  const own = validateList(schema, value, path);
  return items ? [...own, ...value.flatMap((item, i) => validateListTypes(items, item, index(path, i)))] : own;
}

function validateList(schema: Schema, items: readonly unknown[], path: string): FieldError[] {
  if (schema['x-kubernetes-list-type'] === 'set') {
    return repeated(items).map((position) => duplicate(index(path, position), items[position]));
  }
  if (schema['x-kubernetes-list-type'] !== 'map') return [];
  const wrong = items.findIndex((item) => item !== null && !isObject(item));
  if (wrong >= 0) {
    return [invalid(index(path, wrong), items[wrong], 'must be an object for an array of list-type map')];
  }
  const keys = items.map((item) => keyOf(schema, item));
  return repeated(keys).map((position) => duplicate(index(path, position), keys[position]));
}

function keyOf(schema: Schema, item: unknown): Record<string, unknown> {
  const names = schema['x-kubernetes-list-map-keys'] ?? [];
  return Object.fromEntries(
    names.flatMap((name) => (isObject(item) && item[name] !== undefined ? [[name, item[name]]] : [])),
  );
}

/** Positions of the second appearance of each item that appears more than once. */
function repeated(items: readonly unknown[]): number[] {
  const seen = new Map<string, number>();
  return items.flatMap((item, position) => {
    const text = goJson(item);
    const count = (seen.get(text) ?? 0) + 1;
    seen.set(text, count);
    return count === 2 ? [position] : [];
  });
}
