import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatLabelSelector, type LabelSelector, matchesFields, matchesLabels, SelectorError } from './selectors.ts';

const labels = { app: 'web', tier: 'front', 'example.org/zone': 'a' };

test.each([
  ['', true],
  ['app=web', true],
  ['app==web', true],
  ['app=db', false],
  ['app!=db', true],
  ['missing!=db', true],
  ['app in (db, web),tier', true],
  ['app in (db)', false],
  ['app notin (db,web)', false],
  ['missing notin (x)', true],
  ['example.org/zone=a', true],
  ['!app', false],
  ['!missing', true],
  ['toString', false],
  ['missing=', false],
])('"%s" selects: %s', (selector, expected) => {
  expect(matchesLabels(selector, labels)).toBe(expected);
});

test.each(['app=', 'app in ()'])('"%s" selects an empty value', (selector) => {
  expect(matchesLabels(selector, { app: '' })).toBe(true);
  expect(matchesLabels(selector, labels)).toBe(false);
});

test.each(['=x', 'a=b=c', 'a in b', 'a,,b', 'a > 1', '-a'])('"%s" is no selector, and the error quotes it', (text) => {
  expect(() => matchesLabels(text, labels)).toThrow(SelectorError);
  expect(() => matchesLabels(text, labels)).toThrow(`"${text}"`);
});

const word = fc.stringMatching(/^[a-z]{1,3}$/);
const selector: fc.Arbitrary<LabelSelector> = fc.record({
  matchLabels: fc.dictionary(word, word),
  matchExpressions: fc.array(
    fc.oneof(
      fc.record({ key: word, operator: fc.constantFrom('In', 'NotIn'), values: fc.array(word, { minLength: 1 }) }),
      fc.record({ key: word, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
    ),
  ),
});

test('a selector means the same as object and as text', () => {
  fc.assert(
    fc.property(selector, fc.dictionary(word, word), (selector, labels) => {
      expect(matchesLabels(formatLabelSelector(selector), labels)).toBe(matchesLabels(selector, labels));
    }),
  );
});

test.each([
  ['metadata.name=a', true],
  ['metadata.name==a,status.phase!=Failed', true],
  ['metadata.name!=a', false],
  ['status.phase=', false],
  ['spec.nodeName=', true],
  ['spec.unschedulable=true', true],
  ['metadata.namespace=x\\,y', true],
])('field selector %s: %s', (selector, expected) => {
  const object = {
    metadata: { name: 'a', namespace: 'x,y' },
    status: { phase: 'Running' },
    spec: { unschedulable: true },
  };
  expect(matchesFields(selector, object)).toBe(expected);
});
