import { abortScope } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { sleep } from '../base/clock.ts';
import { ApiError, ConnectionError, isApiError } from '../objects/errors.ts';
import type { Status } from '../objects/objects.ts';
import { readBeginning, readText } from '../transport/text-stream.ts';
import type { HttpRequest, HttpResponse, Transport } from '../transport/transport.ts';
import { parseWarnings } from './warning-header.ts';

/** Headers of a request: lower-case names. */
export type Headers = Readonly<Record<string, string | readonly string[]>>;

/** Adds credentials to requests. */
export interface Authenticator {
  /** Headers for the next request: `authorization`, impersonation. Empty when the connection itself proves it. */
  headers(): Promise<Headers>;
  /**
   * The server answered 401 to a request with these headers: fetches credentials anew, if nobody has yet. Resolves with
   * whether there are other ones now.
   */
  renew(rejected: Headers): Promise<boolean>;
}

/** What an exchange is made of; see `createClient`. */
export interface ExchangeOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly authenticate?: Authenticator;
  readonly onWarning?: (text: string, request: { readonly method: string; readonly path: string }) => void;
  readonly userAgent: string;
  /** Milliseconds for an answer; for a stream, for its head. */
  readonly requestTimeout: number;
}

/** One request of the client. */
export interface ApiRequest extends HttpRequest {
  readonly signal?: AbortSignal | undefined;
  /** Bytes of an answer in JSON; a longer one is an error. */
  readonly mostBytes?: number | undefined;
  /** Asked before every attempt. */
  readonly permit?: (() => void) | undefined;
}

/** Requests with authentication, time-outs, retries and errors as the `Client` promises them. */
export interface Exchange {
  /** The parsed JSON of the answer. */
  json(request: ApiRequest): Promise<unknown>;
  /** The body of the answer as it arrives. */
  stream(request: ApiRequest): AsyncIterable<Uint8Array>;
}

/** As many as client-go makes (k8s.io/client-go/rest, Request.maxRetries). */
const maxRetries = 10;

/** Bytes that are read of a refusal. A server names every mistake, with the value in full each time. */
const mostRefusalBytes = 1024 * 1024;

/** Characters of the message of one that was longer. */
const mostOfMessage = 16_384;

/** The server may ask for any wait; a longer one is left to the caller, whose own back-off knows what can wait. */
const longestWaitSeconds = 60;

/** Makes the exchange of one client. */
export function createExchange(options: ExchangeOptions): Exchange {
  const { transport, clock, authenticate } = options;

  /** One attempt: resolves with a 2xx answer, throws an ApiError for any other. */
  async function attempt(
    request: ApiRequest,
    credentials: Headers | undefined,
    signal: AbortSignal,
  ): Promise<HttpResponse> {
    signal.throwIfAborted();
    request.permit?.();
    const response = await transport.request(
      {
        method: request.method,
        path: request.path,
        headers: {
          accept: 'application/json',
          'user-agent': options.userAgent,
          ...credentials,
          ...request.headers,
        },
        ...(request.body === undefined ? {} : { body: request.body }),
        ...(request.stream === undefined ? {} : { stream: request.stream }),
      },
      signal,
    );
    for (const text of parseWarnings(response.headers['warning'])) {
      options.onWarning?.(text, { method: request.method, path: pathOf(request) });
    }
    if (response.status >= 200 && response.status < 300) return response;
    const refusal = await readBeginning(response.body, mostRefusalBytes);
    throw new ApiError(statusOf(response, refusal), contextOf(request));
  }

  /** Attempts until it works or another attempt would be of no use. */
  async function retrying<R>(request: ApiRequest, once: (credentials: Headers | undefined) => Promise<R>): Promise<R> {
    let renewed = false;
    for (let retries = 0; ; retries += 1) {
      request.signal?.throwIfAborted();
      const credentials = authenticate && (await untilAborted(authenticate.headers(), request.signal));
      try {
        return await once(credentials);
      } catch (error) {
        if (isApiError(error, 401) && !renewed && credentials && (await authenticate?.renew(credentials))) {
          renewed = true;
          continue;
        }
        const seconds = retries < maxRetries ? retryAfter(request, error) : undefined;
        if (seconds === undefined) throw withContext(error, request);
        await sleep(clock, seconds * 1000, request.signal);
      }
    }
  }

  const timeout = () => new ConnectionError('ETIMEDOUT', `no answer within ${options.requestTimeout / 1000} s`);

  return {
    json: (request) =>
      retrying(request, async (credentials) => {
        const deadline = { clock, ms: options.requestTimeout, reason: timeout };
        using scope = abortScope({ parents: [request.signal], deadline });
        const response = await attempt(request, credentials, scope.signal);
        return parseJson(await readText(response.body, request.mostBytes));
      }),

    async *stream(request) {
      // Only the head has a deadline: the rest may take its time.
      using scope = abortScope({ parents: [request.signal] });
      const body = await retrying(request, async (credentials) => {
        const timer = clock.after(options.requestTimeout, () => scope.abort(timeout()));
        try {
          return (await attempt({ ...request, stream: true }, credentials, scope.signal)).body;
        } finally {
          timer.cancel();
        }
      });
      try {
        yield* body;
      } catch (error) {
        throw withContext(error, request);
      }
    },
  };
}

