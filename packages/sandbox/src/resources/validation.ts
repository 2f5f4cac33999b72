import { schemaOf } from './defaulting.ts';
import { notSupported, required, tooLong, tooMany } from './field-error.ts';
import { effectiveFormat, matchesFormat } from './formats.ts';
import { goRegExp } from './go-regexp.ts';
import { deepEqual, isObject } from './json.ts';
import { child, index } from './path.ts';
import { ownProperty } from './pruning.ts';
import type { FieldError } from './resource-type.ts';
import type { Schema } from './schema.ts';

/** How `validateObject` looks at a value. */
export interface ValidateOptions {
  /** What is stored: errors in values that a change leaves alone are forgiven (CRDValidationRatcheting). */
  readonly old?: unknown;
  /** The path of `value` within the object, '' for the whole object. */
  readonly path?: string;
}

/** One finding; `matches` counts what was right, by which anyOf and oneOf choose whose errors to show. */
interface Result {
  errors: Finding[];
  matches: number;
}

interface Finding extends FieldError {
  /** Tells findings apart: each is reported once. */
  readonly message: string;
}

/** The old value at the same place, if there is one to compare with. */
type Old = { readonly value: unknown } | undefined;

/**
 * Checks a value against a structural schema in the words of kube-apiserver 1.36
 * (`spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to 0`): every keyword of
 * `Schema` but defaults, list types (`validateListTypes`) and CEL rules (`cel.ts`).
 */
export function validateObject(schema: Schema, value: unknown, options: ValidateOptions = {}): FieldError[] {
  const { path = '' } = options;
  const old = 'old' in options ? { value: options.old } : undefined;
  const { errors } = validate(schema, value, '', old, true);
  return errors.map((finding) => {
    const { type, field, detail } = finding;
    return { type, field: absolute(path, field), detail, ...('value' in finding && { value: finding.value }) };
  });
}

function absolute(prefix: string, field: string): string {
  const relative = field.startsWith('.') ? field.slice(1) : field;
  if (relative === '') return prefix === '' ? '<nil>' : prefix;
  return child(prefix, relative);
}

function validate(schema: Schema, value: unknown, path: string, old: Old, ratchet: boolean): Result {
  const result: Result = { errors: [], matches: 0 };
  const format = effectiveFormat(schema);
  const types = schemaTypes(schema);
  if (value === null || value === undefined) {
    if (types.length > 0 && schema.nullable !== true) add(result, wrongType(path, types.join(','), 'null'));
    else result.matches++;
    checkEnum(schema, value, path, result);
  } else {
    if (types.length > 0 || format !== '') applied(result, checkType(types, format, value, path));
    applied(result, checkJunctors(schema, value, path, old));
    if (typeof value === 'string') applied(result, checkText(schema, format, value, path));
    else if (typeof value === 'number') applied(result, checkNumber(schema, types, format, value, path));
    else if (Array.isArray(value)) applied(result, checkList(schema, value, path, old));
    checkEnum(schema, value, path, result);
    result.matches++;
    if (isObject(value)) applied(result, checkFields(schema, value, path, old));
    result.matches++;
  }
  if (ratchet && old !== undefined && result.errors.length > 0 && deepEqual(old.value, value)) {
    return { errors: [], matches: 0 };
  }
  return result;
}

function applied(result: Result, other: Result): void {
  merge(result, other);
  result.matches++;
}

function merge(result: Result, other: Result): void {
  for (const finding of other.errors) add(result, finding);
  result.matches += other.matches;
}

function add(result: Result, finding: Finding): void {
  if (!result.errors.some(({ message }) => message === finding.message)) result.errors.push(finding);
}

