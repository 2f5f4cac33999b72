import { expect, test } from 'vitest';
import { type Names, namesIn } from './memberships.ts';

/** As whoever reads the list has them. */
const read = ({ begin, between, end }: Names) => between.split(' ').map((one) => `${begin}${one}${end}`);

test.each([
  [['one']],
  [['a', 'aa', 'aaa']],
  [['node-1.example.com', 'node-11.example.com']],
  [['x', 'y']],
  [['ab', 'b', 'abb']],
])('%j is read as it was', (names) => {
  expect(read(namesIn(names) as Names)).toEqual(names);
});

test('of no names there is no list; what all have in common is said once', () => {
  expect(namesIn([])).toBeUndefined();
  expect(namesIn(['node-1.example.com', 'node-23.example.com'])).toEqual({
    begin: 'node-',
    between: '1 23',
    end: '.example.com',
  });
});
