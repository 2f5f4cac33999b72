/** What one service made for the next one. */
export interface Made {
  image?: unknown;
  network?: unknown;
  server?: unknown;
  /** A lease that has all hosts. */
  reservation?: unknown;
}

/** The API of a service as a user with a token asks it. Its methods throw what it answers beyond success. */
export interface Endpoint {
  readonly url: string;
  /** Identifier of the user's project. */
  readonly project: string;
  readonly host: string | undefined;
  /** How the administrator logs in. */
  readonly login: { readonly url: string; readonly password: string };
  readonly made: Made;
  readonly wait: (ms: number) => Promise<void>;
  readonly open: (page: string) => Promise<void>;
  readonly say: (text: string) => void;
  readonly get: (path: string) => Promise<Record<string, Record<string, unknown>[]>>;
  /** A text is sent as it is. */
  readonly put: (path: string, body: unknown) => Promise<unknown>;
  readonly post: (path: string, body: unknown) => Promise<Record<string, Record<string, unknown>>>;
}
