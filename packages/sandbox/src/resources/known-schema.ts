import { hash } from 'node:crypto';
import type { Schema } from './schema.ts';

const known = new Map<string, Schema>();

/**
 * The first schema that said the same. To judge and compile one takes longer than all else of a sandbox's start, and
 * hundreds of sandboxes in one process get the same definitions: what is made of a schema is kept by its identity.
 */
export function knownSchema(schema: Schema): Schema {
  const text = hash('sha256', JSON.stringify(schema));
  const first = known.get(text) ?? schema;
  known.set(text, first);
  return first;
}

/** Makes something of a schema once. */
export function oncePerSchema<T>(make: (schema: Schema) => T): (schema: Schema) => T {
  const made = new WeakMap<Schema, { value: T }>();
  return (schema) => {
    const found = made.get(schema) ?? { value: make(schema) };
    made.set(schema, found);
    return found.value;
  };
}
