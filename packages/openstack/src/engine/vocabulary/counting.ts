/**
 * How one sort of what a service keeps for users is counted by its API: something that others need goes only when there is
 * none of it left. `openstack-operator count` does it, as an administrator, for the whole cloud.
 */
export interface Counting {
  /** What they are, in the plural, for messages: `share servers`. */
  readonly of: string;
  /**
   * Paths below the first URL of the service in the catalogue that list those of all projects, by `id` or `uuid`; what is in
   * several lists counts once. `{host}` is the backend that they lie in.
   */
  readonly lists: readonly string[];
  /** Key of lists; default `of`. */
  readonly items?: string;
  /** What requests carry besides: the version of an API that has several. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Rules of its policy, beside `context_is_admin`, by which it lists those of all projects, or of the caller's without a word. */
  readonly rules?: readonly string[];
  /** Attribute in which each shows its backend, `host@backend` or `host@backend#pool`: those of others do not count. */
  readonly host?: string;
}

/** How an API keeps new things away from a backend: by its row among the processes of the service. */
export interface Scheduling {
  /** Path of the list of processes, filtered by `host` and `binary`; below it, `enable` lets new things in again. */
  readonly path: string;
  /** What below it disables one, and takes the reason. */
  readonly disable: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of the list, where another version of the API tells more there: by default the same. */
  readonly listHeaders?: Readonly<Record<string, string>>;
}

/** What `openstack-operator count` takes, as JSON. */
export interface CountPlan {
  readonly counts: readonly Counting[];
  /** Backends that go: each is disabled first, and counted twice, as what was on its way to it is seen a little later. */
  readonly backends?: {
    readonly scheduling: Scheduling;
    readonly binary: string;
    /** Why they are disabled: those of this reason alone are enabled again. */
    readonly reason: string;
    /** Each as `host@backend`. */
    readonly gone: readonly string[];
    /** Those that are stated again. */
    readonly back: readonly string[];
  };
}
