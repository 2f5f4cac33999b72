import type { Kind, KubeObject, StoredObject } from '../objects/objects.ts';

/** Where an object is, within its kind. `namespace` is absent for cluster-scoped kinds. */
export interface ObjectRef {
  readonly namespace?: string;
  readonly name: string;
}

/** A request that can be aborted. */
export interface Abortable {
  readonly signal?: AbortSignal;
}

/** A request that may be tried again, and has to be allowed each time. */
export interface Permitted extends Abortable {
  /** Asked before every attempt; what it throws ends the request. */
  readonly permit?: () => void;
}

/** Selects the objects of a list or a watch. Without `namespace`: of all namespaces. */
export interface Selection extends Abortable {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** One page of a list. */
export interface ListOptions extends Selection {
  readonly limit?: number;
  /** Bytes of the answer; a longer one is a `TooLongError`, and is not read. */
  readonly mostBytes?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
}

/** One page of a list, as the server sent it. Items have no apiVersion/kind of their own on the wire; here they do. */
export interface ObjectList<T extends KubeObject = KubeObject> {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: StoredObject<T>[];
}

/** A watch. `sendInitialEvents` streams what exists first and marks its end by a BOOKMARK (KEP-3157). */
export interface WatchOptions extends Selection {
  readonly resourceVersion?: string;
  readonly sendInitialEvents?: boolean;
  readonly timeoutSeconds?: number;
}

/** One event of a watch. An ERROR event is thrown as an `ApiError` (410: list again). */
export type WatchEvent<T extends KubeObject = KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: StoredObject<T> }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd: boolean };

/** Options of every write. */
export interface WriteOptions extends Permitted {
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore';
  /** `status` or `scale`. */
  readonly subresource?: string;
}

/** A server-side apply. Without `force` a conflict with another manager is a 409 `ApiError`. */
export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  readonly force?: boolean;
}

/** A delete. With a failed precondition the server answers 409. */
export interface DeleteOptions extends Permitted {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: boolean;
}

/** The content type of a patch: merge (RFC 7386), json (RFC 6902), strategic (built-in kinds only). */
export type PatchType = 'merge' | 'json' | 'strategic';

/** Which lines of a container's log to read. */
export interface LogOptions extends Abortable {
  readonly container?: string;
  readonly follow?: boolean;
  readonly previous?: boolean;
  readonly tailLines?: number;
  readonly timestamps?: boolean;
}

/** One kind that the server serves. */
export interface ServedKind extends Kind {
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Names such as `status`, `scale`. */
  readonly subresources: readonly string[];
}

/**
 * Talks to one API server in raw JSON. Every method throws `ApiError` when the server refuses (with its Status),
 * `ConnectionError` when there is no answer, the signal's reason when aborted. Warnings of the server
 * (`Warning` headers) go to the handler given when the client was made.
 */
export interface Client {
  get<T extends KubeObject>(
    kind: Kind<T>,
    ref: ObjectRef,
    options?: Abortable & { subresource?: string },
  ): Promise<StoredObject<T>>;
  list<T extends KubeObject>(kind: Kind<T>, options?: ListOptions): Promise<ObjectList<T>>;
  /**
   * All objects, page by page (500 each); memory holds one page. When the server forgets the page token (410), it goes
   * on from there with what the objects are by then; where the server offers no such token it begins anew, once, and
   * objects may come twice.
   */
  listAll<T extends KubeObject>(
    kind: Kind<T>,
    options?: Selection & { limit?: number },
  ): AsyncIterable<StoredObject<T>>;
  watch<T extends KubeObject>(kind: Kind<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
  create<T extends KubeObject>(kind: Kind<T>, object: T, options?: WriteOptions): Promise<StoredObject<T>>;
  /** PUT: `object.metadata.resourceVersion` guards it when set. */
  replace<T extends KubeObject>(kind: Kind<T>, object: T, options?: WriteOptions): Promise<StoredObject<T>>;
  patch<T extends KubeObject>(
    kind: Kind<T>,
    ref: ObjectRef,
    type: PatchType,
    patch: unknown,
    options?: WriteOptions,
  ): Promise<StoredObject<T>>;
  apply<T extends KubeObject>(kind: Kind<T>, object: T, options: ApplyOptions): Promise<StoredObject<T>>;
  /** Resolves with the object when it stays for its finalizers, else with undefined. */
  delete<T extends KubeObject>(
    kind: Kind<T>,
    ref: ObjectRef,
    options?: DeleteOptions,
  ): Promise<StoredObject<T> | undefined>;
  deleteCollection(kind: Kind, options: Selection & DeleteOptions): Promise<void>;
  /** The lines of a container's log, without their ends. */
  logs(pod: ObjectRef, options?: LogOptions): AsyncIterable<string>;
  /**
   * Every kind that the server serves, in its preferred version first. A group whose own server does not answer is left
   * out with a warning: its absence here does not prove that it is not served.
   */
  discover(options?: Abortable): Promise<ServedKind[]>;
  /** A GET of any path, parsed as JSON (`/version`, `/openapi/v3`, ...). */
  raw(path: string, options?: Abortable): Promise<unknown>;
  close(): Promise<void>;
}
