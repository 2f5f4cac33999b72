import { type Clock, microTimestamp, realClock } from './clock.ts';

/** Severity of a line. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Fields of a line beside its message; an `Error` is written with its stack, code and cause. */
export type LogFields = Readonly<Record<string, unknown>>;

/** A structured log. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same log with these fields on each line. */
  with(fields: LogFields): Log;
}

/** Options of `createLog`. */
export interface LoggerOptions {
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** Takes one line, without its end. */
  readonly write: (line: string) => void;
  /** Lines below it are dropped (default: info). */
  readonly level?: LogLevel;
  readonly fields?: LogFields;
}

const LEVELS: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/**
 * Makes a `Log` that writes JSON lines: `{"time":"2026-01-02T03:04:05.006000Z","level":"info","message":"...",...}`.
 * A value that JSON cannot hold is written as text; writing never throws.
 */
export function createLog({ clock = realClock, write, level = 'info', fields = {} }: LoggerOptions): Log {
  const line = (at: LogLevel) => (message: string, more?: LogFields) => {
    if (LEVELS[at] < LEVELS[level]) return;
    write(toJson({ time: microTimestamp(clock), level: at, message, ...fields, ...more }));
  };
  return {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    with: (more) => createLog({ clock, write, level, fields: { ...fields, ...more } }),
  };
}

/** A `Log` that discards every line. */
export const noLog: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => noLog };

function toJson(line: LogFields): string {
  const plain = (_: string, value: unknown): unknown => {
    if (typeof value === 'bigint') return String(value);
    if (!(value instanceof Error)) return value;
    const { name, message, stack, cause } = value;
    return { name, message, code: (value as { code?: unknown }).code, stack, cause };
  };
  try {
    return JSON.stringify(line, plain);
  } catch (error) {
    const { time, level, message } = line;
    return JSON.stringify({ time, level, message, unwritable: String(error) });
  }
}
