import { Environment } from '@marcbachmann/cel-js';
import { parseTimestamp } from '@openstack-operator/kube';
import { parseGoDuration } from './go-duration.ts';
import { deepEqual, isObject } from './json.ts';
import type { Schema } from './schema.ts';

const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return'.split(' '),
);
const escapes: Readonly<Record<string, string>> = { __: 'underscores', '.': 'dot', '-': 'dash', '/': 'slash' };

/** A property's name as CEL rules write it (`a-b` is `a__dash__b`), or undefined for one that no rule can name. */
export function escapeName(name: string): string | undefined {
  if (reserved.has(name)) return `__${name}__`;
  if (!/^[a-zA-Z_./-][\w./-]*$/.test(name)) return undefined;
  return name.replace(/__|[./-]/g, (part) => `__${escapes[part]}__`);
}

/** A JSON value as CEL sees it. */
type Convert = (value: unknown) => unknown;

/** How CEL sees the values of a schema: the type's name in an environment, and the conversion. */
export interface CelType {
  readonly name: string;
  readonly convert: Convert;
}

/** What an object of CEL keeps of its JSON: two are equal when their JSON is. */
const source = Symbol('source');

/** An object of CEL: fields by their escaped names. */
interface CelObject {
  readonly [source]: unknown;
  readonly [field: string]: unknown;
}

const primitives: Readonly<Record<string, CelType>> = {
  boolean: { name: 'bool', convert: (value) => value },
  number: { name: 'double', convert: (value) => value },
  integer: { name: 'int', convert: (value) => (typeof value === 'number' ? BigInt(Math.trunc(value)) : value) },
  string: { name: 'string', convert: (value) => value },
};

/** Formats that make a text more than a text (SchemaDeclType of k8s.io/apiserver/pkg/cel/common). */
const formats: Readonly<Record<string, CelType>> = {
  byte: { name: 'bytes', convert: (value) => (typeof value === 'string' ? Buffer.from(value, 'base64') : value) },
  duration: { name: 'google.protobuf.Duration', convert: toDuration },
  date: { name: 'google.protobuf.Timestamp', convert: toDate },
  'date-time': { name: 'google.protobuf.Timestamp', convert: toDate },
};

/** The library keeps its class of durations to itself: CEL makes one. */
const makeDuration = new Environment().registerVariable('text', 'string').parse('duration(text)');

function toDuration(value: unknown): unknown {
  return typeof value === 'string' && parseGoDuration(value) !== undefined ? makeDuration({ text: value }) : value;
}

/** CEL's timestamps are Dates; these come from data, not from a clock. */
function toDate(value: unknown): unknown {
  // oxlint-disable-next-line eslint/no-restricted-globals
  return typeof value === 'string' ? new Date(parseTimestamp(value)) : value;
}

/** Gives the type of a schema; `root` for the schema of a whole resource. */
export type DeclareType = (schema: Schema, root?: boolean) => CelType | undefined;

/**
 * Declares types in an environment: of a schema, and of all within it, each once. Undefined where rules see nothing:
 * objects of unknown content. `nulls` is whether objects are compared with null: operators are costly to declare.
 */
