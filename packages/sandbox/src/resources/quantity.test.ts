import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalQuantity, compareQuantities, parseQuantity, quantityValue } from './quantity.ts';

test.each([
  ['0', '0'],
  ['1000m', '1'],
  ['0.5', '500m'],
  ['1024Mi', '1Gi'],
  ['1500Mi', '1500Mi'],
  ['0.5Ki', '512'],
  ['1.5Gi', '1536Mi'],
  ['1e3', '1e3'],
  ['1E', '1E'],
  ['12000', '12k'],
  ['-1.5', '-1500m'],
  ['0.0000000001', '1n'],
  ['.5', '500m'],
  ['1.', '1'],
])('%s is written as %s', (text, canonical) => {
  expect(canonicalQuantity(text)).toBe(canonical);
});

test.each(['', 'x', '1x', '1 Gi', '--1', '1Gi1', '1ee3'])('%j is no quantity', (text) => {
  expect(() => parseQuantity(text)).toThrow(/quantit/);
});

test('a whole number is rounded up', () => {
  expect([quantityValue('1500m'), quantityValue('1Ki'), quantityValue('-1500m')]).toEqual([2, 1024, -1]);
});

const suffix = fc.constantFrom('', 'm', 'k', 'M', 'Ki', 'Mi', 'Gi', 'e3');
const quantity = fc.tuple(fc.integer({ min: -1_000_000, max: 1_000_000 }), suffix).map(([n, unit]) => `${n}${unit}`);

test('the canonical text is canonical and means the same', () => {
  fc.assert(
    fc.property(quantity, (text) => {
      const canonical = canonicalQuantity(text);
      expect(canonicalQuantity(canonical)).toBe(canonical);
      expect(compareQuantities(text, canonical)).toBe(0);
    }),
  );
});

test('quantities are ordered', () => {
  fc.assert(
    fc.property(quantity, quantity, (a, b) => {
      expect(compareQuantities(a, b)).toBe(-compareQuantities(b, a) + 0);
    }),
  );
});
