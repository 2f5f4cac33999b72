import { type Clock, timestamp } from '@openstack-operator/kube';

/** One line as a container wrote it, with its line end; the last one may lack it. */
interface LogLine {
  /** RFC 3339. */
  readonly time: string;
  readonly text: string;
}

/** Which part of a log to read; `limitBytes` counts line ends. */
export interface LogReadOptions {
  readonly tailLines?: number;
  readonly limitBytes?: number;
  readonly timestamps?: boolean;
  /** RFC 3339: only what was written at or after it. */
  readonly sinceTime?: string;
}

const MOST_LINES = 2000;
const MOST_BYTES = 512 * 1024;

/** What one run of a container has written: bounded, the oldest lines go first. */
export class ContainerLog {
  readonly #clock: Clock;
  readonly #lines: LogLine[] = [];
  readonly #followers = new Set<() => void>();
  #bytes = 0;
  #dropped = 0;
  #partial = '';
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes output in pieces of any size. */
  write(text: string): void {
    if (this.#closed) return;
    const lines = (this.#partial + text).split('\n');
    this.#partial = lines.pop() ?? '';
    if (lines.length === 0) return;
    const time = timestamp(this.#clock);
    for (const line of lines) this.#push({ time, text: `${line}\n` });
    this.#wake();
  }

  /** No more will come: a line that has no end yet is ended, followers finish. */
  close(): void {
    if (this.#closed) return;
    if (this.#partial !== '') this.#push({ time: timestamp(this.#clock), text: this.#partial });
    this.#partial = '';
    this.#closed = true;
    this.#wake();
  }

  /** What is there now, one text with line ends. */
  read(options: LogReadOptions = {}): string {
    return this.#render(this.#select(options), options);
  }

  /** What is there now, then what comes, until the container ends or the loop is left. */
  async *follow(options: LogReadOptions = {}, signal?: AbortSignal): AsyncGenerator<string> {
    let next = this.#dropped + this.#lines.length;
    const first = this.#render(this.#select(options), options);
    if (first !== '') yield first;
    for (;;) {
      if (signal?.aborted) return;
      const fresh = this.#lines.slice(Math.max(0, next - this.#dropped));
      next = this.#dropped + this.#lines.length;
      if (fresh.length > 0) yield this.#render(fresh, options);
      else if (this.#closed) return;
      else await this.#change(signal);
    }
  }

  #select({ tailLines, sinceTime }: LogReadOptions): readonly LogLine[] {
    let lines: readonly LogLine[] = this.#lines;
    if (this.#partial !== '') lines = [...lines, { time: timestamp(this.#clock), text: this.#partial }];
    if (sinceTime !== undefined) lines = lines.filter((line) => line.time >= sinceTime);
    if (tailLines !== undefined) lines = tailLines <= 0 ? [] : lines.slice(-tailLines);
    return lines;
  }

  #render(lines: readonly LogLine[], { timestamps, limitBytes }: LogReadOptions): string {
    const text = lines.map((line) => `${timestamps ? `${line.time} ` : ''}${line.text}`).join('');
    return limitBytes === undefined ? text : Buffer.from(text).subarray(0, limitBytes).toString();
  }

  #push(line: LogLine): void {
    this.#lines.push(line);
    this.#bytes += line.text.length;
    while (this.#lines.length > MOST_LINES || (this.#bytes > MOST_BYTES && this.#lines.length > 1)) {
      this.#bytes -= this.#lines.shift()?.text.length ?? 0;
      this.#dropped++;
    }
  }

  #change(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#followers.delete(done);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      this.#followers.add(done);
      signal?.addEventListener('abort', done, { once: true });
    });
  }

  #wake(): void {
    for (const follower of this.#followers) follower();
  }
}
