import { CustomResourceDefinition, type KubeObject } from '@openstack-operator/kube';
import { integer, list, object, rule, text } from './schemas.ts';
import { type TestServer, uniqueName } from './server.ts';

/** A CustomResourceDefinition of one version, with this schema of its `spec`. */
export function definition(name: string, spec: object, version: object = {}): KubeObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${name}s.conformance.example.com` },
    spec: {
      group: 'conformance.example.com',
      scope: 'Namespaced',
      names: { plural: `${name}s`, kind: `${name[0]?.toUpperCase()}${name.slice(1)}` },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
          ...version,
        },
      ],
    },
  };
}

/**
 * Makes a kind and waits until it is served; gives its path, and its name. A real server's caches of it begin now, while of
 * the kinds that it always had it forgets nothing for minutes.
 */
export async function newKind(server: TestServer): Promise<{ path: (namespace?: string) => string; kind: string }> {
  const singular = uniqueName('kind').replace('-', '');
  const stated = definition(singular, { type: 'object' }) as CustomResourceDefinition;
  const { spec } = await server.client.create(CustomResourceDefinition, stated);
  const path = (namespace?: string) =>
    `/apis/conformance.example.com/v1/${namespace === undefined ? '' : `namespaces/${namespace}/`}${spec.names.plural}`;
  for (let tries = 0; tries < 5000; tries += 1) {
    if ((await server.request('GET', path())).status === 200) return { path, kind: spec.names.kind };
  }
  throw new Error(`${path()} is not served`);
}

const root = (schema: object) => ({ schema: { openAPIV3Schema: schema } });

/** Definitions that are refused: [schema of the spec, other fields of the version]. */
export const wrongDefinitions: Readonly<Record<string, readonly [spec: object, version?: object]>> = {
  'no type': [{ properties: { a: { description: 'x' } } }],
  'an array without items': [object({ a: { type: 'array' } })],
  'an item without type': [object({ a: { type: 'array', items: {} } })],
  'an unknown type': [object({ a: { type: 'text' } })],
  'a root that is no object': [text, root({ type: 'array', items: text })],
  'a root without type': [text, root({ properties: { spec: text } })],
  'a root with additional properties': [text, root({ type: 'object', additionalProperties: text })],
  'no schema': [text, { schema: null }],
  'metadata with more than names': [text, root(object({ metadata: object({ labels: { type: 'object' } }) }))],
  'properties and additional properties': [object({ a: text }, { additionalProperties: text })],
  'a type within anyOf': [
    object({ a: { type: 'string', anyOf: [{ type: 'string' }, { default: 'x', description: 'y' }] } }),
  ],
  'a property that only allOf knows': [object({ a: text }, { allOf: [{ properties: { b: { minLength: 1 } } }] })],
  'an int-or-string that preserves': [
    object({ a: { 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true } }),
  ],
  'an embedded resource without content': [object({ a: { type: 'object', 'x-kubernetes-embedded-resource': true } })],
  'preserve that is false': [object({ a: { type: 'object', 'x-kubernetes-preserve-unknown-fields': false } })],
  'unique items': [object({ a: { type: 'array', items: text, uniqueItems: true } })],
  'a bad pattern': [object({ a: { type: 'string', pattern: '(' } })],
  'a default of the wrong type': [object({ a: { type: 'integer', default: 'x' } })],
  'a default out of bounds': [object({ a: { type: 'integer', default: 0, minimum: 1 } })],
  'a default with unknown fields': [object({ a: object({ b: text }, { default: { c: 1 } }) })],
  'a default that breaks its rule': [object({ a: { ...integer, default: 1, ...rule('self > 1') } })],
  'a list type of no list': [object({ a: { type: 'object', 'x-kubernetes-list-type': 'set' } })],
  'a list type that is unknown': [object({ a: { type: 'array', items: text, 'x-kubernetes-list-type': 'bag' } })],
  'a map list without keys': [
    object({ a: { type: 'array', items: object({ b: text }), 'x-kubernetes-list-type': 'map' } }),
  ],
  'a map list with optional keys': [
    object({
      a: {
        type: 'array',
        items: object({ b: text }),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['b', 'c'],
      },
    }),
  ],
  'keys of no map list': [
    object({ a: { type: 'array', items: object({ b: text }), 'x-kubernetes-list-map-keys': ['b'] } }),
  ],
  'a set of objects': [object({ a: { type: 'array', items: object({ b: text }), 'x-kubernetes-list-type': 'set' } })],
  'a set of nulls': [
    object({ a: { type: 'array', items: { ...text, nullable: true }, 'x-kubernetes-list-type': 'set' } }),
  ],
  'an empty rule': [object({ a: { ...text, ...rule(' ') } })],
  'a rule of several lines': [object({ a: { ...text, ...rule("self == 'a'\n|| true") } })],
  'a message of several lines': [object({ a: { ...text, ...rule('true', { message: 'a\nb' }) } })],
  'a reason that is unknown': [object({ a: { ...text, ...rule('true', { reason: 'Because' }) } })],
  'a field path that leads nowhere': [object({ a: text }, rule('true', { fieldPath: '.b' }))],
  'oldSelf in an atomic list': [
    object({ a: { type: 'array', maxItems: 3, items: { ...text, maxLength: 3, ...rule('self == oldSelf') } } }),
  ],
  'optionalOldSelf without oldSelf': [object({ a: { ...text, ...rule('true', { optionalOldSelf: true }) } })],
  'a rule that gives no bool': [object({ a: { ...integer, maximum: 3, ...rule('self + 1') } })],
  'a message expression that gives no text': [object({ a: { ...text, ...rule('true', { messageExpression: '1' }) } })],
  'a version in upper case': [text, { name: 'V1' }],
  'a column without path': [text, { additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '' }] }],
  'columns that are wrong': [
    text,
    { additionalPrinterColumns: [{ name: '', type: 'text', format: 'x', jsonPath: 'spec' }] },
  ],
  'scale that is elsewhere': [
    object({ replicas: integer }),
    { subresources: { scale: { specReplicasPath: '.replicas', statusReplicasPath: 'status.replicas' } } },
  ],
  'a selectable field that is none': [
    object({ a: { type: 'object' } }),
    { selectableFields: [{ jsonPath: '.spec.a' }, { jsonPath: '.spec.b' }, { jsonPath: '.metadata.name' }] },
  ],
};

/** Rules that do not compile; the compiler's own words are not compared, but the place that they name is. */
export const uncompilable: Readonly<Record<string, string>> = {
  'an unknown field': 'self.foo == 1',
  'an unknown variable': 'that.a == 1',
  'an unknown function': 'self.a.shout() == "A"',
  'a type mismatch': 'self.a > 1',
  'bad syntax': 'self.a ==',
};

/** Fields, each with one thing that a schema can demand. */
export const keywords = {
  minimum: { ...integer, minimum: 1, maximum: 5 },
  exclusive: { type: 'number', minimum: 1, exclusiveMinimum: true, maximum: 5, exclusiveMaximum: true },
  multiple: { ...integer, multipleOf: 3 },
  int32: { ...integer, format: 'int32' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  length: { ...text, minLength: 2, maxLength: 3 },
  pattern: { ...text, pattern: '^[a-z]+$' },
  flagged: { ...text, pattern: '(?i)^[[:alpha:]]+$' },
  enum: { ...text, enum: ['a', 'b'] },
  numbers: { ...integer, enum: [1, 2] },
  items: list(integer, { minItems: 1, maxItems: 2 }),
  entries: { type: 'object', additionalProperties: { ...integer, minimum: 0 }, maxProperties: 1, minProperties: 1 },
  set: list(text, { 'x-kubernetes-list-type': 'set' }),
  map: list(object({ name: text, port: { ...integer, default: 80 } }, { required: ['name'] }), {
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name', 'port'],
  }),
  either: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
  quantity: { 'x-kubernetes-int-or-string': true, pattern: '^[0-9]+(Ki|Mi|Gi)?$' },
  nullable: { ...text, nullable: true },
  required: object({ a: text, b: text }, { required: ['a', 'b'] }),
  one: object({ a: text, b: text }, { oneOf: [{ required: ['a'] }, { required: ['b'] }] }),
  any: object({ a: text, b: text }, { anyOf: [{ required: ['a'] }, { required: ['b'] }] }),
  not: object({ a: text }, { not: { required: ['a'] } }),
  all: { ...text, allOf: [{ minLength: 2 }, { pattern: '^a' }] },
  preserved: {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    properties: { known: object({ a: text }) },
  },
  embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
  defaulted: object({ a: { ...text, default: 'x' }, b: object({ c: { ...integer, default: 1 } }, { default: {} }) }),
  datetime: { ...text, format: 'date-time' },
  date: { ...text, format: 'date' },
  byte: { ...text, format: 'byte' },
  duration: { ...text, format: 'duration' },
  ipv4: { ...text, format: 'ipv4' },
  ipv6: { ...text, format: 'ipv6' },
  cidr: { ...text, format: 'cidr' },
  hostname: { ...text, format: 'hostname' },
  uuid: { ...text, format: 'uuid' },
  uri: { ...text, format: 'uri' },
  email: { ...text, format: 'email' },
  mac: { ...text, format: 'mac' },
  unknown: { ...text, format: 'no-such-format' },
} as const;

/** Values of those fields, right and wrong. */
export const values: Readonly<Record<keyof typeof keywords, readonly unknown[]>> = {
  minimum: [1, 5, 0, 6, 'x', 1.5, null, true],
  exclusive: [1.5, 1, 5],
  multiple: [6, 7],
  int32: [1, 2147483648],
  number: [1, 1.5, '1'],
  boolean: [true, 'true', 0],
  length: ['ab', 'a', 'abcd', 'äöü'],
  pattern: ['a', 'A1'],
  flagged: ['A', '1'],
  enum: ['a', 'c', null],
  numbers: [1, 3],
  items: [[1], [], [1, 2, 3], ['a'], {}],
  entries: [{ a: 1 }, {}, { a: -1 }, { a: 1, b: 2 }, [1]],
  set: [
    ['a', 'b'],
    ['a', 'a', 'a'],
  ],
  map: [[{ name: 'a' }], [{ name: 'a' }, { name: 'a', port: 80 }], [{ name: 'a' }, { name: 'a', port: 81 }], [{}]],
  either: [1, 'a', true, 1.5],
  quantity: ['1Gi', 5, 'x'],
  nullable: [null, 'a'],
  required: [{ a: 'x', b: 'y' }, {}],
  one: [{ a: 'x' }, {}, { a: 'x', b: 'y' }],
  any: [{ a: 'x', b: 'y' }, {}],
  not: [{}, { a: 'x' }],
  all: ['ab', 'b'],
  preserved: [{ other: { x: 1 }, known: { a: 'x', b: 'y' } }],
  embedded: [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'A/', odd: 1 }, spec: 1 }, { kind: 'x' }],
  defaulted: [{}, { a: null }, { b: { c: null } }, { b: null }],
  datetime: ['2026-01-01T00:00:00Z', '2026-01-01', '2026-13-01T00:00:00Z'],
  date: ['2026-02-28', '2026-02-30'],
  byte: ['YQ==', 'a'],
  duration: ['1h', '1 day', 'x'],
  ipv4: ['10.0.0.1', '::1', 'x'],
  ipv6: ['::1', '10.0.0.1'],
  cidr: ['10.0.0.0/8', '10.0.0.0'],
  hostname: ['a.example.com', 'a_b'],
  uuid: ['11111111-1111-1111-1111-111111111111', 'x'],
  uri: ['https://example.com/a', 'a b'],
  email: ['a@example.com', 'a'],
  mac: ['00:00:5e:00:53:01', 'x'],
  unknown: ['anything'],
};
