import type { Field } from './schema.ts';
import { textsAt } from './texts-at.ts';

/** A field of cron, with its bounds. */
interface CronField {
  readonly name: string;
  readonly first: number;
  readonly last: number;
}

const fields: readonly CronField[] = [
  { name: 'minute', first: 0, last: 59 },
  { name: 'hour', first: 0, last: 23 },
  { name: 'day of the month', first: 1, last: 31 },
  { name: 'month', first: 1, last: 12 },
  { name: 'day of the week', first: 0, last: 6 },
];

/** What is wrong with a schedule of a spec. `field`: its path, such as `spec.recordsAudit.schedule`. */
export interface ScheduleMistake {
  readonly field: string;
  readonly message: string;
}

/** What is wrong with the schedules of a spec. Which fields are schedules, its schema says (`scheduleOf`). */
export function scheduleMistakes({ schedules }: Pick<Field, 'schedules'>, spec: unknown): ScheduleMistake[] {
  return schedules
    .flatMap((place) => textsAt(spec, place))
    .flatMap(({ text, at }) => {
      const mistake = scheduleMistake(text);
      return mistake === undefined ? [] : [{ field: at, message: `${JSON.stringify(text)}: ${mistake}` }];
    });
}

/** What is wrong with a schedule of five fields, such as `minute 61 is above 59`; undefined where nothing is, or they are not five. */
export function scheduleMistake(schedule: string): string | undefined {
  const texts = schedule.split(' ');
  if (texts.length !== fields.length) return undefined;
  return fields
    .values()
    .flatMap((field, position) => (texts[position] ?? '').split(',').map((part) => partMistake(field, part)))
    .find((mistake) => mistake !== undefined);
}

function partMistake({ name, first, last }: CronField, part: string): string | undefined {
  const [range = '', step, ...more] = part.split('/');
  if (more.length > 0) return `${name} ${part} has more than one step`;
  if (step !== undefined && !/^[1-9][0-9]?$/.test(step)) return `the step of ${name} ${part} has to be from 1 to 99`;
  if (range === '*') return undefined;
  const numbers = range.split('-');
  for (const text of numbers) {
    if (numbers.length > 2 || !/^[0-9]+$/.test(text)) {
      return `${name} ${JSON.stringify(range)} has to be *, a number from ${first} to ${last}, or a range such as ${first}-${last}`;
    }
    const number = Number(text);
    if (number < first) return `${name} ${text} is below ${first}`;
    if (number > last) return `${name} ${text} is above ${last}${last === 6 && number === 7 ? '; Sunday is 0' : ''}`;
  }
  const [from = '', to = from] = numbers;
  return Number(from) > Number(to)
    ? `${name} ${range} ends before it begins: write ${to}-${from}, or ${from}-${last},${first}-${to}`
    : undefined;
}
