/** One HTTP request to an API server; `path` holds the query string. */
export interface HttpRequest {
  readonly method: string;
  /** Begins with '/', with the query string, percent-encoded. */
  readonly path: string;
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
  /** The answer goes on for as long as both sides like (a watch, a followed log). Such requests may be kept apart. */
  readonly stream?: boolean;
}

/** The answer: head first, the body as it arrives (a watch never ends by itself). */
export interface HttpResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /**
   * Chunks as they come off the wire, cut anywhere. Leaving the loop early cancels the request. Throws a
   * `ConnectionError` when the connection breaks off.
   */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Carries requests to one API server: over HTTP/2, over HTTP/1.1, or within this process (the sandbox). It knows
 * nothing of Kubernetes; authentication, retries and JSON are the client's.
 */
export interface Transport {
  /**
   * Resolves when the head of the answer is there. The signal ends the body too.
   * @throws ConnectionError when the server cannot be reached or goes away; the signal's reason when aborted
   */
  request(request: HttpRequest, signal?: AbortSignal): Promise<HttpResponse>;
  /** Ends idle and running connections. */
  close(): Promise<void>;
}
