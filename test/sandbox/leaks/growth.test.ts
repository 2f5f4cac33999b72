import { expect, test } from 'vitest';
import { growth } from './growth.ts';

/** Forty looks at a heap and a resident memory, 2,500 reconciles apart. */
const seen = (bytes: (passes: number, index: number) => number) =>
  Array.from({ length: 40 }, (_, index) => {
    const passes = 2500 * (index + 1);
    const memory = 300e6 + bytes(passes, index);
    return { passes, objects: passes, heap: 50e6, rss: memory };
  });

test('what goes on growing is told', () => {
  expect(growth(seen((passes) => 400 * passes))).toEqual([
    'rss grows by 400.0 ± 0.0 bytes a reconcile; 100 are allowed',
  ]);
  expect(growth(seen((passes, index) => 400 * passes + (index % 2) * 1e6))).toHaveLength(1);
  expect(growth(seen((passes) => 400 * passes).slice(-5))).toHaveLength(1);
});

test('what grows less than its bound, once, or by chance is not', () => {
  expect(growth(seen((passes) => 90 * passes))).toEqual([]);
  for (const at of [5, 18, 30]) expect(growth(seen((_, index) => (index < at ? 0 : 22 * 2 ** 20)))).toEqual([]);
  expect(growth(seen((_, index) => (index % 3) * 5e6))).toEqual([]);
  expect(growth(seen((passes) => 400 * passes).slice(0, 15))).toEqual([]);
});
