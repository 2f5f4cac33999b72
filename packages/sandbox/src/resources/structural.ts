import { fieldErrorMessage, forbidden, invalid, required } from './field-error.ts';
import { goRegExp } from './go-regexp.ts';
import { deepEqual } from './json.ts';
import { child, index, key } from './path.ts';
import type { FieldError } from './resource-type.ts';
import type { Schema } from './schema.ts';

type Level = 'root' | 'item' | 'field';

/**
 * Whether a CRD's schema is structural (apiextensions-apiserver, pkg/apiserver/schema): every value has a type outside
 * of allOf, anyOf, oneOf and not, and those add nothing but value validations. Sorted as the API server sorts them.
 */
export function validateStructural(schema: Schema, path: string): FieldError[] {
  const errors = [...invariants(schema, 'root', path), ...completeness(schema, schema, path, path)];
  const text = (error: FieldError) => fieldErrorMessage(error);
  return errors.sort((a, b) => (text(a) < text(b) ? -1 : 1));
}

function invariants(schema: Schema, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (schema.type === 'array' && !schema.items) errors.push(required(child(path, 'items'), 'must be specified'));
  if (schema.items) errors.push(...invariants(schema.items, 'item', child(path, 'items')));
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    errors.push(...invariants(property, 'field', key(child(path, 'properties'), name)));
  }
  const additional = schema.additionalProperties;
  if (additional !== undefined) {
    const at = child(path, 'additionalProperties');
    if (level === 'root') errors.push(forbidden(at, 'must not be used at the root'));
    if (typeof additional === 'object') errors.push(...invariants(additional, 'field', at));
  }
  errors.push(...extensions(schema, path), ...valueValidation(schema, path, intOrStringPattern(schema)));
  errors.push(...types(schema, level, path));
  if (level === 'root' || schema['x-kubernetes-embedded-resource']) errors.push(...typeMeta(schema, path));
  const metadata = schema.properties?.metadata;
  if (metadata) errors.push(...metadataInvariants(metadata, schema, level, key(child(path, 'properties'), 'metadata')));
  return errors;
}

function types(schema: Schema, level: Level, path: string): FieldError[] {
  const at = child(path, 'type');
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const errors: FieldError[] = [];
  if (embedded && schema.type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(schema.type === undefined ? required(at, detail) : invalid(at, schema.type, detail));
  } else if (schema.type === undefined && !schema['x-kubernetes-int-or-string'] && !preserves) {
    const where = { root: 'at the root', item: 'for specified array items', field: 'for specified object fields' };
    errors.push(required(at, `must not be empty ${where[level]}`));
  }
  if (embedded && schema.additionalProperties !== undefined) {
    const detail = 'must not be used if x-kubernetes-embedded-resource is set';
    errors.push(forbidden(child(path, 'additionalProperties'), detail));
  }
  if (level === 'root' && schema.type !== undefined && schema.type !== 'object') {
    errors.push(invalid(at, schema.type, 'must be object at the root'));
  }
  if (embedded && !preserves && Object.keys(schema.properties ?? {}).length === 0) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(required(child(path, 'properties'), detail));
  }
  return errors;
}

function typeMeta(schema: Schema, path: string): FieldError[] {
  return ['kind', 'apiVersion'].flatMap((name) => {
    const property = schema.properties?.[name];
    if (!property || property.type === 'string') return [];
    return [invalid(child(key(child(path, 'properties'), name), 'type'), property.type ?? '', 'must be string')];
  });
}

function metadataInvariants(metadata: Schema, parent: Schema, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const checked = level === 'root' || parent['x-kubernetes-embedded-resource'] === true;
  if (checked && metadata.type !== 'object') {
    errors.push(invalid(child(path, 'type'), metadata.type ?? '', 'must be object'));
  }
  if (level !== 'root') return errors;
  const { type: _type, default: _default, properties, ...rest } = metadata;
  const names = Object.keys(properties ?? {});
  const onlyNames = names.every((name) => name === 'name' || name === 'generateName');
  if (!onlyNames || Object.keys(rest).length > 0) {
    const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
    errors.push(forbidden(path, detail));
  }
  return errors;
}