/** The JSON types that a schema allows; int-or-string allows two. */
export function schemaTypes(schema: Schema): readonly string[] {
  if (schema['x-kubernetes-int-or-string']) return ['integer', 'string'];
  return schema.type === undefined ? [] : [schema.type];
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function checkType(types: readonly string[], format: string, value: unknown, path: string): Result {
  const actual = jsonType(value);
  const fits = types.includes(actual) || (actual === 'integer' && types.includes('number'));
  const isTextOrList = actual === 'string' || actual === 'array';
  // kube-openapi's type validator looks at the format before the type, with the odd results kept here.
  if (!isTextOrList && format !== '' && !fits) {
    const actualFormat = actual === 'number' ? 'float64' : '';
    return { errors: [wrongType(path, format, actualFormat)], matches: 0 };
  }
  const numeric = types.includes('number') || types.includes('integer');
  if ((!numeric && format !== '' && isTextOrList) || fits) return { errors: [], matches: 1 };
  return { errors: [wrongType(path, types.join(','), actual)], matches: 0 };
}

function wrongType(path: string, expected: string, actual: string): Finding {
  const message = `${path} in body must be of type ${expected}: ${JSON.stringify(actual)}`;
  return { type: 'TypeInvalid', field: path, value: actual, detail: message, message };
}

function bad(path: string, value: unknown, rest: string): Finding {
  const message = `${path} in body ${rest}`;
  return { type: 'Invalid', field: path, value, detail: message, message };
}

/** Findings that kube-openapi does not tie to a field. */
function loose(message: string): Finding {
  return { type: 'Invalid', field: '', value: '', detail: message, message };
}

function known(error: FieldError, message: string): Finding {
  return { ...error, message };
}

function checkEnum(schema: Schema, value: unknown, path: string, result: Result): void {
  const { enum: values } = schema;
  if (!values || values.length === 0 || values.some((allowed) => allowed !== null && deepEqual(allowed, value))) return;
  const texts = values.map((allowed) => (typeof allowed === 'string' ? allowed : JSON.stringify(allowed)));
  add(result, known(notSupported(path, value ?? null, texts), `${path} in body should be one of ${texts.join(' ')}`));
}

function checkText(schema: Schema, format: string, value: string, path: string): Result {
  const errors: Finding[] = [];
  const length = Array.from(value).length;
  const { maxLength, minLength, pattern } = schema;
  if (maxLength !== undefined && length > maxLength) {
    errors.push(known(tooLong(path, maxLength), `${path} in body should be at most ${maxLength} chars long`));
  } else if (minLength !== undefined && length < minLength) {
    errors.push(bad(path, value, `should be at least ${minLength} chars long`));
  } else if (pattern && !goRegExp(pattern).test(value)) {
    errors.push(bad(path, value, `should match '${pattern}'`));
  }
  const result: Result = { errors, matches: 0 };
  if (format !== '') {
    result.matches++;
    if (!matchesFormat(format, value)) {
      const message = `${path} in body must be of type ${format}: ${JSON.stringify(value)}`;
      add(result, { type: 'TypeInvalid', field: path, value, detail: message, message });
    }
  }
  return result;
}

const ranges: Readonly<Record<string, readonly [number, number]>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [-(2 ** 63), 2 ** 63 - 1],
};

function checkNumber(schema: Schema, types: readonly string[], format: string, value: number, path: string): Result {
  const result: Result = { errors: [], matches: 1 };
  if (types.length === 1 && types[0] === 'integer') {
    const [low, high] = ranges[format || 'int64'] ?? [0, 0];
    if (!Number.isInteger(value) || value < low || value > high) {
      const kind = format === '' ? 'integer (default format)' : `integer with format ${format}`;
      add(result, loose(`Checked value must be of type ${kind} in ${path}`));
    }
  }
  const { minimum, maximum, multipleOf } = schema;
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) {
    add(result, bad(path, value, `should be a multiple of ${multipleOf}`));
  }
  if (minimum !== undefined && (schema.exclusiveMinimum ? value <= minimum : value < minimum)) {
    add(result, bad(path, value, `should be greater than ${schema.exclusiveMinimum ? '' : 'or equal to '}${minimum}`));
  }
  if (maximum !== undefined && (schema.exclusiveMaximum ? value >= maximum : value > maximum)) {
    add(result, bad(path, value, `should be less than ${schema.exclusiveMaximum ? '' : 'or equal to '}${maximum}`));
  }
  return result;
}

function isMultiple(value: number, factor: number): boolean {
  const quotient = factor < 1 ? (1 / factor) * value : value / factor;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9 * Math.max(1, Math.abs(quotient));
}

