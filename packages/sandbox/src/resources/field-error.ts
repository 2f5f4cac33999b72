import type { FieldError } from './resource-type.ts';

const typeTexts: Readonly<Record<FieldError['type'], string>> = {
  Required: 'Required value',
  Invalid: 'Invalid value',
  NotFound: 'Not found',
  NotSupported: 'Unsupported value',
  Duplicate: 'Duplicate value',
  Forbidden: 'Forbidden',
  TooLong: 'Too long',
  TooMany: 'Too many',
  TooFew: 'Too few',
  TypeInvalid: 'Invalid value',
  Internal: 'Internal error',
};

/** A field that must be there and is not, or is empty. */
export function required(field: string, detail = ''): FieldError {
  return { type: 'Required', field, detail };
}

/** A value that is not allowed there. */
export function invalid(field: string, value: unknown, detail: string): FieldError {
  return { type: 'Invalid', field, value, detail };
}

/** `invalid` for objects and lists, whose value the API server does not print. */
export function invalidOmitted(field: string, detail: string): FieldError {
  return { type: 'Invalid', field, detail };
}

/** A value outside an enumeration, whose members are printed in the given order. */
export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const detail = supported.length > 0 ? `supported values: ${supported.map(quote).join(', ')}` : '';
  return { type: 'NotSupported', field, value, detail };
}

/** A value that must be unique and is not. */
export function duplicate(field: string, value: unknown): FieldError {
  return { type: 'Duplicate', field, value, detail: '' };
}

/** A reference to something that the object does not hold. */
export function notFound(field: string, value: unknown): FieldError {
  return { type: 'NotFound', field, value, detail: '' };
}

/** A value that is well formed, but may not be used here and now. */
export function forbidden(field: string, detail: string): FieldError {
  return { type: 'Forbidden', field, detail };
}

/** A text of more than `max` bytes. */
export function tooLong(field: string, max: number): FieldError {
  return { type: 'TooLong', field, detail: `may not be more than ${max} ${max === 1 ? 'byte' : 'bytes'}` };
}

/** A list or map of more than `max` entries. */
export function tooMany(field: string, actual: number, max: number): FieldError {
  return { type: 'TooMany', field, value: actual, detail: `must have at most ${max} ${max === 1 ? 'item' : 'items'}` };
}

/** The error without its field: `Invalid value: -1: must be greater than or equal to 0` (field.Error.ErrorBody). */
export function fieldErrorBody(error: FieldError): string {
  const parts = [typeTexts[error.type]];
  if ('value' in error) parts.push(printValue(error.value));
  if (error.detail !== '') parts.push(error.detail);
  return parts.join(': ');
}

/** The whole error: `spec.replicas: Invalid value: -1: must be greater than or equal to 0` (field.Error.Error). */
export function fieldErrorMessage(error: FieldError): string {
  return `${error.field}: ${fieldErrorBody(error)}`;
}

/** The reason in `Status.details.causes`, such as `FieldValueInvalid`. */
export function fieldErrorReason(error: FieldError): string {
  return error.type === 'Internal' ? 'InternalError' : `FieldValue${error.type}`;
}

/** Several errors as one text, repeated ones once: `a`, or `[a, b]` (utilerrors.Aggregate). */
export function aggregate(messages: readonly string[]): string {
  const unique = [...new Set(messages)];
  return unique.length === 1 ? (unique[0] ?? '') : `[${unique.join(', ')}]`;
}

/** A struct of the API server as errors print it: names and values in the order of its fields. */
export function struct(...fields: readonly (readonly [name: string, value: unknown])[]): ReadonlyMap<string, unknown> {
  return new Map(fields);
}

/** A Go string literal (strconv.Quote). */
export function quote(text: string): string {
  return JSON.stringify(text).replace(/\\u00([01][0-9a-f])/g, '\\x$1');
}

/**
 * JSON as Go's encoding/json writes it: keys sorted, `<`, `>` and `&` escaped. A Map stands for a struct: its keys keep
 * their order.
 */
export function goJson(value: unknown): string {
  return JSON.stringify(sortKeys(value)).replace(
    /[<>&]/g,
    (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
  );
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (value instanceof Map) return Object.fromEntries([...value].map(([name, child]) => [name, sortKeys(child)]));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, child]) => [key, sortKeys(child)]),
  );
}

function printValue(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number') return String(value);
  if (value === undefined) return 'null';
  return goJson(value);
}
