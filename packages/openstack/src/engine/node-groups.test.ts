import { expect, test } from 'vitest';
import { variants } from './node-groups.ts';

test('groups that are alike are one, and it has no suffix', () => {
  const value = { virtType: 'kvm', config: undefined };
  expect(
    variants([
      { name: 'a', value },
      { name: 'b', value: { config: undefined, virtType: 'kvm' } },
    ]),
  ).toEqual([{ value, suffix: '' }]);
});

test('a group that becomes different leaves the name of the others alone', () => {
  expect(
    variants([
      { name: 'a', value: 1 },
      { name: 'b', value: 2 },
      { name: 'c', value: 1 },
    ]),
  ).toEqual([
    { value: 1, suffix: '', groups: ['a', 'c'] },
    { value: 2, suffix: '-b', groups: ['b'] },
  ]);
});
