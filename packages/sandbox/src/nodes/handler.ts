import { type Clock, sleep } from '@openstack-operator/kube';
import type { IContainer, IProbe } from 'kubernetes-models/v1';
import type { ClusterNetwork } from '../network/cluster-network.ts';
import type { Resolver } from '../network/dns.ts';
import type { Host } from '../network/host.ts';
import { type Connection, type HttpReply, SystemError } from '../programs/program.ts';
import { type Container, StartError } from './container.ts';

/** What a probe or a lifecycle hook does. */
export type Handler = Pick<IProbe, 'exec' | 'httpGet' | 'tcpSocket' | 'grpc'> & { sleep?: { seconds: number } };

/** What it came to; `error` is when it could not be tried at all. */
export interface HandlerResult {
  readonly outcome: 'success' | 'failure' | 'error';
  readonly output: string;
}

/** Where a handler runs. */
export interface HandlerTarget {
  readonly container: Container;
  readonly spec: IContainer;
  readonly podIp: string;
}

/** Runs probes and hooks as a node's kubelet does: from the node's network, with its names. */
export class HandlerRunner {
  readonly #network: ClusterNetwork;
  readonly #node: Host;
  readonly #clock: Clock;
  readonly #resolver: Resolver = { cluster: false, searches: [], ndots: 1, hosts: new Map() };

  constructor(options: { network: ClusterNetwork; node: Host; clock: Clock }) {
    this.#network = options.network;
    this.#node = options.node;
    this.#clock = options.clock;
  }

  /** Runs a handler; it fails when it takes longer than `timeoutMs`. Never rejects. */
  async run(handler: Handler, target: HandlerTarget, timeoutMs: number): Promise<HandlerResult> {
    const { exec, httpGet, tcpSocket, grpc } = handler;
    if (handler.sleep) {
      await sleep(this.#clock, handler.sleep.seconds * 1000);
      return success('');
    }
    if (exec) return this.#exec(exec.command ?? [], target, timeoutMs);
    if (httpGet) return this.#http(httpGet, target, timeoutMs);
    const port = tcpSocket ? portNumber(tcpSocket.port, target.spec) : grpc?.port;
    if (port === undefined) return { outcome: 'error', output: `missing probe handler for ${target.spec.name}` };
    const host = tcpSocket?.host ?? target.podIp;
    const result = await this.#timed(
      this.#network.connect(this.#node, host, port, undefined, this.#resolver),
      timeoutMs,
    );
    if (result.value) {
      result.value.close();
      return success('');
    }
    return failure(`dial tcp ${host}:${port}: ${result.timedOut ? 'i/o timeout' : dialError(result.error)}`);
  }

  async #exec(argv: readonly string[], { container }: HandlerTarget, timeoutMs: number): Promise<HandlerResult> {
    const controller = new AbortController();
    const result = await this.#timed(container.exec(argv, { signal: controller.signal }), timeoutMs);
    if (result.timedOut) {
      controller.abort(new Error('SIGKILL'));
      return failure(`command timed out: "${argv.join(' ')}" timed out after ${timeoutMs / 1000}s`);
    }
    if (result.value === undefined) {
      const message = result.error instanceof StartError ? result.error.message : String(result.error);
      return { outcome: 'error', output: `rpc error: code = Unknown desc = ${message}` };
    }
    const { code, stdout, stderr } = result.value;
    return code === 0 ? success(stdout + stderr) : failure(stdout + stderr);
  }

  async #http(
    action: NonNullable<Handler['httpGet']>,
    target: HandlerTarget,
    timeoutMs: number,
  ): Promise<HandlerResult> {
    const host = action.host || target.podIp;
    const port = portNumber(action.port, target.spec);
    const path = `${action.path?.startsWith('/') ? '' : '/'}${action.path ?? ''}`;
    const isSecure = action.scheme === 'HTTPS';
    const url = `${isSecure ? 'https' : 'http'}://${host}:${port}${path}`;
    const headers: Record<string, string> = { host: `${host}:${port}`, 'user-agent': 'kube-probe/1.36', accept: '*/*' };
    for (const { name, value } of action.httpHeaders ?? []) headers[name.toLowerCase()] = value;
    let connection: Connection | undefined;
    const request = async (): Promise<HttpReply> => {
      connection = await this.#network.connect(this.#node, host, port, isSecure ? 'https' : 'http', this.#resolver);
      // Whatever certificate it is shown.
      if (isSecure) await connection.call({ type: 'tls' });
      return (await connection.call({ method: 'GET', path, headers, body: '' })) as HttpReply;
    };
    const result = await this.#timed(request(), timeoutMs);
    connection?.close();
    if (result.timedOut) {
      return failure(`Get "${url}": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`);
    }
    if (result.value === undefined)
      return failure(`Get "${url}": ${httpError(result.error, { isSecure, address: `${host}:${port}` })}`);
    const { status } = result.value;
    if (status >= 200 && status < 400) return success(result.value.body ?? '');
    return failure(`HTTP probe failed with statuscode: ${status}`);
  }

  #timed<T>(
    work: Promise<T>,
    timeoutMs: number,
  ): Promise<{ readonly value?: T; readonly error?: unknown; readonly timedOut?: true }> {
    return new Promise((resolve) => {
      const timer = this.#clock.after(timeoutMs, () => resolve({ timedOut: true }));
      work.then(
        (value) => {
          timer.cancel();
          resolve({ value });
        },
        (error: unknown) => {
          timer.cancel();
          resolve({ error });
        },
      );
    });
  }
}

/** The number behind a port's name; 0, which nobody listens on, when the container names no such port. */
function portNumber(port: string | number, { ports = [] }: IContainer): number {
  if (typeof port === 'number') return port;
  return ports.find(({ name }) => name === port)?.containerPort ?? (Number(port) || 0);
}

function dialError(error: unknown): string {
  if (!(error instanceof SystemError)) return String(error);
  if (error.code === 'ECONNREFUSED') return 'connect: connection refused';
  return error.code === 'ETIMEDOUT' ? 'i/o timeout' : error.message;
}

function httpError(
  error: unknown,
  { isSecure, address }: { readonly isSecure: boolean; readonly address: string },
): string {
  if (error instanceof SystemError && error.code === 'EPROTO')
    return isSecure
      ? 'http: server gave HTTP response to HTTPS client'
      : 'net/http: HTTP/1.x transport connection broken: malformed HTTP response';
  if (error instanceof SystemError && error.code === 'ECONNRESET') return 'EOF';
  return `dial tcp ${address}: ${dialError(error)}`;
}

function success(output: string): HandlerResult {
  return { outcome: 'success', output };
}

function failure(output: string): HandlerResult {
  return { outcome: 'failure', output };
}
