import * as http from 'node:http';
import * as net from 'node:net';
import * as tls from 'node:tls';
import type { Clock } from '../base/clock.ts';
import { ConfigError, ConnectionError } from '../objects/errors.ts';

/** How the server is trusted, and how we prove who we are, on a TLS connection. Certificates and keys are PEM. */
export interface TlsSettings {
  /** Trusted authorities; without it those that Node ships. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** The name that the server's certificate must have; default: the host of the URL. */
  readonly serverName?: string;
  /** Believes any certificate. */
  readonly insecure?: boolean;
}

/** Where and how to connect; the same for every protocol spoken there. */
export interface ConnectionSettings {
  /** `https://host:port`, `http://host:port`; a path is put before that of each request. */
  readonly server: string;
  readonly clock: Clock;
  /**
   * Asked before each request, so keep the answer. Another object than the last time means that something changed
   * (a certificate was renewed): what is under way goes on, what comes then has connections of its own.
   */
  readonly tls?: () => Promise<TlsSettings>;
  /** `http://` or `https://`, user and password in it where needed: the connection goes through it by CONNECT. */
  readonly proxy?: string;
}

/** Without TLS settings: trust whom Node trusts. One object, for it is compared. */
export const defaultTls: TlsSettings = {};

/** Milliseconds until a connection must stand, handshakes included; as client-go's dialer. */
const connectTimeout = 30_000;

/** Idle milliseconds until TCP itself asks whether the peer is there (10 probes, a second apart: Node's setting). */
const keepAliveDelay = 30_000;

/**
 * Opens a connection to the server: TLS or plain as its URL says, through the proxy if there is one.
 * @param alpn the protocols to offer; the choice is in `alpnProtocol` of the `TLSSocket`
 * @throws ConnectionError with the code of the socket or of TLS (`ECONNREFUSED`, `ENOTFOUND`,
 * `ERR_TLS_CERT_ALTNAME_INVALID`, ...), `ETIMEDOUT` after 30 s; ConfigError for a scheme that is none of ours
 */
export async function openConnection(
  { server, clock, proxy }: ConnectionSettings,
  tlsSettings: TlsSettings,
  alpn: readonly string[],
): Promise<net.Socket> {
  const url = parseServer(server);
  const deadline = new AbortController();
  const timer = clock.after(connectTimeout, () => deadline.abort());
  try {
    const plain = proxy === undefined ? undefined : await tunnel(parseProxy(proxy), url, deadline.signal);
    const address = { host: hostOf(url), port: portOf(url), ...(plain ? { socket: plain } : {}) };
    const socket =
      url.protocol === 'https:'
        ? await ready(tls.connect({ ...address, ...tlsOptions(url, tlsSettings, alpn) }), 'secureConnect', deadline)
        : (plain ?? (await ready(net.connect(address), 'connect', deadline)));
    socket.setNoDelay(true);
    socket.setKeepAlive(true, keepAliveDelay);
    return socket;
  } catch (error) {
    if (deadline.signal.aborted) {
      throw new ConnectionError('ETIMEDOUT', `${server}: no connection within ${connectTimeout / 1000} s`);
    }
    throw connectionErrorOf(error, server);
  } finally {
    timer.cancel();
  }
}

/**
 * The server's URL.
 * @throws ConfigError when it is none, or not of http or https
 */
export function parseServer(server: string): URL {
  const url = URL.parse(server);
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url;
  throw new ConfigError(`server ${JSON.stringify(server)}: expected a URL such as https://10.0.0.1:6443`);
}

/** What is put before the path of each request: '' for most servers. */
export function pathPrefix(url: URL): string {
  return url.pathname.replace(/\/+$/u, '');
}

/** Makes what a socket threw a ConnectionError with its code. */
export function connectionErrorOf(error: unknown, server: string): Error {
  if (error instanceof ConnectionError || error instanceof ConfigError) return error;
  // Several addresses of one name fail with an AggregateError that has no message.
  const first = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  const { code = 'ECONNRESET', message } = first as NodeJS.ErrnoException;
  return new ConnectionError(code, `${server}: ${message}`, { cause: error });
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/gu, '');
}

function portOf(url: URL): number {
  return Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
}

function tlsOptions(url: URL, settings: TlsSettings, alpn: readonly string[]): tls.ConnectionOptions {
  // SNI carries names only; the certificate is compared with the host all the same.
  const name = settings.serverName ?? (net.isIP(hostOf(url)) ? '' : hostOf(url));
  return {
    servername: name,
    ALPNProtocols: [...alpn],
    rejectUnauthorized: settings.insecure !== true,
    ...(settings.ca === undefined ? {} : { ca: settings.ca }),
    ...(settings.cert === undefined ? {} : { cert: settings.cert }),
    ...(settings.key === undefined ? {} : { key: settings.key }),
  };
}

function ready<S extends net.Socket>(socket: S, event: string, { signal }: AbortController): Promise<S> {
  return new Promise((resolve, reject) => {
    const onAbort = () => socket.destroy();
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once(event, () => {
      signal.removeEventListener('abort', onAbort);
      socket.off('error', reject);
      socket.off('close', onClose);
      resolve(socket);
    });
    const onClose = () => reject(new Error('the connection was closed while it was opened'));
    socket.once('error', reject);
    socket.once('close', onClose);
  });
}

function parseProxy(proxy: string): URL {
  const url = URL.parse(proxy);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new ConfigError(
    `proxy ${JSON.stringify(proxy)}: expected a URL of an HTTP proxy such as http://proxy.example:3128; ` +
      'other kinds of proxy (socks5) are not supported',
  );
}

/** A connection to the server's port that the proxy has opened for us. */
function tunnel(proxy: URL, server: URL, signal: AbortSignal): Promise<net.Socket> {
  const target = `${server.hostname}:${portOf(server)}`;
  const user = decodeURIComponent(`${proxy.username}:${proxy.password}`);
  const authorization = user === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` };
  return new Promise((resolve, reject) => {
    const fail = (why: string, code: string, cause?: unknown) =>
      reject(new ConnectionError(code, `proxy ${proxy.protocol}//${proxy.host}: CONNECT ${target}: ${why}`, { cause }));
    const options = {
      method: 'CONNECT',
      path: target,
      host: hostOf(proxy),
      port: portOf(proxy),
      headers: { host: target, ...authorization },
      agent: false,
      signal,
    };
    const request =
      proxy.protocol === 'https:'
        ? http.request({
            ...options,
            createConnection: () => tls.connect({ ...options, ...tlsOptions(proxy, defaultTls, ['http/1.1']) }),
          })
        : http.request(options);
    request.once('connect', (response, socket) => {
      if (response.statusCode === 200) return resolve(socket);
      socket.destroy();
      fail(`${response.statusCode} ${response.statusMessage}`, 'EPROXY');
    });
    request.once('response', (response) => {
      response.resume();
      fail(`${response.statusCode} ${response.statusMessage}`, 'EPROXY');
    });
    request.once('error', (error: NodeJS.ErrnoException) => fail(error.message, error.code ?? 'ECONNRESET', error));
    request.end();
  });
}
