/** A command ends with this: the message names what is wrong and the way out; no stack trace is shown. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  /** 1: what was asked for did not work; 2: the call itself is wrong. */
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
