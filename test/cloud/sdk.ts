import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openstackPackages } from '../../tools/cloud/openstack-client.ts';
import { type Ran, run } from '../kubernetes/clients/command.ts';

/** Whom a call is made as: what `openstack.connect()` takes, such as `{ cloud: 'my-cloud' }`. */
export type Identity = Readonly<Record<string, unknown>>;

/** What the SDK raised. */
export class SdkError extends Error {
  /** The class of the exception, as `ForbiddenException`. */
  readonly kind: string;
  /** HTTP status, where the cloud answered. */
  readonly status: number | undefined;

  constructor(call: string, { kind, status, message }: { kind: string; status: number | null; message: string }) {
    super(`${call}: ${kind}: ${message}`);
    this.kind = kind;
    this.status = status ?? undefined;
  }
}

interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { kind: string; status: number | null; message: string };
}

interface Waiting {
  readonly call: string;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

const directory = join(import.meta.dirname, 'python');

/** The official SDK in a Python process of its own, and the official command line client beside it. */
export class Sdk {
  readonly #environment: Readonly<Record<string, string>>;
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;
  #words = '';

  /** @param configuration path of the clouds.yaml; nothing else of the environment takes part */
  constructor(configuration: string) {
    this.#environment = {
      PATH: process.env['PATH'] ?? '',
      HOME: '/nonexistent',
      PYTHONPATH: openstackPackages(),
      PYTHONDONTWRITEBYTECODE: '1',
      OS_CLIENT_CONFIG_FILE: configuration,
    };
    this.#process = spawn('python3', [join(directory, 'sdk.py')], { env: this.#environment });
    this.#process.stderr.setEncoding('utf8').on('data', (piece: string) => {
      this.#words = (this.#words + piece).slice(-4000);
    });
    this.#process.stdin.on('error', () => {}); // its end is told below
    this.#process.on('error', (error) => this.#end(error));
    this.#process.on('close', (code) => this.#end(new Error(`sdk.py ended with ${code}: ${this.#words}`)));
    // A process that waits for requests keeps nobody from ending.
    this.#process.unref();
    const { stdin, stdout, stderr } = this.#process;
    for (const stream of [stdin, stdout, stderr]) (stream as unknown as Socket).unref();
    createInterface({ input: this.#process.stdout }).on('line', (line) => this.#receive(JSON.parse(line) as Answer));
  }

  /**
   * Calls a method of the SDK's connection by its path, as `compute.get_server`.
   * @throws SdkError
   */
  call(as: Identity, call: string, args: readonly unknown[], kwargs: object): Promise<unknown> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { call, resolve, reject });
      this.#process.ref();
      this.#process.stdin.write(`${JSON.stringify({ id, as, call, args, kwargs })}\n`);
    });
  }

  /** Runs `openstack`, as the cloud of that name. */
  run(cloud: string, argv: readonly string[]): Promise<Ran> {
    return run('python3', ['-m', 'openstackclient.shell', '--os-cloud', cloud, ...argv], {
      environment: this.#environment,
    });
  }

  #receive({ id, result, error }: Answer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#process.unref();
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new SdkError(waiting.call, error));
  }

  #end(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
