import {
  type Connection,
  type HttpMessage,
  type HttpReply,
  type Peer,
  type Process,
  type Program,
  type Session,
  SystemError,
} from '@openstack-operator/sandbox';
import { attempt } from '../attempt.ts';
import { readCertificate } from '../certificates.ts';
import { headerOf, plain } from '../http.ts';
import { CommandError, commandWith, onSignal, pause, terminated } from '../program-support.ts';
import { startTimes } from '../start-times.ts';
import { behindTls } from '../tls.ts';
import { type Frontend, HaproxyError, type HeaderRule, readHaproxy } from './haproxy-configuration.ts';

/**
 * `haproxy -f FILE`: ports, and the server that all of what comes there is led to. With `-W` its master reads the file and
 * certificates anew at SIGUSR2, and goes on with those of before where it cannot; at SIGUSR1 it ends when all requests have
 * ended. Words and behaviour of 2.6.12, run for this.
 */
export const haproxy: Program = commandWith({ flags: 'W', values: 'f' }, async (process, line) => {
  const file = line.value('f') ?? '';
  const now = new Proxies(process, load(process, file));
  if (line.has('W'))
    onSignal(process, 'USR2', () => {
      process.stderr('[NOTICE]   (1) : Reloading HAProxy\n');
      attempt(
        CommandError,
        () => now.reload(load(process, file)),
        ({ message }) => process.stderr(`${message}\n[WARNING]  (1) : Loading failure!\n`),
      );
    });
  const asked = new Promise<void>((resolve) => onSignal(process, 'USR1', resolve));
  if (!(await pause(process, startTimes.haproxy))) return 0;
  now.listen();
  await Promise.race([terminated(process), asked.then(() => now.idle())]);
  return 0;
});

/** A frontend, and the certificate that it shows, as PEM. */
interface Served extends Frontend {
  readonly shown?: string;
}

/** @throws CommandError */
function load(process: Process, file: string): readonly Served[] {
  const { files } = process;
  const fail = (words: string): never => {
    throw new CommandError(`[ALERT]    (1) : config : ${words}`);
  };
  if (!files.exists(file)) fail(`Cannot open configuration file/directory ${file} : No such file or directory`);
  return attempt(
    HaproxyError,
    () =>
      readHaproxy(files.read(file), file).map((frontend) => {
        const { certificate, key, bind, at } = frontend;
        if (certificate === undefined) return frontend;
        const read = readCertificate(files, { certificate, key });
        if ('pem' in read) return { ...frontend, shown: read.pem };
        const why = files.exists(certificate)
          ? read.unusable === 'key'
            ? `No Private Key found in '${key}'`
            : `unable to load certificate from file '${certificate}'`
          : `unable to stat SSL certificate from file '${certificate}' : No such file or directory`;
        return fail(`parsing [${at}] : '${bind}' in section 'frontend' : ${why}.`);
      }),
    ({ message }) => fail(message),
  );
}

/** What listens, with what it is to do now. */
class Proxies {
  readonly #process: Process;
  #served: readonly Served[];
  #active = 0;
  #onIdle: (() => void) | undefined;

  constructor(process: Process, served: readonly Served[]) {
    this.#process = process;
    this.#served = served;
  }

  reload(served: readonly Served[]): void {
    this.#served = served;
  }

  listen(): void {
    for (const [index, { port, certificate, mode }] of this.#served.entries()) {
      const now = () => this.#served[index] as Served;
      const accept = (peer: Peer): Session => ({ receive: (message) => this.#pass(now(), message, peer) });
      if (mode === 'http' && certificate !== undefined)
        this.#process.network.listen(
          port,
          'https',
          behindTls(() => now().shown, accept),
        );
      else this.#process.network.listen(port, 'http', accept);
    }
  }

  /** Resolves when nobody waits for an answer. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.#active === 0) resolve();
    });
  }

  async #pass(served: Served, message: unknown, peer: Peer): Promise<unknown> {
    this.#active++;
    try {
      return await (served.mode === 'tcp' ? this.#ask(served, message) : this.#answer(served, message, peer));
    } finally {
      this.#active--;
      if (this.#active === 0) this.#onIdle?.();
    }
  }

  async #answer(served: Served, message: unknown, { address }: Peer): Promise<HttpReply> {
    const request = message as HttpMessage;
    if (request.path === served.monitor) return plain(200, 'Service ready.');
    const rules: HeaderRule[] = [...served.headers];
    if (served.forwardedFor) rules.push({ name: 'x-forwarded-for', value: address });
    const added = rules.filter(({ name }) => headerOf(request, name) === undefined);
    const headers = { ...request.headers, ...Object.fromEntries(added.map(({ name, value }) => [name, value])) };
    try {
      return (await this.#ask(served, { ...request, headers })) as HttpReply;
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      return plain(503, '503 Service Unavailable\nNo server is available to handle this request.\n');
    }
  }

  /** @throws SystemError */
  async #ask({ server: { host, port } }: Served, message: unknown): Promise<unknown> {
    const connection: Connection = await this.#process.network.connect(host, port, 'http');
    try {
      return await connection.call(message);
    } finally {
      connection.close();
    }
  }
}
