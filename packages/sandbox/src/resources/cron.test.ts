import { expect, test } from 'vitest';
import { cronScheduleError, parseCronSchedule } from './cron.ts';

test('a schedule names its values', () => {
  const { fields, eitherDay } = parseCronSchedule('*/20 8-10/2 1,15 jan MON-wed');
  expect(fields.map((values) => [...values])).toEqual([[0, 20, 40], [8, 10], [1, 15], [1], [1, 2, 3]]);
  expect(eitherDay).toBe(true);
  expect(parseCronSchedule('@daily').eitherDay).toBe(false);
});

test.each([
  ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['@often', 'unrecognized descriptor: @often'],
])('%s is refused', (schedule, complaint) => {
  expect(cronScheduleError(schedule)).toBe(complaint);
});
