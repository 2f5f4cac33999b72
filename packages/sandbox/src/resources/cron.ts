/** A field of a schedule: its name in error messages, its bounds, the names of its values. */
interface CronField {
  readonly minimum: number;
  readonly maximum: number;
  readonly names?: readonly string[];
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const fields: readonly CronField[] = [
  { minimum: 0, maximum: 59 },
  { minimum: 0, maximum: 23 },
  { minimum: 1, maximum: 31 },
  { minimum: 1, maximum: 12, names: ['', ...months] },
  { minimum: 0, maximum: 6, names: days },
];
const descriptors: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** When a schedule strikes: the allowed values of minute, hour, day of month, month, day of week. */
export interface CronSchedule {
  readonly fields: readonly ReadonlySet<number>[];
  /** Whether day of month and day of week were both restricted: then either of them suffices. */
  readonly eitherDay: boolean;
}

class CronError extends Error {}

/**
 * Reads a schedule of five fields, or `@daily` and the like, as github.com/robfig/cron does (ParseStandard).
 * @throws Error with that parser's words
 */
export function parseCronSchedule(text: string): CronSchedule {
  const zoneless = text.replace(/^(?:CRON_)?TZ=\S+\s+/, '');
  const known = descriptors[zoneless];
  if (zoneless.startsWith('@') && known === undefined) throw new CronError(`unrecognized descriptor: ${zoneless}`);
  const parts = (known ?? zoneless).split(/\s+/).filter((part) => part !== '');
  if (parts.length !== 5) {
    throw new CronError(`expected exactly 5 fields, found ${parts.length}: [${parts.join(' ')}]`);
  }
  const sets = parts.map((part, position) => parseField(part, fields[position] ?? { minimum: 0, maximum: 0 }));
  const star = (part = '') => part.startsWith('*') || part.startsWith('?');
  return { fields: sets, eitherDay: !star(parts[2]) && !star(parts[4]) };
}

/** The parser's complaint about a schedule, or undefined. */
export function cronScheduleError(text: string): string | undefined {
  try {
    parseCronSchedule(text);
    return undefined;
  } catch (error) {
    if (error instanceof CronError) return error.message;
    throw error;
  }
}

function parseField(text: string, field: CronField): Set<number> {
  const values = new Set<number>();
  for (const expression of text.split(',')) {
    if (expression === '') continue;
    for (const value of parseRange(expression, field)) values.add(value);
  }
  return values;
}

function parseRange(expression: string, field: CronField): number[] {
  const [range = '', stepText, ...more] = expression.split('/');
  const [low = '', high, ...tooMany] = range.split('-');
  const all = low === '*' || low === '?';
  let start = all ? field.minimum : parseNumber(low, field);
  let end = all ? field.maximum : start;
  if (!all && high !== undefined) end = parseNumber(high, field);
  if (tooMany.length > 0) throw new CronError(`too many hyphens: ${expression}`);
  if (more.length > 0) throw new CronError(`too many slashes: ${expression}`);
  const step = stepText === undefined ? 1 : parsePlain(stepText);
  if (stepText !== undefined && high === undefined) end = field.maximum;
  if (start < field.minimum)
    throw new CronError(`beginning of range (${start}) below minimum (${field.minimum}): ${expression}`);
  if (end > field.maximum) throw new CronError(`end of range (${end}) above maximum (${field.maximum}): ${expression}`);
  if (start > end) throw new CronError(`beginning of range (${start}) beyond end of range (${end}): ${expression}`);
  if (step === 0) throw new CronError(`step of range should be a positive number: ${expression}`);
  const values: number[] = [];
  for (; start <= end; start += step) values.push(start);
  return values;
}

function parseNumber(text: string, field: CronField): number {
  const named = field.names?.indexOf(text.toLowerCase()) ?? -1;
  return named >= 0 && text !== '' ? named : parsePlain(text);
}

function parsePlain(text: string): number {
  if (/^\+?\d+$/.test(text)) return Number(text);
  if (/^-\d+$/.test(text)) throw new CronError(`negative number (${text}) not allowed: ${text}`);
  throw new CronError(
    `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`,
  );
}
