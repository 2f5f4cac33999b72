import { realClock, timestamp } from '@openstack-operator/kube';
import { type CronSchedule, parseCronSchedule } from '../resources/cron.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A schedule that does not strike within eight years (29 February across 2100) never does. */
const MOST_STEPS = 8 * 366 + 24 + 60;

interface LocalTime {
  readonly minute: number;
  readonly hour: number;
  readonly day: number;
  readonly month: number;
  readonly weekday: number;
}

/**
 * When a schedule strikes next after a time, both in milliseconds since the epoch; undefined when it never does.
 * `timeZone` is an IANA name (default UTC); a `TZ=` in the schedule itself has to be given there.
 */
export function nextScheduleTime(schedule: string, after: number, timeZone = 'UTC'): number | undefined {
  const parsed = parseCronSchedule(schedule);
  const [minutes, hours] = parsed.fields;
  const localTime = localTimes(timeZone);
  let time = (Math.floor(after / MINUTE_MS) + 1) * MINUTE_MS;
  for (let step = 0; step < MOST_STEPS; step++) {
    const local = localTime(time);
    if (!dayMatches(parsed, local)) time += (24 * 60 - local.hour * 60 - local.minute) * MINUTE_MS;
    else if (!hours?.has(local.hour)) time += (60 - local.minute) * MINUTE_MS;
    else if (!minutes?.has(local.minute)) time += MINUTE_MS;
    else return time;
  }
  return undefined;
}

function dayMatches({ fields, eitherDay }: CronSchedule, { day, month, weekday }: LocalTime): boolean {
  const [, , days, months, weekdays] = fields;
  if (!months?.has(month)) return false;
  const byDay = days?.has(day) === true;
  const byWeekday = weekdays?.has(weekday) === true;
  return eitherDay ? byDay || byWeekday : byDay && byWeekday;
}

function localTimes(timeZone: string): (time: number) => LocalTime {
  const fromWallClock = (text: string): LocalTime => {
    const [, year, month, day, hour, minute] = (/^(\d+)-(\d+)-(\d+)[T ](\d+):(\d+)/.exec(text) ?? []).map(Number);
    const midnight = parseDay(year ?? 0, month ?? 0, day ?? 0);
    return {
      minute: minute ?? 0,
      hour: hour ?? 0,
      day: day ?? 0,
      month: month ?? 0,
      weekday: (midnight / DAY_MS + 4) % 7,
    };
  };
  if (timeZone === 'UTC') return (time) => fromWallClock(timestamp({ ...realClock, now: () => time }));
  // Swedish dates are ISO dates.
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  return (time) => fromWallClock(format.format(time));
}

/** Milliseconds since the epoch of a day's beginning, from the count of days in the proleptic Gregorian calendar. */
function parseDay(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return (era * 146_097 + dayOfEra - 719_468) * DAY_MS;
}
