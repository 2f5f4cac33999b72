import { expect, test } from 'vitest';
import { bytesOf } from './quantity.ts';

test.each([
  ['512Mi', 536870912],
  ['1.5Gi', 1610612736],
  ['2G', 2000000000],
  ['100k', 100000],
  [1024, 1024],
  ['1e9', 1000000000],
  ['512m', 0],
  ['lots', undefined],
])('%s is %s bytes', (quantity, bytes) => {
  expect(bytesOf(quantity)).toBe(bytes);
});
