import type { KubeObject } from '@openstack-operator/kube';

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

const text = { type: 'string' };
const integer = { type: 'integer' };
const root = (schema: object) => ({ schema: { openAPIV3Schema: schema } });
const object = (properties: object, rest: object = {}) => ({ type: 'object', properties, ...rest });
const rule = (expression: string, rest: object = {}) => ({
  'x-kubernetes-validations': [{ rule: expression, ...rest }],
});

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

const list = (items: object, rest: object) => ({ type: 'array', items, ...rest });

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

const names = list(object({ name: { ...text, maxLength: 8 }, size: integer }, { required: ['name'] }), {
  maxItems: 4,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
});
const short = { ...text, maxLength: 64 };
const word = { ...text, maxLength: 8 };
const shorts = list(short, { maxItems: 10 });

/** A field, a rule about it, values to try. */
export interface RuleCase {
  readonly schema: object;
  readonly rule: object;
  readonly values: readonly unknown[];
}

const about = (schema: object, expression: string, values: readonly unknown[], rest: object = {}): RuleCase => ({
  schema,
  rule: { rule: expression, ...rest },
  values,
});

/** CEL rules as operators write them. */
export const rules: Readonly<Record<string, RuleCase>> = {
  compare: about(integer, 'self >= 3', [3, 2], { message: 'at least three' }),
  nomessage: about(integer, 'self % 2 == 0', [2, 3]),
  starts: about(short, "self.startsWith('a') && self.endsWith('z') && self.contains('b')", ['abz', 'a']),
  matches: about(short, "self.matches('^[a-z]+$')", ['a', 'A']),
  size: about(short, 'size(self) < 3', ['äö', 'abc']),
  expression: about(word, "self < 'm'", ['a', 'x'], { messageExpression: "'got ' + self + ', wanted less than m'" }),
  badexpression: about(short, 'self.size() < 3', ['abc'], {
    message: 'fallback',
    messageExpression: 'self.substring(5)',
  }),
  forbidden: about(integer, 'self < 5', [5], { reason: 'FieldValueForbidden', message: 'not that' }),
  required: about(object({ a: short }), 'has(self.a)', [{ a: 'x' }, {}], {
    reason: 'FieldValueRequired',
    fieldPath: '.a',
    message: 'a is needed',
  }),
  duplicate: about(short, "self != 'x'", ['x'], { reason: 'FieldValueDuplicate' }),
  either: about(object({ a: short, b: short }), 'has(self.a) != has(self.b)', [{ a: 'x' }, {}, { a: 'x', b: 'y' }]),
  optional: about(object({ a: object({ b: integer }) }), 'self.?a.b.orValue(7) == 7', [
    {},
    { a: { b: 7 } },
    { a: { b: 8 } },
  ]),
  nested: about(object({ min: integer, max: integer }), 'self.min <= self.max', [
    { min: 1, max: 2 },
    { min: 2, max: 1 },
    { min: 1 },
  ]),
  all: about(shorts, "self.all(x, x.startsWith('a'))", [['a'], ['a', 'b'], []]),
  exists: about(shorts, "self.exists(x, x == 'a') && self.exists_one(x, x == 'b')", [
    ['a', 'b'],
    ['a', 'b', 'b'],
  ]),
  mapfilter: about(shorts, "self.filter(x, x.size() > 1).map(x, x + '!').size() == 1", [['a', 'bb'], ['a']]),
  unique: about(names, 'self.all(x, self.exists_one(y, x.name == y.name))', [[{ name: 'a' }, { name: 'b' }]]),
  sum: about(list(integer, { maxItems: 5 }), 'self.sum() <= 10 && self.isSorted()', [
    [1, 2],
    [2, 1],
    [5, 6],
  ]),
  minmax: about(
    list(integer, { maxItems: 5 }),
    'self.min() >= 1 && self.size() < 5 && (self.size() == 0 || self.max() <= 3)',
    [[1, 3], [0], [4], []],
  ),
  sets: about(shorts, "sets.contains(['a', 'b'], self) && sets.intersects(self, ['a'])", [['a'], ['c'], ['b']]),
  keys: about(
    { type: 'object', maxProperties: 5, additionalProperties: integer },
    "self.all(k, k != 'x' && self[k] > 0)",
    [{ a: 1 }, { x: 1 }, { a: 0 }],
  ),
  in: about({ type: 'object', maxProperties: 5, additionalProperties: short }, "'a' in self && self['a'] == 'x'", [
    { a: 'x' },
    { b: 'x' },
  ]),
  quantity: about(short, "isQuantity(self) && quantity(self).isGreaterThan(quantity('1Gi'))", ['2Gi', '1Gi', 'x']),
  quantities: about(short, "quantity(self).add(quantity('1Gi')).compareTo(quantity('2Gi')) == 0", ['1024Mi', '1', 'x']),
  url: about(short, "isURL(self) && url(self).getScheme() == 'https' && url(self).getHostname() == 'a.b'", [
    'https://a.b:80/x',
    'http://a.b',
    'x',
  ]),
  ip: about(short, 'isIP(self) && ip(self).family() == 4 && !ip(self).isLoopback()', [
    '10.0.0.1',
    '127.0.0.1',
    '::1',
    'x',
  ]),
  cidr: about(short, "isCIDR(self) && cidr('10.0.0.0/8').containsCIDR(self)", ['10.1.0.0/16', '11.0.0.0/16', 'x']),
  format: about(short, '!format.dns1123Label().validate(self).hasValue()', ['a-b', 'A.b']),
  strings: about(word, "self.trim().lowerAscii() == 'a,b' && self.split(',').size() == 2", [' A,B ', 'a']),
  replace: about(short, "self.replace('a', 'b').indexOf('b') == 0 && self.substring(1).charAt(0) == 'x'", [
    'ax',
    'bb',
    '',
  ]),
  find: about(short, "self.find('[0-9]+') == '12' && self.findAll('[0-9]').size() == 2", ['a12', 'a1']),
  formatted: about(integer, "'%d-%s'.format([self, 'x']) == '3-x'", [3, 4]),
  duration: about({ ...text, format: 'duration' }, "self <= duration('1h') && self.getMinutes() >= 1", [
    '30m',
    '2h',
    '1s',
  ]),
  datetime: about(
    { ...text, format: 'date-time' },
    "self.getFullYear() >= 2026 && self > timestamp('2026-01-02T00:00:00Z')",
    ['2026-06-01T00:00:00Z', '2025-01-01T00:00:00Z'],
  ),
  bytes: about({ ...short, format: 'byte' }, 'self.size() == 1', ['YQ==', 'YWI=']),
  intorstring: about(
    { 'x-kubernetes-int-or-string': true, maxLength: 10 },
    "type(self) == int ? self < 5 : self.endsWith('%')",
    [4, 5, '5%', '5'],
  ),
  ternary: about(object({ on: { type: 'boolean' }, n: integer }), 'self.on ? has(self.n) : !has(self.n)', [
    { on: true, n: 1 },
    { on: true },
    { on: false },
  ]),
  escaped: about(
    object({ 'a-b': integer, namespace: short, 'x.y': integer }),
    'self.a__dash__b > 0 && has(self.__namespace__) && self.x__dot__y == 1',
    [
      { 'a-b': 1, namespace: 'n', 'x.y': 1 },
      { 'a-b': 0, namespace: 'n', 'x.y': 1 },
    ],
  ),
  divided: about(integer, '10 / self == 2', [5, 0]),
  bounds: about(shorts, "self[1] == 'b'", [['a', 'b'], ['a']]),
  nothing: about(object({ a: short }), "self.a == 'x'", [{ a: 'x' }, {}]),
  double: about({ type: 'number' }, 'self > 0.5 && self < 2.0', [1, 1.5, 2]),
  uncorrelated: about(names, 'self.all(x, !has(x.size) || x.size > 0)', [[{ name: 'a', size: 0 }], [{ name: 'a' }]]),
};

