import { expect, test } from 'vitest';
import { scheduleMistake } from './schedule-words.ts';

test.each([
  ['61 * * * *', 'minute 61 is above 59'],
  ['* 1-25 * * *', 'hour 25 is above 23'],
  ['* * 0 * *', 'day of the month 0 is below 1'],
  ['* * * 1,13 *', 'month 13 is above 12'],
  ['* * * * 7', 'day of the week 7 is above 6; Sunday is 0'],
  ['10-5 * * * *', 'minute 10-5 ends before it begins: write 5-10, or 10-59,0-5'],
  ['*/100 * * * *', 'the step of minute */100 has to be from 1 to 99'],
  ['* * * JAN *', 'month "JAN" has to be *, a number from 1 to 12, or a range such as 1-12'],
  ['1-2-3 * * * *', 'minute "1-2-3" has to be *, a number from 0 to 59, or a range such as 0-59'],
  ['30 2 * * 1-5', undefined],
  ['*/5,7 0-23/2 1 1 0', undefined],
  ['every night', undefined],
])('%s', (schedule, mistake) => {
  expect(scheduleMistake(schedule)).toBe(mistake);
});
