import { embeddedErrors } from './embedded-resource.ts';
import { invalid } from './field-error.ts';
import { deepEqual } from './json.ts';
import { child, key } from './path.ts';
import { pruneFields } from './pruning.ts';
import type { FieldError } from './resource-type.ts';
import type { Schema } from './schema.ts';
import { validateObject } from './validation.ts';

/** What the CEL rules of a schema, and of those within it, say of a value. */
export type DefaultRules = (schema: Schema, value: unknown) => FieldError[];

/** Checks that every default of a structural schema is valid by that schema, has no unknown fields and meets its rules. */
export function validateSchemaDefaults(schema: Schema, path: string, rules: DefaultRules): FieldError[] {
  const errors = schema.default === undefined ? [] : validateDefault(schema, child(path, 'default'), rules);
  if (schema.items) errors.push(...validateSchemaDefaults(schema.items, child(path, 'items'), rules));
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    errors.push(...validateSchemaDefaults(property, key(child(path, 'properties'), name), rules));
  }
  return errors;
}

function validateDefault(schema: Schema, path: string, rules: DefaultRules): FieldError[] {
  const errors: FieldError[] = [];
  const pruned = structuredClone(schema.default);
  pruneFields(schema, pruned);
  if (!deepEqual(pruned, schema.default)) errors.push(invalid(path, schema.default, 'must not have unknown fields'));
  const embedded = embeddedErrors(schema, schema.default, path);
  if (embedded.length > 0) return [...errors, ...embedded];
  const wrong = validateObject(schema, schema.default, { path });
  if (wrong.length > 0) return [...errors, ...wrong];
  const failed = rules(schema, schema.default);
  return [
    ...errors,
    ...failed.map((error) => ({ ...error, field: error.field === '<nil>' ? path : child(path, error.field) })),
  ];
}
