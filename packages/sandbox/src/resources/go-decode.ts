import type { Kind, KubeObject } from '@openstack-operator/kube';
import { isBase64 } from './formats.ts';
import { isObject, type JsonObject } from './json.ts';
import { canonicalQuantity, QuantityError } from './quantity.ts';
import type { Schema } from './schema.ts';
import { canonicalMicroTime, canonicalTime } from './time.ts';

/** Go's decoder refused a value. */
class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

/** Where the decoder is: the innermost struct and the names of the fields down to the value. */
interface Place {
  readonly struct: string;
  readonly path: string;
}

/**
 * Reads an object as the Go type of a built-in kind would and writes it back as Go would, in place: fields that the
 * type lacks go, quantities and times become canonical, zero values go or come as `omitempty` says.
 * @returns the decoder's complaint, or undefined; HTTP 400 says it after `Pod in version "v1" cannot be handled as a Pod: `
 */
export function decodeBuiltin(kind: Kind, schema: Schema, object: KubeObject): string | undefined {
  try {
    decodeStruct(schema, object, { struct: kind.kind, path: '' });
    return undefined;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return error.message;
  }
}

/** Reads only `metadata` of a custom resource that way. */
export function decodeMetadata(metaSchema: Schema, object: KubeObject): string | undefined {
  try {
    if (!isObject(object.metadata))
      throw new DecodeError(mismatch(object.metadata, { struct: '', path: '' }, 'v1.ObjectMeta'));
    decodeStruct(metaSchema, object.metadata, { struct: 'ObjectMeta', path: '' });
    return undefined;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return error.message;
  }
}

function decodeStruct(schema: Schema, value: JsonObject, place: Place): void {
  const properties = schema.properties ?? {};
  for (const name of Object.keys(value)) if (!Object.hasOwn(properties, name)) delete value[name];
  for (const [name, field] of Object.entries(properties)) {
    const at = { struct: place.struct, path: place.path === '' ? name : `${place.path}.${name}` };
    const given = value[name];
    const decoded = given === undefined || given === null ? undefined : decode(field, given, at);
    const zero = field['x-go-zero'];
    if (decoded === undefined) {
      if (zero === 'fill') value[name] = zeroOf(field, at);
      else if (zero === 'null') value[name] = null;
      else delete value[name];
    } else if (zero === 'drop' && isZero(decoded)) delete value[name];
    else value[name] = decoded;
  }
}

function decode(schema: Schema, value: unknown, place: Place): unknown {
  switch (schema['x-go-type']) {
    case 'quantity':
      return decodeQuantity(value);
    case 'intOrString':
      if (typeof value === 'string') return value;
      if (typeof value === 'number') return decodeInteger({ ...schema, format: 'int32' }, value, place);
      throw new DecodeError(`json: cannot unmarshal ${jsonName(value)} into Go value of type int32`);
    case 'time':
      return decodeText(value, place, 'string', canonicalTime);
    case 'microTime':
      return decodeText(value, place, 'string', canonicalMicroTime);
    case 'raw':
      return value;
    case undefined:
      break;
  }
  if (schema.type === 'string') {
    if (typeof value !== 'string') throw new DecodeError(mismatch(value, place, goName(schema)));
    if (schema.format === 'byte') return decodeBytes(value);
    return value;
  }
  if (schema.type === 'boolean') {
    if (typeof value !== 'boolean') throw new DecodeError(mismatch(value, place, goName(schema)));
    return value;
  }
  if (schema.type === 'integer') return decodeInteger(schema, value, place);
  if (schema.type === 'number') {
    if (typeof value !== 'number') throw new DecodeError(mismatch(value, place, 'float64'));
    return value;
  }
  if (schema.type === 'array') {
    if (!Array.isArray(value)) throw new DecodeError(mismatch(value, place, goName(schema)));
    return schema.items ? value.map((item) => decodeItem(schema.items ?? {}, item, place)) : value;
  }
  if (!isObject(value)) throw new DecodeError(mismatch(value, place, goName(schema)));
  const additional = schema.additionalProperties;
  if (typeof additional === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([name, entry]) => [name, decodeItem(additional, entry, place)]),
    );
  }
  if (schema.properties)
    decodeStruct(schema, value, { struct: goName(schema).split('.').pop() ?? '', path: place.path });
  return value;
}

/** Writes what Go would add to a struct: fields that are absent and not left out (the status of a new object). */
export function fillZeros(schema: Schema, value: JsonObject): void {
  decodeStruct(schema, value, { struct: '', path: '' });
}

/** An item of a list or an entry of a map: null is the zero value. */
function decodeItem(schema: Schema, value: unknown, place: Place): unknown {
  return value === null ? zeroOf(schema, place) : decode(schema, value, place);
}

function zeroOf(schema: Schema, place: Place): unknown {
  const special = schema['x-go-type'];
  if (special === 'quantity') return '0';
  if (special === 'intOrString') return 0;
  if (special !== undefined) return null;
  if (schema.type === 'string') return '';
  if (schema.type === 'boolean') return false;
  if (schema.type === 'integer' || schema.type === 'number') return 0;
  if (schema.type === 'array' || schema.additionalProperties !== undefined) return null;
  return decode(schema, {}, place);
}

function isZero(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isObject(value)) return Object.keys(value).length === 0;
  return value === '' || value === 0 || value === false || value === null;
}

function decodeInteger(schema: Schema, value: unknown, place: Place): number {
  if (typeof value !== 'number') throw new DecodeError(mismatch(value, place, goName(schema)));
  const limit = schema.format === 'int64' ? 2 ** 63 : 2 ** 31;
  if (!Number.isInteger(value) || value >= limit || value < -limit) {
    throw new DecodeError(mismatch(value, place, goName(schema), `number ${value}`));
  }
  return value;
}

function decodeQuantity(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') {
    throw new DecodeError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
  }
  try {
    return canonicalQuantity(String(value).trim());
  } catch (error) {
    if (error instanceof QuantityError) throw new DecodeError(error.message);
    throw error;
  }
}

function decodeText(
  value: unknown,
  place: Place,
  type: string,
  canonical: (text: string) => string | Error,
): string | null {
  if (typeof value !== 'string') throw new DecodeError(mismatch(value, place, type));
  if (value === '') return null;
  const result = canonical(value);
  if (typeof result !== 'string') throw new DecodeError(result.message);
  return result;
}

function decodeBytes(value: string): string {
  const text = value.replace(/[\r\n]/g, '');
  if (text !== '' && !isBase64(text)) {
    const at = /^(?:[A-Za-z0-9+/]{4})*/.exec(text)?.[0].length ?? 0;
    const bad = text.slice(at).search(/[^A-Za-z0-9+/]/);
    throw new DecodeError(`illegal base64 data at input byte ${bad < 0 ? at : at + bad}`);
  }
  return text;
}

function mismatch(value: unknown, place: Place, type: string, what = jsonName(value)): string {
  const into = place.struct === '' ? 'Go value' : `Go struct field ${place.struct}.${place.path}`;
  return `json: cannot unmarshal ${what} into ${into} of type ${type}`;
}

function jsonName(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return value === null ? 'null' : typeof value;
}

function goName(schema: Schema): string {
  const name = schema['x-go-name'];
  if (name !== undefined) return name;
  if (schema.type === 'boolean') return 'bool';
  return schema.format ?? schema.type ?? 'object';
}
