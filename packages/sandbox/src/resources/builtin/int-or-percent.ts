import { invalid } from '../field-error.ts';
import { regexError } from '../names.ts';
import type { FieldError } from '../resource-type.ts';

/** A percentage as a number, or undefined: `25%` is 25. */
export function percentOf(value: unknown): number | undefined {
  const match = typeof value === 'string' ? /^(\d+)%$/.exec(value) : null;
  return match ? Number(match[1]) : undefined;
}

/** Checks a number of pods or a share of them (ValidatePositiveIntOrPercent, IsNotMoreThan100Percent); absent is fine. */
export function validateIntOrPercent(value: unknown, path: string, { over100 = false } = {}): FieldError[] {
  if (value === undefined) return [];
  if (typeof value === 'number') {
    return value < 0 ? [invalid(path, value, 'must be greater than or equal to 0')] : [];
  }
  const percent = percentOf(value);
  if (percent === undefined) {
    const message = "a valid percent string must be a numeric string followed by an ending '%'";
    return [invalid(path, value, regexError(message, '[0-9]+%', '1%', '93%'))];
  }
  return percent > 100 && !over100 ? [invalid(path, value, 'must not be greater than 100%')] : [];
}

/** Checks a number that may not be negative; absent is fine. */
export function validateNonnegative(value: unknown, path: string): FieldError[] {
  return typeof value === 'number' && value < 0 ? [invalid(path, value, 'must be greater than or equal to 0')] : [];
}
