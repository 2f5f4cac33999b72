/** A piece of a body, or what makes it when its turn has come: so a long list is not there as text as a whole. */
type Piece = string | (() => string);

/** Characters after which a chunk is handed out, so that thousands of small pieces are not as many writes. */
const CHUNK = 1 << 16;

/** A body that is written while it is read: a watch, a followed log. */
export class ByteStream implements AsyncIterable<Uint8Array> {
  #written: Piece[] = [];
  /** What is read next, the first piece last: taking it from there costs nothing, however many there are. */
  #reading: Piece[] = [];
  readonly #encoder = new TextEncoder();
  #wake: (() => void) | undefined;
  #closed = false;
  #error: Error | undefined;
  #onEnd: (() => void)[] = [];

  get closed(): boolean {
    return this.#closed;
  }

  write(piece: Piece): void {
    if (this.#closed) return;
    this.#written.push(piece);
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
        const text = this.#take();
        if (text !== '') {
          yield this.#encoder.encode(text);
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

  /** The pieces of the next chunk; nothing when all is read. */
  #take(): string {
    let text = '';
    while (text.length < CHUNK) {
      if (this.#reading.length === 0) {
        this.#reading = this.#written.reverse();
        this.#written = [];
      }
      const piece = this.#reading.pop();
      if (piece === undefined) break;
      text += typeof piece === 'string' ? piece : piece();
    }
    return text;
  }
}
