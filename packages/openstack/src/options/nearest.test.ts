import { expect, test } from 'vitest';
import { nearest } from './nearest.ts';

test.each([
  ['replcas', ['replicas', 'resources'], 'replicas'],
  ['storgae', ['storage', 'stage'], 'storage'],
  ['Xyzzy', ['replicas', 'image'], undefined],
  ['', [], undefined],
])('nearest to %j', (word, known, expected) => {
  expect(nearest(word, known)).toBe(expected);
});
