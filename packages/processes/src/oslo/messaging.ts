import { type Connection, type Process, SystemError } from '@openstack-operator/sandbox';
import { type AmqpConsumer, AmqpError, type AmqpRequest } from '../infrastructure/amqp-protocol.ts';
import { ask } from '../infrastructure/wire.ts';
import { pause } from '../program-support.ts';
import { connectTls, UntrustedServerError } from '../tls.ts';
import type { Log } from './log.ts';
import { osError, PythonError } from './python-error.ts';
import type { ServiceContext } from './service-context.ts';
import { type BrokerHost, parseTransportUrl, type TransportUrl } from './urls.ts';

/** Handles the methods of an RPC server; throws `PythonError` for a remote error. */
export type RpcHandler = (method: string, parameters: unknown) => Promise<unknown>;

interface RpcMessage {
  readonly method: string;
  readonly parameters: unknown;
  /** When nobody waits for an answer any more; absent: nobody does. */
  readonly expires?: number;
}

/** oslo.messaging over RabbitMQ: RPC calls and servers; a lost broker is waited for, for ever. */
export class Messaging {
  readonly #process: Process;
  readonly #log: Log;
  readonly #url: TransportUrl;
  readonly #arguments: Readonly<Record<string, string>>;
  readonly #timeout: number;
  /** Who has to have signed the broker's certificate: a file; undefined without TLS. */
  readonly #authority: string | undefined;
  #connection: Promise<Connection> | undefined;
  /** Messages that are being handled. */
  readonly #handled = new Set<Promise<unknown>>();

  /** @throws PythonError for an URL or a combination of options that oslo.messaging refuses */
  constructor({ process, config, log }: ServiceContext, url = config.text('DEFAULT', 'transport_url')) {
    this.#process = process;
    this.#log = log;
    this.#url = parseTransportUrl(url);
    if (this.#url.transport !== 'rabbit' && this.#url.transport !== 'kombu') {
      throw new PythonError(
        'oslo_messaging.transport.DriverLoadFailure',
        `Failed to load transport driver "${this.#url.transport}": No 'oslo.messaging.drivers' driver found, looking for '${this.#url.transport}'`,
      );
    }
    const group = 'oslo_messaging_rabbit';
    if (config.boolean(group, 'rabbit_stream_fanout') && config.integer(group, 'rabbit_qos_prefetch_count') <= 0) {
      throw new PythonError(
        'RuntimeError',
        'rabbit_stream_fanout need rabbit_qos_prefetch_count to be set to a value greater than 0',
      );
    }
    this.#arguments = config.boolean(group, 'rabbit_quorum_queue') ? { 'x-queue-type': 'quorum' } : {};
    this.#timeout = config.integer('DEFAULT', 'rpc_response_timeout') * 1000;
    this.#authority = config.boolean(group, 'ssl') ? config.text(group, 'ssl_ca_file') : undefined;
  }

  /** Consumes a topic's queue for ever: again after each loss of the connection. Resolves when it consumes first. */
  async serve(queue: string, handler: RpcHandler): Promise<void> {
    const consumer: AmqpConsumer = (message) => {
      const { method, parameters, expires = Number.POSITIVE_INFINITY } = message as RpcMessage;
      // RabbitMQ gives nobody what whoever calls waits for no more.
      if (this.#process.clock.now() > expires) return Promise.resolve();
      const handling = handler(method, parameters);
      const done: Promise<unknown> = handling.catch(() => undefined).finally(() => this.#handled.delete(done));
      this.#handled.add(done);
      return handling;
    };
    const consume = async (): Promise<void> => {
      const connection = await this.#connected();
      await this.#send(connection, { type: 'declare', queue, arguments: this.#arguments });
      await this.#send(connection, { type: 'consume', queue, handler: consumer });
      connection.closed.addEventListener('abort', () => {
        if (!this.#process.signal.aborted) void consume().catch(() => undefined);
      });
    };
    await consume();
  }

  /** Takes no more messages, and resolves when those are handled that were taken (oslo_messaging.server, stop and wait). */
  async drain(): Promise<void> {
    const connection = await this.#connection;
    if (connection !== undefined && !connection.closed.aborted)
      await this.#send(connection, { type: 'cancel' }).catch(() => undefined);
    await Promise.all(this.#handled);
  }

  /**
   * Calls a method of whoever consumes the queue.
   * @throws PythonError MessagingTimeout when nobody answers, or the remote error
   */
  call(queue: string, method: string, parameters: unknown, timeout = this.#timeout): Promise<unknown> {
    const expires = this.#process.clock.now() + timeout;
    return this.#publish(queue, { method, parameters, expires }, timeout);
  }

  async #publish(queue: string, message: RpcMessage, timeout: number): Promise<unknown> {
    const expired = new PythonError(
      'oslo_messaging.exceptions.MessagingTimeout',
      `Timed out waiting for a reply to message ID ${Buffer.from(this.#process.random.bytes(16)).toString('hex')}`,
    );
    const late = new Promise<never>((_resolve, reject) => {
      this.#process.clock.after(timeout, () => reject(expired), { ref: false });
    });
    late.catch(() => undefined);
    const connection = await Promise.race([this.#connected(), late]);
    const sent = this.#send(connection, { type: 'call', queue, message }).catch((error: unknown) => {
      // The reply is lost with the connection.
      if (error instanceof SystemError) return late;
      throw error;
    });
    return Promise.race([sent, late]);
  }

  /** Calls a method, and waits for no answer: what goes wrong is not told. */
  cast(queue: string, method: string, parameters: unknown): void {
    void this.#publish(queue, { method, parameters }, this.#timeout).catch((error: unknown) => {
      if (!(error instanceof PythonError)) throw error;
    });
  }

  /**
   * Waits for the broker. `retry`: how many attempts follow the first one; below 0 there is no end.
   * @throws PythonError with the broker's refusal, or of the last attempt
   */
  async reached(retry: number): Promise<void> {
    this.#connection ??= this.#connect(retry < 0 ? Number.POSITIVE_INFINITY : retry);
    await this.#connection;
  }

  #connected(): Promise<Connection> {
    this.#connection ??= this.#connect();
    return this.#connection;
  }

