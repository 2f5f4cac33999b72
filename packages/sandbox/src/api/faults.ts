import type { RequestInfo } from './request-info.ts';

/**
 * What goes wrong with a request, on purpose:
 * - `status`: refused with that HTTP status before it is handled (409, 410, 429, 5xx; words and reason may be given)
 * - `delay`: handled after so many milliseconds
 * - `drop`: the connection breaks before the request is handled
 * - `dropResponse`: the request is handled, then the connection breaks: the client does not know
 * - `hang`: no answer ever comes (a half-open connection)
 * - `stale`: a read is answered as it was so many versions ago (an API server that lags behind); a watch catches up
 */
export type RequestFault =
  | {
      readonly kind: 'status';
      readonly code: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
    }
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'drop' }
  | { readonly kind: 'dropResponse' }
  | { readonly kind: 'hang' }
  | { readonly kind: 'stale'; readonly versions: number };

/**
 * What goes wrong with one event of a watch: it is `drop`ped for ever (a bug of the server, worse than any real one),
 * `delay`ed (those after it wait as well), it comes twice (`repeat`), the watch ends (`close`), its connection breaks (`break`), nothing comes any
 * more without an end (`hang`), or an ERROR event with a status comes in its place.
 */
export type EventFault =
  | { readonly kind: 'drop' }
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'repeat' }
  | { readonly kind: 'close' }
  | { readonly kind: 'break' }
  | { readonly kind: 'hang' }
  | { readonly kind: 'status'; readonly code: number; readonly reason?: string; readonly message?: string };

/** A watch event as faults see it. */
export interface FaultableEvent {
  readonly type: string;
  readonly resourceVersion: string;
}

/** Decides which requests and watch events fail, by a script or by chance. Asked once for each of them. */
export interface Faults {
  request?(info: RequestInfo): RequestFault | undefined;
  event?(info: RequestInfo, event: FaultableEvent): EventFault | undefined;
}
