import { parseTimestamp } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { nextScheduleTime } from './cron.ts';

test.each([
  ['*/15 * * * *', '2026-01-01T00:07:30Z', '2026-01-01T00:15:00Z'],
  ['0 3 * * *', '2026-01-31T03:00:00Z', '2026-02-01T03:00:00Z'],
  ['30 4 29 2 *', '2026-01-01T00:00:00Z', '2028-02-29T04:30:00Z'],
  ['0 0 * * sun', '2026-01-01T00:00:00Z', '2026-01-04T00:00:00Z'],
  ['0 0 13 * fri', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'],
  ['@hourly', '2026-12-31T23:30:00Z', '2027-01-01T00:00:00Z'],
])('%s after %s strikes at %s', (schedule, after, expected) => {
  expect(nextScheduleTime(schedule, parseTimestamp(after))).toBe(parseTimestamp(expected));
});

test('a schedule keeps to its time zone through the change to summer time', () => {
  const next = (after: string) => nextScheduleTime('0 8 * * *', parseTimestamp(after), 'Europe/Berlin');
  expect(next('2026-03-28T00:00:00Z')).toBe(parseTimestamp('2026-03-28T07:00:00Z'));
  expect(next('2026-03-29T00:00:00Z')).toBe(parseTimestamp('2026-03-29T06:00:00Z'));
});

test('a day that never comes is undefined', () => {
  expect(nextScheduleTime('0 0 31 2 *', 0)).toBeUndefined();
});