  /** @throws PythonError with the broker's refusal, or the remote error */
  async #send(connection: Connection, request: AmqpRequest): Promise<unknown> {
    try {
      return await ask(connection, request);
    } catch (error) {
      if (error instanceof PythonError) throw new PythonError(`${error.type}_Remote`, error.message);
      if (!(error instanceof AmqpError)) throw error;
      const type = error.code === 403 ? 'amqp.exceptions.AccessRefused' : 'amqp.exceptions.PreconditionFailed';
      throw new PythonError(type, `Queue.declare: (${error.code}) ${error.message}`);
    }
  }

  /**
   * Tries the hosts of the URL in turn, for ever unless told otherwise, as impl_rabbit does: 1 s, 3 s, 5 s, ..., 30 s at
   * most. What the broker refuses is final.
   * @throws PythonError AccessRefused, NotAllowed, OperationalError
   */
  async #connect(retry = Number.POSITIVE_INFINITY): Promise<Connection> {
    for (let attempt = 0; ; attempt += 1) {
      const { hosts } = this.#url;
      const nobody = { host: 'localhost', port: 5672, user: '', password: '' };
      const problem = await this.#try(hosts[attempt % Math.max(1, hosts.length)] ?? nobody);
      if (!('text' in problem)) {
        problem.closed.addEventListener('abort', () => (this.#connection = undefined));
        return problem;
      }
      if (attempt >= retry) {
        this.#connection = undefined;
        throw new PythonError('kombu.exceptions.OperationalError', problem.text);
      }
      const wait = Math.min(30, 1 + 2 * attempt);
      const seconds = wait.toFixed(1);
      this.#log.error(
        'oslo.messaging._drivers.impl_rabbit',
        `Connection failed: ${problem.text} (retrying in ${seconds} seconds): ${problem.type}: ${problem.text}`,
      );
      if (!(await pause(this.#process, wait * 1000))) await new Promise<never>(() => undefined);
    }
  }

  async #try({ host, port, user, password }: BrokerHost): Promise<Connection | { type: string; text: string }> {
    try {
      const connection = await this.#open(host, port);
      const virtualHost = this.#url.virtualHost || '/';
      const login = { user: user || 'guest', password: password || 'guest', virtualHost };
      await ask(connection, { type: 'open', ...login } satisfies AmqpRequest);
      return connection;
    } catch (error) {
      if (error instanceof AmqpError)
        throw error.code === 403
          ? new PythonError('amqp.exceptions.AccessRefused', `(0, 0): (403) ${error.message}`)
          : new PythonError('amqp.exceptions.NotAllowed', `Connection.open: (${error.code}) ${error.message}`);
      if (error instanceof UntrustedServerError) return { type: 'ssl.SSLCertVerificationError', text: error.message };
      if (!(error instanceof SystemError)) throw error;
      if (error.code === 'EPROTO' && this.#authority !== undefined)
        return { type: 'ssl.SSLError', text: '[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1033)' };
      // py-amqp has words of its own.
      const own: Partial<Record<SystemError['code'], string>> = {
        ECONNREFUSED: '[Errno 111] ECONNREFUSED',
        EPROTO: 'Socket closed',
      };
      const { type, message } = osError(error);
      return { type, text: own[error.code] ?? message };
    }
  }

  /** Whose name stands in a certificate py-amqp does not compare. @throws SystemError, UntrustedServerError */
  #open(host: string, port: number): Promise<Connection> {
    const { network, files, clock } = this.#process;
    if (this.#authority === undefined) return network.connect(host, port, 'amqp');
    if (!files.exists(this.#authority)) throw new SystemError('ENOENT', this.#authority);
    const trusted = files.read(this.#authority);
    return connectTls(network, { host, port, protocol: 'amqps' }, { trusted, now: clock.now() });
  }
}