export function typeDeclarer(environment: Environment, { nulls = true } = {}): DeclareType {
  const known = new Map<Schema, CelType | undefined>();
  let count = 0;
  const declare: DeclareType = (schema, root = false) => {
    if (!known.has(schema)) known.set(schema, declareNew(schema, root));
    return known.get(schema);
  };

  function declareNew(given: Schema, root: boolean): CelType | undefined {
    if (given['x-kubernetes-int-or-string']) {
      return { name: 'dyn', convert: (value) => (typeof value === 'number' ? BigInt(Math.trunc(value)) : value) };
    }
    const schema = root ? withTypeMeta(given) : given;
    const additional = schema.additionalProperties;
    if (schema.type === 'array') return schema.items && declareList(schema, schema.items);
    if (schema.type === 'object' && typeof additional === 'object') {
      const entry = declare(additional, isEmbedded(additional));
      return entry && { name: `map<string, ${entry.name}>`, convert: convertMap(entry.convert) };
    }
    if (schema.type === 'object') return declareObject(schema);
    if (schema.type === 'string') return formats[schema.format ?? ''] ?? primitives.string;
    return schema.type === undefined ? undefined : primitives[schema.type];
  }

  function declareList(schema: Schema, items: Schema): CelType | undefined {
    const keys = schema['x-kubernetes-list-type'] === 'map' ? schema['x-kubernetes-list-map-keys'] : undefined;
    // Operators belong to the name of a type: items of a list of type map have one of their own, although another list
    // may have the same schema of items.
    const item = keys ? declareNew(items, isEmbedded(items)) : declare(items, isEmbedded(items));
    if (!item) return undefined;
    const name = `list<${item.name}>`;
    if (keys && item.name.startsWith('Object')) registerMapList(environment, name, keys);
    return { name, convert: (value) => (Array.isArray(value) ? value.map(item.convert) : value) };
  }

  function declareObject(schema: Schema): CelType {
    const fields: Field[] = [];
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const escaped = escapeName(name);
      const type = escaped === undefined ? undefined : declare(property, isEmbedded(property));
      if (escaped !== undefined && type) fields.push({ name, escaped, type });
    }
    const name = `Object${count++}`;
    if (nulls) return withNull(environment, registerObject(environment, name, fields));
    return registerObject(environment, name, fields);
  }

  return declare;
}

function isEmbedded(schema: Schema): boolean {
  return schema['x-kubernetes-embedded-resource'] === true;
}

/** apiVersion, kind and the metadata's names are there at the root of every resource. */
function withTypeMeta(schema: Schema): Schema {
  const text: Schema = { type: 'string' };
  const metadata: Schema = { type: 'object', properties: { name: text, generateName: text } };
  return { ...schema, type: 'object', properties: { ...schema.properties, apiVersion: text, kind: text, metadata } };
}

function convertMap(convert: Convert): Convert {
  return (value) => {
    if (!isObject(value)) return value;
    return new Map(Object.entries(value).map(([name, entry]) => [name, convert(entry)]));
  };
}

/** Lists of type map are equal in any order, and adding one to another replaces items of the same key. */
function registerMapList(environment: Environment, name: string, keys: readonly string[]): void {
  const keyOf = (item: unknown) => JSON.stringify(keys.map((key) => jsonOf(item)?.[key] ?? null));
  environment.registerOperator(`${name} == ${name}`, (a: CelObject[], b: CelObject[]) => {
    const others = new Map(b.map((item) => [keyOf(item), item[source]]));
    return a.length === b.length && a.every((item) => deepEqual(item[source], others.get(keyOf(item))));
  });
  environment.registerOperator(`${name} + ${name}`, (a: CelObject[], b: CelObject[]) => {
    const merged = new Map([...a, ...b].map((item) => [keyOf(item), item]));
    return [...merged.values()];
  });
}

function jsonOf(item: unknown): Record<string, unknown> | undefined {
  const json = (item as CelObject | undefined)?.[source];
  return isObject(json) ? json : undefined;
}

function withNull(environment: Environment, type: CelType): CelType {
  environment.registerOperator(`${type.name} == null`, () => false);
  return type;
}

interface Field {
  readonly name: string;
  readonly escaped: string;
  readonly type: CelType;
}

function registerObject(environment: Environment, typeName: string, fields: readonly Field[]): CelType {
  class Value implements CelObject {
    readonly [source]: unknown;
    readonly [field: string]: unknown;
    constructor(json: Record<string, unknown>) {
      this[source] = json;
      for (const { name, escaped, type } of fields) {
        const value = json[name];
        if (value !== undefined) Object.defineProperty(this, escaped, { value: type.convert(value), enumerable: true });
      }
    }
  }
  const declared = Object.fromEntries(fields.map(({ escaped, type }) => [escaped, type.name]));
  environment.registerType(typeName, { ctor: Value, fields: declared });
  const equal = (a: CelObject, b: CelObject) => deepEqual(a[source], b[source]);
  environment.registerOperator(`${typeName} == ${typeName}`, equal);
  return { name: typeName, convert: (value) => (isObject(value) ? new Value(value) : value) };
}
