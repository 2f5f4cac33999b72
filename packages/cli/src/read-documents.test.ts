import { expect, test } from 'vitest';
import { readDocuments } from './read-documents.ts';

const values = (text: string) => readDocuments(text, 'cloud.yaml').map(({ value }) => value);
const spec = (text: string) => values(`a: 1\nspec: ${text}`).map((value) => (value as { spec: unknown }).spec)[0];

test.each([
  [
    'booleans of YAML 1.1',
    '{a: yes, b: Off, c: y, d: "yes", e: on}',
    { a: true, b: false, c: true, d: 'yes', e: true },
  ],
  [
    'numbers',
    '{a: 010, b: 0o10, c: 1_000, d: 0x1F, e: 0b11, f: 1e3, g: 08, h: -3, i: .5, j: 1e400}',
    {
      a: 8,
      b: 8,
      c: 1000,
      d: 31,
      e: 3,
      f: 1000,
      g: 8,
      h: -3,
      i: 0.5,
      j: '1e400',
    },
  ],
  ['what is no number', '{a: 1:20, b: 2001-01-01, c: ., d: 1.2.3}', { a: '1:20', b: '2001-01-01', c: '.', d: '1.2.3' }],
  ['nulls', '{a: ~, b: , c: null, d: ""}', { a: null, b: null, c: null, d: '' }],
  [
    'tags',
    '{a: !!binary aGVsbG8=, b: !!str 12, c: !!int "3", d: !own x, e: !!float 3}',
    {
      a: 'hello',
      b: '12',
      c: 3,
      d: 'x',
      e: 3,
    },
  ],
  ['keys', '{1: a, 1.50: b, 0x10: c, y: d}', { 1: 'a', 1.5: 'b', 16: 'c', true: 'd' }],
  ['a merge', '{p: &x {a: 1, b: 2}, q: {<<: *x, b: 3}}', { p: { a: 1, b: 2 }, q: { a: 1, b: 3 } }],
  ['a merge after a key', '{p: &x {a: 1}, q: {a: 5, <<: *x}}', { p: { a: 1 }, q: { a: 1 } }],
  [
    'merges',
    '{p: &x {a: 1}, q: &y {a: 2, b: 2}, z: {<<: [*x, *y]}}',
    {
      p: { a: 1 },
      q: { a: 2, b: 2 },
      z: { a: 1, b: 2 },
    },
  ],
  ['a merge key in quotes', '{"<<": {a: 1}}', { '<<': { a: 1 } }],
  ['an anchor that is given again', '{a: &a 1, b: &a 2, c: *a}', { a: 1, b: 2, c: 2 }],
])('%s: as kubectl 1.32 reads it', (_what, text, value) => {
  expect(spec(text)).toEqual(value);
});

test('JSON, with tabs', () => {
  expect(values('{\n\t"a": [\n\t\t1\n\t]\n}\n')).toEqual([{ a: [1] }]);
});

test('what aliases give are copies', () => {
  const { a, b } = spec('{a: &a {x: 1}, b: *a}') as { a: object; b: object };
  expect(b).toEqual(a);
  expect(b).not.toBe(a);
});

test('a key is only a key, whatever its name', () => {
  expect(Object.keys(spec('{__proto__: {a: 1}, constructor: 2}') as object)).toEqual(['__proto__', 'constructor']);
});

test('documents without anything are left out', () => {
  expect(values('---\n# nothing\n---\na: 1\n---\n---\nb: 2\n')).toEqual([{ a: 1 }, { b: 2 }]);
});

test.each([
  [
    'base64 that is none',
    '!!binary xx',
    'spec: !!binary is followed by "xx", which is not base64: remove !!binary, or encode it',
  ],
  ['an endless value', '&a [*a]', 'spec[0]: *a stands within &a itself, which never ends: write it out'],
  ['an anchor that there is not', '{a: *b}', 'spec.a: *b has no &b before it: name an anchor, or write the value'],
  [
    'a merge of what is no map',
    '{<<: 3}',
    'spec: << is followed by what is no map: give it a map, an alias of one, or a list of such',
  ],
  [
    'a key that stands twice',
    '{a: 1, a: 2}',
    'spec.a: this key stands twice, and kubectl would take the last silently: remove one of the two',
  ],
  ['a key that is a list', '{? [a] : 1}', 'spec: a key is a list or a map: expected a name'],
  ['a key that is null', '{null: 1}', 'spec: a key is empty or null: name it, in quotes if it is called so'],
  [
    'no number',
    '{a.b: .nan}',
    'spec["a.b"]: .nan is a number that JSON, and so Kubernetes, does not have: write it in quotes if it is a text',
  ],
  [
    'another type than its tag',
    '!!int x',
    'spec: "x" is not what its tag !!int says: remove the tag, or write such a value',
  ],
  [
    'great depth',
    `${'['.repeat(300)}${']'.repeat(300)}`,
    'lists and maps stand in one another more than 200 deep: no resource is; write it flatter',
  ],
  [
    'very great depth',
    `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
    'lists and maps stand in one another more than 200 deep: no resource is; write it flatter',
  ],
])('%s is refused, with document, line and field', (_what, text, message) => {
  expect(() => values(`a: 1\n---\nb: 1\nspec: ${text}\n`)).toThrow(`cloud.yaml: document 2, line 4: ${message}`);
});

test('aliases that multiply are refused before they fill the memory', () => {
  const lines = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(', ')}]`);
  expect(() => values(`a0: &a0 [x, x, x]\n${lines.join('\n')}`)).toThrow(/aliases of aliases multiply/);
});

test('the directive that kubectl refuses is refused', () => {
  expect(() => values('%YAML 1.2\n---\na: 1')).toThrow(
    'cloud.yaml: line 1: kubectl reads YAML 1.1 only, and refuses the directive %YAML 1.2: remove it',
  );
});

test('bad syntax is shown', () => {
  expect(() => values('a: 1\nspec:\n\tb: 1\n')).toThrow(
    'cloud.yaml: line 3: Tabs are not allowed as indentation:\n\nspec:\n\tb: 1\n^',
  );
});
