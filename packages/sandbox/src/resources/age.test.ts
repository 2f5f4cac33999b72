import { expect, test } from 'vitest';
import { age, humanDuration } from './age.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

test.each([
  [-5000, '<invalid>'],
  [-500, '0s'],
  [0, '0s'],
  [119_999, '119s'],
  [2 * minute, '2m'],
  [2 * minute + 5000, '2m5s'],
  [11 * minute, '11m'],
  [3 * hour + 20 * minute, '3h20m'],
  [47 * hour, '47h'],
  [3 * day + 5 * hour, '3d5h'],
  [20 * day, '20d'],
  [800 * day, '2y70d'],
  [4000 * day, '10y'],
])('%i ms are %s', (milliseconds, text) => {
  expect(humanDuration(milliseconds)).toBe(text);
});

test('a time that is not there is unknown', () => {
  expect([age(undefined, 0), age('x', 0), age('1970-01-01T00:00:00Z', 5000)]).toEqual(['<unknown>', '<invalid>', '5s']);
});
