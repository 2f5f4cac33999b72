import { type ChildProcess, spawn } from 'node:child_process';
import { realClock } from '@openstack-operator/kube';
import { nodeEnter } from '../node.ts';
import { until } from '../until.ts';

/** Seconds between two pings. */
const interval = 0.2;

/** Pings an address all the time, from the node, and knows when answers came. */
export class Pings {
  readonly #process: ChildProcess;
  /** Seconds since the epoch at which each answer came. */
  readonly #answers: number[] = [];
  #rest = '';

  constructor(address: string) {
    const [name, ...argv] = nodeEnter();
    // -D: the time of each answer as ping saw it, not as this busy process came to read it.
    this.#process = spawn(name, [...argv, 'ping', '-D', '-n', '-i', String(interval), address], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    this.#process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const lines = (this.#rest + text).split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) {
        const [, at] = /^\[([\d.]+)\] .* bytes from /.exec(line) ?? [];
        if (at !== undefined) this.#answers.push(Number(at));
      }
    });
  }

  /** Waits until answers come that were sent from now on. */
  async answer(seconds: number): Promise<void> {
    const since = realClock.now() / 1000 + interval;
    await until({
      what: 'an answer to ping',
      seconds,
      probe: async () => ((this.#answers.at(-1) ?? 0) > since ? true : undefined),
    });
  }

  /** The longest time without an answer since then (milliseconds since the epoch), in seconds, beyond the interval. */
  gapSince(milliseconds: number): number {
    const since = milliseconds / 1000;
    const first = this.#answers.findIndex((at) => at >= since);
    if (first < 0) return realClock.now() / 1000 - (this.#answers.at(-1) ?? since);
    const gaps = this.#answers.slice(Math.max(1, first)).map((at, index) => {
      const before = this.#answers[Math.max(1, first) + index - 1] ?? at;
      return at - before;
    });
    return Math.max(0, Math.max(0, ...gaps) - interval);
  }

  stop(): void {
    this.#process.kill('SIGKILL');
  }
}
