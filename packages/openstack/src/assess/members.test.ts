import { expect, test } from 'vitest';
import { advanceMembers } from './members.ts';

const [a, b, c] = ['db-0', 'db-1', 'db-2'];
const formed = { size: 3, wasSingle: false, isDone: false, ready: [] as string[] };

test('a new quorum counts its members before they have data', () => {
  expect(advanceMembers({}, formed)).toEqual({ size: 3 });
});

test('one server is the first member once it runs as such', () => {
  const growing = { ...formed, size: 1, wasSingle: true };
  expect(advanceMembers({}, { ...growing, ready: [a] })).toEqual({ primary: a });
  expect(advanceMembers({ primary: a }, { ...growing, isDone: true, ready: [a] })).toEqual({ size: 1, primary: a });
  expect(advanceMembers({ size: 1, primary: a }, { ...formed, wasSingle: true, ready: [a] })).toEqual({
    size: 3,
    primary: a,
  });
});

test('it never has fewer, nor none when it is stopped', () => {
  expect(advanceMembers({ size: 5, primary: a }, { ...formed, ready: [a] }).size).toBe(5);
  expect(advanceMembers({ size: 3, primary: b }, { ...formed, size: 0 })).toEqual({ size: 3, primary: b });
});

test.each([
  [undefined, [a, b], a],
  [b, [a, b, c], b],
  [b, [a, c], a],
  [a, [b, c], b],
  [a, [], a],
])('of %s clients come to one of %j: %s', (primary, ready, next) => {
  const before = { size: 3, ...(primary === undefined ? {} : { primary }) };
  expect(advanceMembers(before, { ...formed, ready }).primary).toBe(next);
});
