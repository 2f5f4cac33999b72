import { compileCel } from './cel.ts';
import { embeddedErrors } from './embedded-resource.ts';
import { invalid } from './field-error.ts';
import { deepEqual } from './json.ts';
import { child, key } from './path.ts';
import { pruneFields } from './pruning.ts';
import type { FieldError } from './resource-type.ts';
import type { Schema } from './schema.ts';
import { validateObject } from './validation.ts';

/** Checks that every default of a structural schema is valid by that schema, has no unknown fields and meets its rules. */
export function validateSchemaDefaults(schema: Schema, path: string): FieldError[] {
  const errors = schema.default === undefined ? [] : validateDefault(schema, child(path, 'default'));
  if (schema.items) errors.push(...validateSchemaDefaults(schema.items, child(path, 'items')));
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    errors.push(...validateSchemaDefaults(property, key(child(path, 'properties'), name)));
  }
  return errors;
}

function validateDefault(schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const pruned = structuredClone(schema.default);
  pruneFields(schema, pruned);
  if (!deepEqual(pruned, schema.default)) errors.push(invalid(path, schema.default, 'must not have unknown fields'));
  const embedded = embeddedErrors(schema, schema.default, path);
  if (embedded.length > 0) return [...errors, ...embedded];
  const wrong = validateObject(schema, schema.default, { path });
  if (wrong.length > 0) return [...errors, ...wrong];
  const rules = compileCel(schema, path, { root: false });
  if (rules.errors.length > 0) return errors;
  const failed = rules.validate(schema.default);
  return [
    ...errors,
    ...failed.map((error) => ({ ...error, field: error.field === '<nil>' ? path : child(path, error.field) })),
  ];
}
