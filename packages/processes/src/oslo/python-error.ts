import type { SystemError } from '@openstack-operator/sandbox';

/** An exception of the real program: `type` is its full Python name, the message its text. */
export class PythonError extends Error {
  override readonly name = 'PythonError';
  readonly type: string;

  constructor(type: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.type = type;
  }

  /** The last line of a traceback. */
  get lastLine(): string {
    return this.message === '' ? this.type : `${this.type}: ${this.message}`;
  }
}

/** Python's text of a failed system call. */
export function errno(error: SystemError): string {
  const number = errnos[error.code];
  if (number === undefined) return error.code === 'ETIMEDOUT' ? 'timed out' : error.message;
  return `[Errno ${number}] ${error.reason}`;
}

/** Python's exception for a failed system call, which may be about a file. */
export function osError(error: SystemError, path?: string): PythonError {
  return new PythonError(
    osErrors[error.code] ?? 'OSError',
    `${errno(error)}${path === undefined ? '' : `: '${path}'`}`,
  );
}

const errnos: Partial<Record<SystemError['code'], number>> = {
  ENOENT: 2,
  EACCES: 13,
  EEXIST: 17,
  ENOTDIR: 20,
  EISDIR: 21,
  ENOSPC: 28,
  EROFS: 30,
  EADDRINUSE: 98,
  EADDRNOTAVAIL: 99,
  ECONNRESET: 104,
  ECONNREFUSED: 111,
  ENOTFOUND: -2,
  EAI_AGAIN: -3,
};

const osErrors: Partial<Record<SystemError['code'], string>> = {
  ENOENT: 'FileNotFoundError',
  EACCES: 'PermissionError',
  EISDIR: 'IsADirectoryError',
  ECONNREFUSED: 'ConnectionRefusedError',
  ETIMEDOUT: 'TimeoutError',
  ENOTFOUND: 'socket.gaierror',
};

/** A program that ends by itself, with a message on standard error or none (`sys.exit`). */
export class SystemExit extends Error {
  override readonly name = 'SystemExit';
  readonly status: number;

  constructor(status: number, message = '') {
    super(message);
    this.status = status;
  }
}