function checkList(schema: Schema, value: readonly unknown[], path: string, old: Old): Result {
  const result: Result = { errors: [], matches: 1 };
  const { items, minItems, maxItems } = schema;
  if (items) {
    const oldItem = correlateItems(schema, old);
    value.forEach((item, position) => merge(result, validate(items, item, index(path, position), oldItem(item), true)));
  }
  if (minItems !== undefined && value.length < minItems) {
    add(result, bad(path, value.length, `should have at least ${minItems} items`));
  }
  if (maxItems !== undefined && value.length > maxItems) {
    const message = `${path} in body should have at most ${maxItems} items`;
    add(result, known(tooMany(path, value.length, maxItems), message));
  }
  if (schema.uniqueItems && value.some((item, position) => value.findIndex((o) => deepEqual(o, item)) < position)) {
    add(result, { ...bad(path, '', "shouldn't contain duplicates") });
  }
  return result;
}

/** Finds an item's old self: only items of lists of type map have one. */
export function correlateItems(schema: Schema, old: Old): (item: unknown) => Old {
  const keys = schema['x-kubernetes-list-map-keys'];
  const oldItems = old?.value;
  if (schema['x-kubernetes-list-type'] !== 'map' || !keys || !Array.isArray(oldItems)) return () => undefined;
  return (item) => {
    if (!isObject(item)) return undefined;
    const match = oldItems.find((o) => isObject(o) && keys.every((name) => deepEqual(o[name], item[name])));
    return match === undefined ? undefined : { value: match };
  };
}

/** A field's old self: there is none in maps that are replaced as a whole. */
export function correlateField(schema: Schema, old: Old, name: string): Old {
  if (!isObject(old?.value) || schema['x-kubernetes-map-type'] === 'atomic') return undefined;
  return { value: old.value[name] };
}

function checkFields(schema: Schema, value: Record<string, unknown>, path: string, old: Old): Result {
  const result: Result = { errors: [], matches: 0 };
  const { minProperties, maxProperties } = schema;
  const names = Object.keys(value);
  if (minProperties !== undefined && names.length < minProperties) {
    add(result, bad(path, names.length, `should have at least ${minProperties} properties`));
  }
  if (maxProperties !== undefined && names.length > maxProperties) {
    const message = `${path} in body should have at most ${maxProperties} properties`;
    add(result, known(tooMany(path, names.length, maxProperties), message));
  }
  for (const name of names) {
    const field = schemaOf(schema, name);
    if (field) {
      const at = ownProperty(schema, name) && path === '' ? name : `${path}.${name}`;
      merge(result, validate(field, value[name], at, correlateField(schema, old, name), true));
    } else if (schema.additionalProperties === false && !ownProperty(schema, name)) {
      const message = `${path}.${name} in body is a forbidden property`;
      add(result, { type: 'Invalid', field: path, value: name, detail: message, message });
    }
  }
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) {
      add(result, known(required(`${path}.${name}`), `${path}.${name} in body is required`));
    }
  }
  return result;
}

function checkJunctors(schema: Schema, value: unknown, path: string, old: Old): Result {
  const result: Result = { errors: [], matches: 1 };
  const run = (part: Schema) => validate(part, value, path, old, false);
  const name = JSON.stringify(path);
  if (schema.anyOf && schema.anyOf.length > 0) {
    const results = schema.anyOf.map(run);
    const success = results.find(({ errors }) => errors.length === 0);
    if (!success) add(result, loose(`${name} must validate at least one schema (anyOf)`));
    merge(result, success ?? best(results));
  }
  if (schema.oneOf && schema.oneOf.length > 0) {
    const results = schema.oneOf.map(run);
    const valid = results.filter(({ errors }) => errors.length === 0);
    if (valid.length === 1 && valid[0]) merge(result, valid[0]);
    else {
      const found = valid.length === 0 ? 'Found none valid' : `Found ${valid.length} valid alternatives`;
      add(result, loose(`${name} must validate one and only one schema (oneOf). ${found}`));
      // A failure after a success does not count as the best one, a failure before it is forgotten.
      if (valid.length === 0) merge(result, best(results));
    }
  }
  if (schema.allOf && schema.allOf.length > 0) {
    const results = schema.allOf.map(run);
    for (const part of results) merge(result, part);
    const valid = results.filter(({ errors }) => errors.length === 0).length;
    if (valid !== results.length) {
      add(result, loose(`${name} must validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`));
    }
  }
  if (schema.not && run(schema.not).errors.length === 0) {
    add(result, loose(`${name} must not validate the schema (not)`));
  }
  return result;
}

function best(results: readonly Result[]): Result {
  return results.reduce((a, b) => (b.matches > a.matches ? b : a));
}
