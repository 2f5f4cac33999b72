import { timestamp } from '@openstack-operator/kube';
import { builtinSchema, deleteOptionsSchema, isBuiltin } from '../resources/builtin-schema.ts';
import type { JsonObject } from '../resources/json.ts';
import type { Schema } from '../resources/schema.ts';
import { badRequest } from './status.ts';

/** The media type in which kubectl (from 1.35 on) and other Go clients write built-in kinds. */
export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** A field as it came: its number, and a number or the bytes of a text, a message, a list's item. */
interface WireField {
  readonly number: number;
  readonly value: bigint | Uint8Array;
}

/** What a field number means: a property, or a struct whose properties stand in the message around it. */
type Meaning = { readonly name: string; readonly schema: Schema } | { readonly embedded: Map<number, Meaning> };

const MAGIC = 'k8s\0';
const text = new TextDecoder();
const meanings = new WeakMap<object, Map<number, Meaning>>();

/**
 * Reads the protobuf of a built-in kind, or of DeleteOptions, as the JSON that it stands for. Zero values are there, as
 * Go's protobuf writes them all: decoding for the kind drops them.
 * Source: k8s.io/apimachinery pkg/runtime/serializer/protobuf; field numbers come from the Go structs' tags.
 * @throws StatusError 400
 */
export function decodeProtobuf(bytes: Uint8Array): JsonObject {
  if (text.decode(bytes.subarray(0, 4)) !== MAGIC) {
    throw badRequest('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
  }
  try {
    let type: readonly WireField[] = [];
    let raw: Uint8Array = new Uint8Array();
    for (const { number, value } of fields(bytes.subarray(4))) {
      if (number === 1) type = fields(bytesOf(value));
      if (number === 2) raw = bytesOf(value);
    }
    const [apiVersion = '', kind = ''] = [1, 2].map((number) => textAt(type, number));
    const name = `${apiVersion}/${kind}`;
    if (kind !== 'DeleteOptions' && !isBuiltin(name)) {
      throw badRequest(`no kind "${kind}" is registered for version "${apiVersion}" in the sandbox's protobuf`);
    }
    const schema = kind === 'DeleteOptions' ? deleteOptionsSchema() : builtinSchema(name);
    return { apiVersion, kind, ...message(schema, raw) };
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof SyntaxError)) throw error;
    throw badRequest(`the protobuf of the request cannot be read: ${error.message}`);
  }
}

function message(schema: Schema, bytes: Uint8Array): JsonObject {
  const target: JsonObject = {};
  read(meaningsOf(schema), bytes, target);
  return target;
}

function read(known: ReadonlyMap<number, Meaning>, bytes: Uint8Array, target: JsonObject): void {
  for (const { number, value } of fields(bytes)) {
    const meaning = known.get(number);
    if (meaning === undefined) continue;
    if ('embedded' in meaning) read(meaning.embedded, bytesOf(value), target);
    else add(meaning.schema, value, target, meaning.name);
  }
}

/** Sets a property, or adds to the list or map that it is. */
function add(schema: Schema, value: WireField['value'], target: JsonObject, name: string): void {
  if (schema.type === 'array') {
    const list = (target[name] ??= []) as unknown[];
    list.push(convert(schema.items ?? {}, value));
  } else if (typeof schema.additionalProperties === 'object') {
    const map = (target[name] ??= {}) as JsonObject;
    const entry = fields(bytesOf(value));
    map[textAt(entry, 1)] = convert(schema.additionalProperties, valueAt(entry, 2) ?? new Uint8Array());
  } else target[name] = convert(schema, value);
}

function convert(schema: Schema, value: WireField['value']): unknown {
  if (typeof value === 'bigint') return schema.type === 'boolean' ? value !== 0n : Number(BigInt.asIntN(64, value));
  switch (schema['x-go-type']) {
    case 'quantity':
      return textAt(fields(value), 1);
    case 'intOrString': {
      const [kind, number] = [1, 2].map((position) => numberAt(fields(value), position));
      return kind === 1 ? textAt(fields(value), 3) : number;
    }
    case 'time':
    case 'microTime':
      return timeOf(fields(value), schema['x-go-type'] === 'time' ? 0 : 6);
    case 'raw': {
      const json = textAt(fields(value), 1);
      return json === '' ? null : (JSON.parse(json) as unknown);
    }
    case undefined:
      break;
  }
  if (schema.type === 'string')
    return schema.format === 'byte' ? Buffer.from(value).toString('base64') : text.decode(value);
  // A list as the value of a map is a message of its own, whose field 1 is the items.
  if (schema.type === 'array') {
    return fields(value).map((item) => convert(schema.items ?? {}, item.value));
  }
  return message(schema, value);
}

function timeOf(time: readonly WireField[], digits: number): string | null {
  if (time.length === 0) return null;
  const nanoseconds = numberAt(time, 2);
  const text = timestamp({ now: () => numberAt(time, 1) * 1000 });
  const fraction = String(nanoseconds).padStart(9, '0').slice(0, digits);
  return digits > 0 ? text.replace('Z', `.${fraction}Z`) : text;
}

/** The fields of a message. @throws RangeError when it ends too early or is no protobuf */
function fields(bytes: Uint8Array): WireField[] {
  const found: WireField[] = [];
  let at = 0;
  const varint = (): bigint => {
    let result = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined || shift > 63n) throw new RangeError('unexpected EOF');
      result |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return result;
    }
  };
  const take = (length: number): Uint8Array => {
    if (at + length > bytes.length) throw new RangeError('unexpected EOF');
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const number = tag >> 3;
    if ((tag & 7) === 0) found.push({ number, value: varint() });
    else if ((tag & 7) === 2) found.push({ number, value: take(Number(varint())) });
    else throw new RangeError(`field ${number} is of wire type ${tag & 7}, which no Kubernetes kind has`);
  }
  return found;
}

function bytesOf(value: WireField['value']): Uint8Array {
  if (typeof value === 'bigint') throw new RangeError('a number stands where a message was expected');
  return value;
}

function valueAt(message: readonly WireField[], number: number): WireField['value'] | undefined {
  return message.findLast((field) => field.number === number)?.value;
}

function textAt(message: readonly WireField[], number: number): string {
  return text.decode(bytesOf(valueAt(message, number) ?? new Uint8Array()));
}

function numberAt(message: readonly WireField[], number: number): number {
  const value = valueAt(message, number);
  return typeof value === 'bigint' ? Number(BigInt.asIntN(64, value)) : 0;
}

/** By field number; of a schema, once. */
function meaningsOf(schema: Schema): Map<number, Meaning> {
  const properties = schema.properties ?? {};
  const known = meanings.get(properties);
  if (known) return known;
  const made = new Map<number, Meaning>();
  for (const [name, field] of Object.entries(properties)) {
    const path = (field['x-protobuf'] ?? '').split('.').filter(Boolean).map(Number);
    const last = path.pop();
    if (last === undefined) continue;
    let level = made;
    for (const number of path) {
      const outer = level.get(number) ?? { embedded: new Map<number, Meaning>() };
      level.set(number, outer);
      if ('embedded' in outer) level = outer.embedded;
    }
    level.set(last, { name, schema: field });
  }
  meanings.set(properties, made);
  return made;
}