/** Getting credentials may take long (a plugin that asks a cloud): who is aborted does not wait for the others' sake. */
function untilAborted<R>(promise: Promise<R>, signal: AbortSignal | undefined): Promise<R> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/**
 * Seconds until another attempt, or undefined when there shall be none. As client-go: whatever the verb, 429 and 5xx
 * when the server says how long to wait; reads also when the connection broke off (the server restarts).
 */
function retryAfter(request: ApiRequest, error: unknown): number | undefined {
  if (error instanceof ConnectionError) {
    return request.method === 'GET' && error.code === 'ECONNRESET' ? 1 : undefined;
  }
  if (!isApiError(error) || (error.code !== 429 && error.code < 500)) return undefined;
  const seconds = error.retryAfterSeconds;
  return seconds !== undefined && seconds <= longestWaitSeconds ? seconds : undefined;
}

function pathOf(request: HttpRequest): string {
  const query = request.path.indexOf('?');
  return query < 0 ? request.path : request.path.slice(0, query);
}

function contextOf(request: HttpRequest): string {
  return `${request.method} ${pathOf(request)}`;
}

function withContext(error: unknown, request: HttpRequest): unknown {
  const context = contextOf(request);
  if (!(error instanceof ConnectionError) || error.message.startsWith(context)) return error;
  return new ConnectionError(error.code, `${context}: ${error.message}`, { cause: error });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const begin = text.slice(0, 80);
    throw new ConnectionError('EPROTO', `the answer is no JSON (is this a Kubernetes API server?): ${begin}`, {
      cause,
    });
  }
}

/** Reasons for answers that carry no Status: proxies, and the server's own early handlers. */
const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Expired',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** The Status of a refusal. The `Retry-After` header (seconds) wins over the body. */
function statusOf(response: HttpResponse, text: string): Status {
  const status: Status = parseStatus(text) ?? {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    message: messageIn(text) ?? (text.trim().slice(0, 300) || `HTTP ${response.status}`),
  };
  status.code = response.status;
  status.reason ??= reasons[response.status] ?? 'Unknown';
  const header = response.headers['retry-after'];
  if (header !== undefined && /^\d+$/u.test(header)) {
    status.details = { ...status.details, retryAfterSeconds: Number(header) };
  }
  return status;
}

/** The message of a Status that was too long to be read to its end, as far as it goes. */
function messageIn(text: string): string | undefined {
  const before = '"message":"';
  const begin = text.indexOf(before) + before.length;
  if (!text.startsWith('{"kind":"Status"') || begin < before.length) return undefined;
  const [raw] = /^(?:[^"\\]|\\(?:u[0-9a-f]{4}|[^u]))*/iu.exec(text.slice(begin, begin + mostOfMessage)) ?? [];
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return undefined;
  }
}

function parseStatus(text: string): Status | undefined {
  try {
    const value = JSON.parse(text) as Partial<Status> | null;
    return value?.kind === 'Status' ? (value as Status) : undefined;
  } catch {
    return undefined;
  }
}
