/** A body that is written while it is read: a watch, a followed log. */
export class ByteStream implements AsyncIterable<Uint8Array> {
  readonly #queue: Uint8Array[] = [];
  readonly #encoder = new TextEncoder();
  #wake: (() => void) | undefined;
  #closed = false;
  #error: Error | undefined;
  #onEnd: (() => void)[] = [];

  get closed(): boolean {
    return this.#closed;
  }

  write(text: string): void {
    if (this.#closed) return;
    this.#queue.push(this.#encoder.encode(text));
    this.#wake?.();
  }

  /** Ends the body after what was written; with an error the reader gets it instead of an end. */
  close(error?: Error): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#error = error;
    for (const callback of this.#onEnd.splice(0)) callback();
    this.#wake?.();
  }

  /** Calls back once when either side ends the stream. */
  onEnd(callback: () => void): void {
    if (this.#closed) callback();
    else this.#onEnd.push(callback);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = this.#queue.shift();
        if (chunk) {
          yield chunk;
        } else if (this.#closed) {
          if (this.#error) throw this.#error;
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
          this.#wake = undefined;
        }
      }
    } finally {
      this.close();
    }
  }
}
