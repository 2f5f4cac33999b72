import { isObject } from './json.ts';
import { ownProperty } from './pruning.ts';
import type { Schema } from './schema.ts';

/**
 * Fills in, in place, the defaults of a structural schema. A null where null is not allowed is replaced by the default,
 * or dropped when there is none, as the API server does before it validates.
 */
export function applyDefaults(schema: Schema, value: unknown): void {
  dropNulls(schema, value);
  fill(schema, value);
}

function fill(schema: Schema, value: unknown): void {
  if (Array.isArray(value)) {
    const items = schema.items;
    if (items === undefined) return;
    value.forEach((item, position) => {
      if (isWrongNull(item, items)) value[position] = structuredClone(items.default) ?? null;
      fill(items, value[position]);
    });
  } else if (isObject(value)) {
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      if (property.default === undefined) continue;
      if (!Object.hasOwn(value, name) || isWrongNull(value[name], property)) {
        value[name] = structuredClone(property.default);
      }
    }
    for (const name of Object.keys(value)) {
      const field = schemaOf(schema, name);
      if (field !== undefined) fill(field, value[name]);
    }
  }
}

function dropNulls(schema: Schema | undefined, value: unknown): void {
  if (Array.isArray(value)) {
    for (const item of value) dropNulls(schema?.items, item);
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      const field = schemaOf(schema, name);
      if (field !== undefined && isWrongNull(value[name], field) && field.default === undefined) delete value[name];
      else dropNulls(field, value[name]);
    }
  }
}

function isWrongNull(value: unknown, schema: Schema): boolean {
  return value === null && schema.nullable !== true;
}

/** The schema that holds for a field: its property's, or that of additional properties. */
export function schemaOf(schema: Schema | undefined, name: string): Schema | undefined {
  const property = ownProperty(schema, name);
  if (property !== undefined) return property;
  const additional = schema?.additionalProperties;
  return typeof additional === 'object' ? additional : undefined;
}
