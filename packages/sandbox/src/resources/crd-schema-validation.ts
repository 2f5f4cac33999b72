import { forbidden, invalid, notSupported, required } from './field-error.ts';
import { resolveFieldPath } from './field-path.ts';
import { child, index, key } from './path.ts';
import type { FieldError } from './resource-type.ts';
import type { Schema, ValidationRule } from './schema.ts';

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const metaFields = new Set(['metadata', 'kind', 'apiVersion']);

/** What holds at a place of the schema because of what stands above it. */
interface Scope {
  readonly root: boolean;
  /** Why defaults may not be used here. */
  readonly noDefaults?: string;
  readonly insideMeta: boolean;
  /** The nearest place above within which an old value cannot be told for a new one. */
  readonly uncorrelated?: string;
}

/**
 * Checks the keywords of a CRD's schema beyond its structure: list types and their keys, map types, defaults where they
 * are allowed, the form of CEL rules (ValidateCustomResourceDefinitionOpenAPISchema).
 */
export function validateCrdSchema(schema: Schema, path: string): FieldError[] {
  return check(schema, path, { root: true, insideMeta: false });
}

function check(schema: Schema, path: string, scope: Scope): FieldError[] {
  const errors: FieldError[] = [];
  if (schema.default !== undefined && scope.noDefaults !== undefined) {
    errors.push(forbidden(child(path, 'default'), `must not be set ${scope.noDefaults}`));
  }
  if (schema.type !== undefined && !types.includes(schema.type)) {
    errors.push(notSupported(child(path, 'type'), schema.type, types));
  }
  if (scope.insideMeta && schema['x-kubernetes-embedded-resource']) {
    const detail = 'must not be used inside of resource meta';
    errors.push(forbidden(child(path, 'x-kubernetes-embedded-resource'), detail));
  }
  if (schema.uniqueItems) {
    const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    errors.push(forbidden(child(path, 'uniqueItems'), detail));
  }
  errors.push(...checkFields(schema, path, scope), ...checkParts(schema, path, scope));
  errors.push(...checkListAndMap(schema, path));
  for (const [position, rule] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    const at = index(child(path, 'x-kubernetes-validations'), position);
    errors.push(...checkRule(rule, schema, at, scope));
  }
  return errors;
}

function checkFields(schema: Schema, path: string, scope: Scope): FieldError[] {
  const errors: FieldError[] = [];
  const properties = Object.entries(schema.properties ?? {});
  const additional = schema.additionalProperties;
  if (additional !== undefined && properties.length > 0 && additional !== true) {
    const detail = 'additionalProperties and properties are mutual exclusive';
    errors.push(forbidden(child(path, 'additionalProperties'), detail));
  }
  if (typeof additional === 'object') {
    const reason = 'inside additionalProperties applying to object metadata';
    const inner = { ...scope, root: false, ...(scope.insideMeta && { noDefaults: reason }) };
    errors.push(...check(additional, child(path, 'additionalProperties'), inner));
  }
  for (const [name, property] of properties) {
    const meta = (scope.root || schema['x-kubernetes-embedded-resource']) && metaFields.has(name);
    errors.push(
      ...check(property, key(child(path, 'properties'), name), {
        ...scope,
        root: false,
        ...(meta && { insideMeta: true }),
        ...(meta && scope.root && { noDefaults: `in top-level ${name}` }),
      }),
    );
  }
  return errors;
}

function checkParts(schema: Schema, path: string, scope: Scope): FieldError[] {
  const inner = { ...scope, root: false };
  const errors = schema.not ? check(schema.not, child(path, 'not'), inner) : [];
  for (const junctor of ['allOf', 'oneOf', 'anyOf'] as const) {
    for (const [position, part] of (schema[junctor] ?? []).entries()) {
      errors.push(...check(part, index(child(path, junctor), position), inner));
    }
  }
  if (!schema.items) return errors;
  const correlated = schema['x-kubernetes-list-type'] === 'map';
  const items = { ...inner, ...(!correlated && { uncorrelated: scope.uncorrelated ?? path }) };
  return [...errors, ...check(schema.items, child(path, 'items'), items)];
}

function checkListAndMap(schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    errors.push(invalid(child(path, 'x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'));
  }
  const mapType = schema['x-kubernetes-map-type'];
  const listType = schema['x-kubernetes-list-type'];
  errors.push(...typeOf(schema, path, mapType, 'object', 'x-kubernetes-map-type'));
  if (mapType !== undefined && mapType !== 'atomic' && mapType !== 'granular') {
    errors.push(notSupported(child(path, 'x-kubernetes-map-type'), mapType, ['atomic', 'granular']));
  }
  const wrongType = typeOf(schema, path, listType, 'array', 'x-kubernetes-list-type');
  errors.push(...wrongType);
  if (wrongType.length === 0 && listType === 'set' && schema.items) {
    const { items } = schema;
    const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
    const itemList = items['x-kubernetes-list-type'];
    if (items.type === 'array' && itemList !== undefined && itemList !== 'atomic') {
      errors.push(invalid(child(path, 'items.x-kubernetes-list-type'), itemList, detail));
    } else if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic') {
      errors.push(invalid(child(path, 'items.x-kubernetes-map-type'), itemList ?? null, detail));
    }
  }
  if (listType !== undefined && !['atomic', 'set', 'map'].includes(listType)) {
    errors.push(notSupported(child(path, 'x-kubernetes-list-type'), listType, ['atomic', 'set', 'map']));
  }
  return [...errors, ...checkKeys(schema, path), ...checkItems(schema, path)];
}

