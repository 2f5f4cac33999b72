import { integer, list, object, rule, text } from './schemas.ts';

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
  sign: about(short, 'sign(quantity(self)) == 1', ['1', '0', '-1']),
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

const a = { name: 'a', size: 2 };
const b = { name: 'b', size: 1 };
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
    from: [a, b],
    to: [[b, a], [{ name: 'a', size: 1 }], [{ name: 'c', size: 0 }]],
  },
  sameset: {
    schema: limited(names, 'self == oldSelf'),
    from: [a, b],
    to: [[b, a], [{ name: 'a', size: 2 }]],
  },
};
