import type { Kind, KubeObject } from '@openstack-operator/kube';
import type { Schema } from './schema.ts';

/** One wrong field, as `field.Error` says it: `spec.replicas: Invalid value: -1: must be greater than or equal to 0`. */
export interface FieldError {
  readonly type:
    | 'Required'
    | 'Invalid'
    | 'NotFound'
    | 'NotSupported'
    | 'Duplicate'
    | 'Forbidden'
    | 'TooLong'
    | 'TooMany'
    | 'TooFew'
    | 'TypeInvalid'
    | 'Internal';
  /** JSON path without the leading dot, such as `spec.containers[0].image`; `<nil>` when the error is about no field. */
  readonly field: string;
  /** The offending value; absent for Required, Forbidden and where the API server leaves it out. */
  readonly value?: unknown;
  /** What was expected, in the API server's words. */
  readonly detail: string;
}

/** One printer column: `row` values come in this order. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description: string;
  /** 0 is always shown, 1 only with `-o wide`. */
  readonly priority: number;
}

/** One value of a table row; null is a missing value, shown as `<none>`. */
export type Cell = string | number | boolean | null;

/** Where the scale subresource finds its numbers: JSON paths with a leading dot. */
export interface ScalePaths {
  readonly specReplicas: string;
  readonly statusReplicas: string;
  readonly labelSelector?: string;
}

/**
 * All that the API server must know of a kind, built-in or from a CRD. Pure functions; objects passed in may be
 * changed in place by `prepare*` (the caller owns them), and are only read by the others.
 */
export interface ResourceType {
  readonly kind: Kind;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  /** `status`, `scale`, `log`, `eviction`, ... */
  readonly subresources: readonly string[];
  /** Those that a real server offers and the sandbox refuses by name. */
  readonly refusedSubresources?: readonly string[];
  /** Drives defaulting, pruning, field validation, server-side apply (list types) and `kubectl explain`. */
  readonly schema: Schema;
  /**
   * Reads a body as the Go type of the kind would, before anything else looks at it: normalises quantities, times and
   * numbers, drops what `omitempty` drops, in place. Gives the decoder's complaint when a field has the wrong JSON type
   * (HTTP 400, `json: cannot unmarshal string into Go struct field ...`). Custom resources: only their metadata.
   */
  decode(object: KubeObject): string | undefined;
  /** Whether every change outside metadata and status raises `metadata.generation` (false: kinds without generation). */
  readonly hasGeneration: boolean;
  readonly scale?: ScalePaths;
  /**
   * Defaults a new object and does what the kind's strategy does on create: an initial status, a Job's selector. Status is
   * already emptied where there is a status subresource; `metadata.uid` and `namespace` are already set.
   */
  prepareForCreate(object: KubeObject): void;
  /** The same for a change; `old` is what is stored. */
  prepareForUpdate(object: KubeObject, old: KubeObject): void;
  validateCreate(object: KubeObject): FieldError[];
  validateUpdate(object: KubeObject, old: KubeObject, subresource?: string): FieldError[];
  readonly columns: readonly Column[];
  /** One table row; `now` in milliseconds since the epoch, for ages. */
  row(object: KubeObject, now: number): Cell[];
  /** Field selectors beside `metadata.name` and `metadata.namespace`: JSON paths without the leading dot. */
  readonly selectableFields: readonly string[];
}