function extensions(schema: Schema, path: string): FieldError[] {
  if (!schema['x-kubernetes-int-or-string']) return [];
  return (['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const).flatMap((name) =>
    schema[name] ? [invalid(child(path, name), true, 'must be false if x-kubernetes-int-or-string is true')] : [],
  );
}

const intOrString = [{ type: 'integer' }, { type: 'string' }];

/** Which anyOf may hold types: that of an int-or-string, alone or first within allOf. */
function intOrStringPattern(schema: Schema): 'anyOf' | 'allOf' | undefined {
  if (!schema['x-kubernetes-int-or-string']) return undefined;
  if (deepEqual(schema.anyOf, intOrString)) return 'anyOf';
  return deepEqual(schema.allOf?.[0]?.anyOf, intOrString) ? 'allOf' : undefined;
}

function valueValidation(schema: Schema, path: string, skip: 'anyOf' | 'allOf' | undefined): FieldError[] {
  const errors: FieldError[] = [];
  if (skip !== 'anyOf') {
    for (const [i, part] of (schema.anyOf ?? []).entries())
      errors.push(...nested(part, index(child(path, 'anyOf'), i)));
  }
  for (const [i, part] of (schema.allOf ?? []).entries()) {
    errors.push(...nested(part, index(child(path, 'allOf'), i), skip === 'allOf' && i === 0 ? 'anyOf' : undefined));
  }
  for (const [i, part] of (schema.oneOf ?? []).entries()) errors.push(...nested(part, index(child(path, 'oneOf'), i)));
  if (schema.not) errors.push(...nested(schema.not, child(path, 'not')));
  if (schema.pattern) {
    try {
      goRegExp(schema.pattern);
    } catch (error) {
      const detail = `must be a valid regular expression, but isn't: ${(error as Error).message}`;
      errors.push(invalid(child(path, 'pattern'), schema.pattern, detail));
    }
  }
  return errors;
}

/** [keyword, what it must be] within allOf, anyOf, oneOf and not. */
const forbiddenNested = [
  ['type', 'empty'],
  ['additionalProperties', 'undefined'],
  ['default', 'undefined'],
  ['title', 'empty'],
  ['description', 'empty'],
  ['nullable', 'false'],
  ['x-kubernetes-preserve-unknown-fields', 'false'],
  ['x-kubernetes-embedded-resource', 'false'],
  ['x-kubernetes-int-or-string', 'false'],
  ['x-kubernetes-list-map-keys', 'empty'],
  ['x-kubernetes-list-type', 'undefined'],
  ['x-kubernetes-map-type', 'undefined'],
  ['x-kubernetes-validations', 'empty'],
] as const;

function nested(schema: Schema, path: string, skip?: 'anyOf'): FieldError[] {
  const errors = valueValidation(schema, path, skip);
  if (schema.items) errors.push(...nested(schema.items, child(path, 'items')));
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    errors.push(...nested(property, key(child(path, 'properties'), name)));
  }
  for (const [keyword, allowed] of forbiddenNested) {
    const value = schema[keyword];
    if (value === undefined || (allowed !== 'undefined' && (value === false || value === ''))) continue;
    errors.push(forbidden(child(path, keyword), `must be ${allowed} to be structural`));
  }
  if (schema.properties?.metadata) {
    errors.push(forbidden(key(child(path, 'properties'), 'metadata'), 'must not be specified in a nested context'));
  }
  return errors;
}

/** Every value validation applies to a value that the structure knows. */
function completeness(part: Schema, structure: Schema, at: string, from: string): FieldError[] {
  const nestedPart = (child_: Schema, place: string) => nestedCompleteness(child_, structure, at, place);
  return [
    ...(part.not ? nestedPart(part.not, child(from, 'not')) : []),
    ...(part.allOf ?? []).flatMap((p, i) => nestedPart(p, index(child(from, 'allOf'), i))),
    ...(part.anyOf ?? []).flatMap((p, i) => nestedPart(p, index(child(from, 'anyOf'), i))),
    ...(part.oneOf ?? []).flatMap((p, i) => nestedPart(p, index(child(from, 'oneOf'), i))),
  ];
}

function nestedCompleteness(part: Schema, structure: Schema | undefined, at: string, from: string): FieldError[] {
  if (!structure) return [required(at, `because it is defined in ${from}`)];
  const errors = completeness(part, structure, at, from);
  if (part.items) {
    errors.push(...nestedCompleteness(part.items, structure.items, child(at, 'items'), child(from, 'items')));
  }
  for (const [name, property] of Object.entries(part.properties ?? {})) {
    const place = key(child(at, 'properties'), name);
    const source = key(child(from, 'properties'), name);
    const known = structure.properties?.[name];
    if (!known) errors.push(required(place, `because it is defined in ${source}`));
    else errors.push(...nestedCompleteness(property, known, place, source));
  }
  return errors;
}
