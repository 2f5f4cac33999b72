/** A command ends with this: the message names what is wrong and the way out; no stack trace is shown. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  /** 1: resources have mistakes, are missing or do not become Ready; 2: anything else. */
  readonly exitCode: number;

  constructor(message: string, exitCode: 1 | 2 = 2) {
    super(message);
    this.exitCode = exitCode;
  }
}
