import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { layered } from './layers.ts';

const name = fc.constantFrom('a', 'b', 'c');
const layer = fc.dictionary(
  name,
  fc.dictionary(name, fc.oneof(fc.integer(), fc.constant(null), fc.constant(['x', 'y']))),
);

test('layers may be laid down in groups, as long as nothing is taken away', () => {
  const full = fc.dictionary(name, fc.dictionary(name, fc.integer(), { minKeys: 1 }));
  fc.assert(
    fc.property(full, full, full, (a, b, c) => {
      expect(layered(layered(a, b), c)).toEqual(layered(a, b, c));
      expect(layered(a, layered(b, c))).toEqual(layered(a, b, c));
    }),
  );
});

test('the last layer that speaks of an option decides', () => {
  fc.assert(
    fc.property(layer, layer, (under, over) => {
      const result = layered(under, over);
      for (const section of ['a', 'b', 'c']) {
        for (const option of ['a', 'b', 'c']) {
          const said = over[section]?.[option] === undefined ? under[section]?.[option] : over[section]?.[option];
          expect(result[section]?.[option]).toEqual(said ?? undefined);
        }
      }
    }),
  );
});

test('null takes an option away, lists are replaced as a whole, empty sections vanish', () => {
  expect(layered({ a: { x: ['1', '2'], y: 1 }, b: { z: 1 } }, { a: { x: ['3'] }, b: { z: null } })).toEqual({
    a: { x: ['3'], y: 1 },
  });
});
