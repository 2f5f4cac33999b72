import type { Status } from './objects.ts';

/** The API server refused: `status` is its answer, `code` the HTTP status. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number;
  /** metav1.StatusReason such as `NotFound`, `AlreadyExists`, `Conflict`, `Invalid`, `Expired`. */
  readonly reason: string;
  readonly status: Status;

  constructor(status: Status, context: string) {
    super(`${context}: ${status.message ?? status.reason ?? `HTTP ${status.code}`}`);
    this.code = status.code ?? 500;
    this.reason = status.reason ?? 'Unknown';
    this.status = status;
  }

  /** Seconds that the server asks to wait (429, 503), if it does. */
  get retryAfterSeconds(): number | undefined {
    return this.status.details?.retryAfterSeconds;
  }
}

/** No answer: the server cannot be reached, or went away in the middle. Worth a retry. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  /** Such as `ECONNREFUSED`, `ENOTFOUND`, `ECONNRESET`, `ETIMEDOUT`, or a TLS code. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The answer has more bytes than the request allows (`mostBytes`): the rest of it was not read. */
export class TooLongError extends Error {
  override readonly name = 'TooLongError';

  constructor(mostBytes: number) {
    super(`the answer has more than ${mostBytes} bytes, and is not read`);
  }
}

/** An input of the user is wrong (kubeconfig, flag, file). The message names it and how to correct it. Not retried. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'CONFIG';
}

/** A failure that no retry can mend: the object is reconciled again only after a change. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Whether `error` is the API server's answer with this HTTP status. */
export function isApiError(error: unknown, code?: number): error is ApiError {
  return error instanceof ApiError && (code === undefined || error.code === code);
}
