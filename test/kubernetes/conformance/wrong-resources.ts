import {
  type Api,
  type ApiObject,
  group,
  neededFields,
  type OpenApiSchema,
  version,
} from '@openstack-operator/openstack';

/** A resource of ours with one mistake. */
export interface WrongResource {
  /** Where the mistake is, as the API server writes it. */
  readonly field: string;
  /** What is wrong there. */
  readonly way: string;
  /** Its `metadata`, without name and namespace, and `spec`. */
  readonly content: { readonly metadata?: object; readonly spec?: unknown };
}

/** A value that a schema refuses; `below` is where the mistake is within it. */
interface Wrong {
  readonly way: string;
  readonly value: unknown;
  readonly below?: string;
}

/** Of each type the values that are nearest to it, and are none. */
const valuesOfOtherTypes: Readonly<Record<string, readonly unknown[]>> = {
  string: [7, true, {}],
  integer: ['7', 1.5, true],
  number: ['7', true],
  boolean: ['true', 0],
  array: [{}, 'a'],
  object: [[], 'a'],
  'integer or string': [1.5, true, {}],
};
const badLabel = { labels: { a: '-' } };
const wrongMetadata: readonly (readonly [field: string, way: string, metadata: object])[] = [
  ['metadata.labels', 'a label that is none', badLabel],
  ['metadata.labels', 'the name of a label that is none', { labels: { 'a b': '' } }],
  ['metadata.annotations', 'the name of an annotation that is none', { annotations: { 'a b': '' } }],
  ['metadata.finalizers', 'a finalizer that is no name', { finalizers: ['a b'] }],
  [
    'metadata.ownerReferences.uid',
    'an owner without uid',
    { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'a' }] },
  ],
];

/** Each field of a kind's spec in each way to be wrong that its schema knows; CEL rules are in openstack-rules.ts. */
export function* wrongResources(api: Api): Iterable<WrongResource> {
  for (const [field, way, metadata] of wrongMetadata) yield { field, way, content: { metadata } };
  yield* within(api.spec.schema, 'spec', (spec) => ({ spec }));
}

/** The resource itself, as it is sent. */
export function resourceOf(api: Api, { content }: WrongResource, namespace: string): ApiObject {
  const metadata = { ...content.metadata, name: 'wrong', namespace };
  return { spec: {}, ...content, apiVersion: `${group}/${version}`, kind: api.kind, metadata };
}

function* within(
  schema: OpenApiSchema,
  field: string,
  place: (value: unknown) => WrongResource['content'],
): Iterable<WrongResource> {
  for (const { way, value, below = '' } of wrongValues(schema))
    yield { field: field + below, way, content: place(value) };
  const required = requiredFields(schema);
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    yield* within(child, `${field}.${name}`, (value) => place({ ...required, [name]: value }));
  }
  if (schema.additionalProperties !== undefined) {
    const name = allowedName(schema);
    yield* within(schema.additionalProperties, `${field}.${name}`, (value) => place({ [name]: value }));
  }
  if (schema.items !== undefined) yield* within(schema.items, `${field}[0]`, (value) => place([value]));
}

function* wrongValues(schema: OpenApiSchema): Iterable<Wrong> {
  const type = schema['x-kubernetes-int-or-string'] === true ? 'integer or string' : schema.type;
  for (const value of valuesOfOtherTypes[type ?? ''] ?? [])
    yield { way: `${JSON.stringify(value)}, no ${type}`, value };
  yield* wrongScalars(schema);
  if (schema.type === 'array') yield* wrongLists(schema);
  if (schema.type === 'object') yield* wrongObjects(schema);
}

function* wrongScalars({
  enum: choices,
  minimum,
  maximum,
  minLength,
  maxLength,
  pattern,
}: OpenApiSchema): Iterable<Wrong> {
  if (choices !== undefined) yield { way: 'none of the choices', value: 'neither' };
  if (minimum !== undefined) yield { way: 'too small', value: minimum - 1 };
  if (maximum !== undefined) yield { way: 'too big', value: maximum + 1 };
  if (minLength !== undefined) yield { way: 'too short', value: 'a'.repeat(minLength - 1) };
  if (maxLength !== undefined) yield { way: 'too long', value: 'a'.repeat(maxLength + 1) };
  if (pattern !== undefined) yield { way: 'against its pattern', value: textAgainst(pattern) };
}

