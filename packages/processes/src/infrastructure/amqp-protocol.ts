/** What a client sends over protocol `amqp`. The first message is an `open`. */
export type AmqpRequest =
  | { readonly type: 'open'; readonly user: string; readonly password: string; readonly virtualHost: string }
  | { readonly type: 'declare'; readonly queue: string; readonly arguments: Readonly<Record<string, string>> }
  | { readonly type: 'consume'; readonly queue: string; readonly handler: AmqpConsumer }
  /** Takes no more messages; what it has taken it may answer. */
  | { readonly type: 'cancel' }
  /** Publishes to a queue and waits for the reply: for ever, when nobody consumes. */
  | { readonly type: 'call'; readonly queue: string; readonly message: unknown };

/** Takes one message of a queue and gives the reply. */
export type AmqpConsumer = (message: unknown) => Promise<unknown>;

/** The broker refuses; `code` as in AMQP 0-9-1. */
export class AmqpError extends Error {
  override readonly name = 'AmqpError';
  readonly code: number;

  constructor(code: number, text: string) {
    super(text);
    this.code = code;
  }
}
