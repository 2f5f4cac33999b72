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

/** A program that ends by itself, with a message on standard error or none (`sys.exit`). */
export class SystemExit extends Error {
  override readonly name = 'SystemExit';
  readonly status: number;

  constructor(status: number, message = '') {
    super(message);
    this.status = status;
  }
}