function* wrongLists(schema: OpenApiSchema): Iterable<Wrong> {
  const { items = {}, minItems = 0, maxItems } = schema;
  const item = rightValue(items);
  // Elsewhere a null is as good as nothing: it is dropped.
  yield { way: 'null', value: [null], below: '[0]' };
  if (minItems > 0) yield { way: 'too few items', value: [] };
  if (maxItems !== undefined) yield { way: 'too many items', value: Array.from({ length: maxItems + 1 }, () => item) };
  if (schema['x-kubernetes-list-type'] !== 'atomic') yield { way: 'an item twice', value: [item, item], below: '[1]' };
}

function* wrongObjects(schema: OpenApiSchema): Iterable<Wrong> {
  const { additionalProperties, maxProperties, properties } = schema;
  if (additionalProperties !== undefined && maxProperties !== undefined) {
    const names = Array.from({ length: maxProperties + 1 }, (_, i) => [`a${i}`, rightValue(additionalProperties)]);
    yield { way: 'too many names', value: Object.fromEntries(names) };
  }
  if (properties === undefined) return;
  const right = requiredFields(schema);
  for (const name of Object.keys(right)) {
    yield {
      way: 'left out',
      value: Object.fromEntries(Object.entries(right).filter(([each]) => each !== name)),
      below: `.${name}`,
    };
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] !== true) {
    yield { way: 'unknown', value: { ...right, unheardOf: 1 }, below: '.unheardOf' };
  }
}

function requiredFields(schema: OpenApiSchema): Record<string, unknown> {
  const { properties = {} } = schema;
  return Object.fromEntries(neededFields(schema).map((name) => [name, rightValue(properties[name] ?? {})]));
}

const texts = [
  'a',
  '1',
  '1Gi',
  'a.b',
  'a:1',
  'physnet1',
  '10.0.0.1',
  '10.0.0.0/8',
  '10.0.0.1:1',
  'ssl:a:1',
  'a@b',
  'https://a.b/c',
  'http://a:1',
  '/a',
  '01234567-89ab-cdef-0123-456789abcdef',
  'CUSTOM_A',
];

/** What next to no pattern matches; that of a relative path refuses no more than a text which begins with a slash. */
const wrongTexts = ['~ no ~', '/~ no ~', '@~ no ~', 'no\nno'];

function textAgainst(pattern: string): string {
  const text = wrongTexts.find((one) => !new RegExp(pattern).test(one));
  if (text === undefined)
    throw new Error(`every text of this list matches ${pattern}; add one: ${wrongTexts.join(' ')}`);
  return text;
}

/** The smallest value that a schema takes. */
function rightValue(schema: OpenApiSchema): unknown {
  const { type, enum: choices, minimum = 0, minItems = 0, items = {}, pattern } = schema;
  if (choices !== undefined) return choices[0];
  if (type === 'object') return requiredFields(schema);
  if (type === 'array') return Array.from({ length: minItems }, () => rightValue(items));
  if (type === 'boolean') return true;
  if (type === 'integer' || type === 'number') return minimum;
  if (schema['x-kubernetes-validations']?.some((one) => one.rule === 'isIP(self)')) return '10.0.0.1';
  const text = texts.find((one) => pattern === undefined || new RegExp(pattern).test(one));
  if (text === undefined) throw new Error(`no text of this list matches ${pattern}; add one: ${texts.join(' ')}`);
  return text;
}

/** A name that the map's rule about its names allows (`map` in schema.ts). */
function allowedName(schema: OpenApiSchema): string {
  const rules = schema['x-kubernetes-validations'] ?? [];
  const names = rules.flatMap(({ rule }) => /key in \["([^"]+)"/.exec(rule)?.[1] ?? []);
  return names[0] ?? 'a';
}