/** A stored value, a change of it. */
export interface Transition {
  readonly schema: object;
  readonly from: unknown;
  readonly to: readonly unknown[];
}

const limited = (schema: object, expression: string, rest: object = {}) => ({ ...schema, ...rule(expression, rest) });

/** What may become of a stored value: transition rules, and mistakes that are older than their rule. */
export const transitions: Readonly<Record<string, Transition>> = {
  immutable: {
    schema: limited(short, 'self == oldSelf', { message: 'is immutable' }),
    from: 'a',
    to: ['a', 'b', null],
  },
  growing: { schema: limited(integer, 'self >= oldSelf'), from: 3, to: [4, 2] },
  firstset: {
    schema: limited(short, '!oldSelf.hasValue() || oldSelf.value() == self', { optionalOldSelf: true }),
    from: null,
    to: ['a'],
  },
  appending: { schema: limited(shorts, 'oldSelf.all(x, x in self)'), from: ['a'], to: [['a', 'b'], ['b']] },
  items: {
    schema: list(
      limited(
        object({ name: text, size: integer }, { required: ['name'] }),
        '!has(oldSelf.size) || self.size >= oldSelf.size',
      ),
      {
        maxItems: 5,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      },
    ),
    from: [
      { name: 'a', size: 2 },
      { name: 'b', size: 1 },
    ],
    to: [
      [
        { name: 'b', size: 1 },
        { name: 'a', size: 2 },
      ],
      [{ name: 'a', size: 1 }],
      [{ name: 'c', size: 0 }],
    ],
  },
  sameset: {
    schema: limited(names, 'self == oldSelf'),
    from: [
      { name: 'a', size: 2 },
      { name: 'b', size: 1 },
    ],
    to: [
      [
        { name: 'b', size: 1 },
        { name: 'a', size: 2 },
      ],
      [{ name: 'a', size: 2 }],
    ],
  },
};