function typeOf(schema: Schema, path: string, given: unknown, needed: string, keyword: string): FieldError[] {
  if (given === undefined || schema.type === needed) return [];
  const detail = `must be ${needed} if ${keyword} is specified`;
  const at = child(path, 'type');
  return [schema.type === undefined ? required(at, detail) : invalid(at, schema.type, detail)];
}

function checkKeys(schema: Schema, path: string): FieldError[] {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const listType = schema['x-kubernetes-list-type'];
  const errors: FieldError[] = [];
  if (keys.length > 0 && listType !== 'map') {
    const at = child(path, 'x-kubernetes-list-type');
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
    errors.push(listType === undefined ? required(at, detail) : invalid(at, listType, detail));
  }
  if (listType !== 'map') return errors;
  const at = child(path, 'x-kubernetes-list-map-keys');
  if (keys.length === 0) errors.push(required(at, 'must not be empty if x-kubernetes-list-type is map'));
  const { items } = schema;
  if (!items) return [...errors, required(child(path, 'items'), 'must have a schema if x-kubernetes-list-type is map')];
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    return [...errors, invalid(child(path, 'items.type'), items.type ?? '', detail)];
  }
  for (const [position, name] of keys.entries()) {
    const property = items.properties?.[name];
    if (!property) errors.push(invalid(at, keys, 'entries must all be names of item properties'));
    else if (property.type === 'array' || property.type === 'object') {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      errors.push(invalid(child(key(child(path, 'items.properties'), name), 'type'), items.type, detail));
    }
    if (keys.indexOf(name) < position) errors.push(invalid(at, keys, 'must not contain duplicate entries'));
  }
  return errors;
}

function checkItems(schema: Schema, path: string): FieldError[] {
  const { items } = schema;
  const listType = schema['x-kubernetes-list-type'];
  if (!items || (listType !== 'set' && listType !== 'map')) return [];
  const errors: FieldError[] = [];
  if (items.nullable) {
    const detail = `cannot be nullable when x-kubernetes-list-type is ${listType}`;
    errors.push(forbidden(child(path, 'items.nullable'), detail));
  }
  if (listType !== 'map') return errors;
  for (const name of schema['x-kubernetes-list-map-keys'] ?? []) {
    const property = items.properties?.[name];
    if (!property) continue;
    const at = key(child(path, 'items.properties'), name);
    if (!items.required?.includes(name) && property.default === undefined) {
      const detail =
        'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
      errors.push(required(child(at, 'default'), detail));
    }
    if (property.nullable) {
      const detail = 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable';
      errors.push(forbidden(child(at, 'nullable'), detail));
    }
  }
  return errors;
}

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

function checkRule(rule: ValidationRule, schema: Schema, path: string, scope: Scope): FieldError[] {
  const errors: FieldError[] = [];
  const text = rule.rule.trim();
  const message = rule.message?.trim() ?? '';
  const breaks = /[\n\r]/;
  if (text === '') errors.push(required(child(path, 'rule'), 'rule is not specified'));
  else if (rule.message && message === '') {
    errors.push(invalid(child(path, 'message'), rule.message, 'must be non-empty if specified'));
  } else if (breaks.test(message)) {
    errors.push(invalid(child(path, 'message'), rule.message, 'must not contain line breaks'));
  } else if (breaks.test(text) && message === '') {
    errors.push(required(child(path, 'message'), 'message must be specified if rule contains line breaks'));
  }
  if (rule.messageExpression && rule.messageExpression.trim() === '') {
    const detail = 'messageExpression must be non-empty if specified';
    errors.push(required(child(path, 'messageExpression'), detail));
  }
  if (rule.reason !== undefined && !reasons.includes(rule.reason)) {
    errors.push(notSupported(child(path, 'reason'), rule.reason, reasons));
  }
  if (rule.fieldPath) {
    const at = child(path, 'fieldPath');
    if (rule.fieldPath.trim() === '') errors.push(invalid(at, rule.fieldPath, 'must be non-empty if specified'));
    if (breaks.test(rule.fieldPath)) errors.push(invalid(at, rule.fieldPath, 'must not contain line breaks'));
    if (typeof resolveFieldPath(rule.fieldPath, schema) === 'string') {
      errors.push(invalid(at, rule.fieldPath, 'must be a valid path'));
    }
  }
  const usesOld = /\boldSelf\b/.test(rule.rule.replace(/'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"/g, ''));
  if (usesOld && scope.uncorrelated !== undefined) {
    const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${scope.uncorrelated}`;
    errors.push(invalid(child(path, 'rule'), rule.rule, detail));
  } else if (!usesOld && rule.optionalOldSelf !== undefined) {
    const detail = 'may not be set if oldSelf is not used in rule';
    errors.push(invalid(child(path, 'optionalOldSelf'), rule.optionalOldSelf, detail));
  }
  return errors;
}
