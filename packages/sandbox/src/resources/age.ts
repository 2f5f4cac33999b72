import { parseTimestamp } from '@openstack-operator/kube';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** A span of time in milliseconds as kubectl shows it: `5s`, `2m30s`, `3h`, `2d4h`, `3y50d` (duration.HumanDuration). */
export function humanDuration(milliseconds: number): string {
  if (milliseconds <= -2 * SECOND) return '<invalid>';
  if (milliseconds < 0) return '0s';
  const count = (unit: number) => Math.floor(milliseconds / unit);
  const two = (high: number, low: number, highName: string, lowName: string) => {
    const rest = Math.floor((milliseconds % high) / low);
    return rest === 0 ? `${count(high)}${highName}` : `${count(high)}${highName}${rest}${lowName}`;
  };
  if (milliseconds < 2 * MINUTE) return `${count(SECOND)}s`;
  if (milliseconds < 10 * MINUTE) return two(MINUTE, SECOND, 'm', 's');
  if (milliseconds < 3 * HOUR) return `${count(MINUTE)}m`;
  if (milliseconds < 8 * HOUR) return two(HOUR, MINUTE, 'h', 'm');
  if (milliseconds < 2 * DAY) return `${count(HOUR)}h`;
  if (milliseconds < 8 * DAY) return two(DAY, HOUR, 'd', 'h');
  if (milliseconds < 2 * YEAR) return `${count(DAY)}d`;
  if (milliseconds < 8 * YEAR) return two(YEAR, DAY, 'y', 'd');
  return `${count(YEAR)}y`;
}

/** How long ago an RFC 3339 time was, `<unknown>` when there is none (ConvertToHumanReadableDateType). */
export function age(time: unknown, now: number): string {
  if (typeof time !== 'string' || time === '') return '<unknown>';
  const then = parseTimestamp(time);
  return Number.isNaN(then) ? '<invalid>' : humanDuration(now - then);
}
