import { type Clock, sleep } from '@openstack-operator/kube';

/** One HTTP request of a records Job. */
export interface HttpCall {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Certificates of authorities, as PEM, that have to have signed that of a server behind https; else those of the system. */
  readonly ca?: string;
}

/** Its answer; header names are lower case. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Milliseconds after which a request without an answer is given up. */
export const answerLimit = 30_000;

/** Sends one request; rejects when there is no answer. Handed in: node:http in a Job, the sandbox's network in a rehearsal. */
export type Http = (call: HttpCall) => Promise<HttpAnswer>;

/** The other side said no: method, URL, status and its own words, never the request's body. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  /** What the other side says. */
  readonly words: string;

  constructor(call: Pick<HttpCall, 'method' | 'url'>, answer: HttpAnswer) {
    const said = words(answer.body);
    super(`${call.method} ${call.url}: ${answer.status} ${said}`);
    this.status = answer.status;
    this.words = said;
  }
}

/** A JSON API at one base URL, with fixed headers. */
export interface JsonApi {
  /** Resolves with the parsed answer (undefined for an empty one). @throws HttpError for a status of 400 or more */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
}

/** Talks JSON below `base`. */
export function jsonApi(http: Http, base: string, headers: Readonly<Record<string, string>>): JsonApi {
  return {
    async call(method, path, body) {
      const call = {
        method,
        url: `${base}${path}`,
        headers: {
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      };
      const answer = await http(call);
      if (answer.status >= 400) throw new HttpError(call, answer);
      return answer.body.trim() === '' ? undefined : JSON.parse(answer.body);
    },
  };
}

/** Servers behind https have to have a certificate that this authority has signed, as PEM; absent: one of the system's. */
export function trusting(http: Http, ca: string | undefined): Http {
  return ca === undefined ? http : (call) => http({ ca, ...call });
}

/**
 * Retries what fails because the other side is just starting: no answer at all, 502, 503, 504. The Job's own back-off
 * takes over after `seconds`.
 */
export function patient(http: Http, clock: Clock, seconds: number, signal?: AbortSignal): Http {
  return async (call) => {
    const deadline = clock.monotonic() + seconds * 1000;
    for (;;) {
      try {
        const answer = await http(call);
        if (![502, 503, 504].includes(answer.status) || clock.monotonic() >= deadline) return answer;
      } catch (error) {
        if (clock.monotonic() >= deadline) throw error;
      }
      await sleep(clock, 1000, signal);
    }
  };
}

/** The message inside an error body: `{ <fault>: { message } }`, RabbitMQ's `reason`, or the body's first line. */
function words(body: string): string {
  try {
    const parsed = JSON.parse(body) as Readonly<Record<string, { message?: string } | string | null>> | null;
    const { reason, ...faults } = parsed ?? {};
    const message = typeof reason === 'string' ? reason : messageIn(Object.values(faults)[0]);
    if (message !== undefined) return message;
  } catch {
    // Not JSON: an HTML page of a proxy.
  }
  return body.trim().split('\n')[0]?.slice(0, 200) ?? '';
}

function messageIn(fault: { readonly message?: string } | string | null | undefined): string | undefined {
  return typeof fault === 'object' && typeof fault?.message === 'string' ? fault.message : undefined;
}
