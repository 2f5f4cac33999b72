import { defineKind, type Kind, type KubeObject, type ObjectMeta } from '@openstack-operator/kube';
import { nameRules } from './names.ts';
import type { Field, Rule } from './schema.ts';

/** A custom resource of this group. `spec` is there even when the user left it out: its default is `{}`. */
export interface ApiObject<S = unknown, T = unknown> extends KubeObject {
  metadata: ObjectMeta;
  spec: S;
  status?: T;
}

/** One column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date';
  readonly jsonPath: string;
  readonly description: string;
}

/** All that is known of a kind of `openstack.k8s.io`: it is a `Kind` for clients, and holds what the CRD is made of. */
export interface Api<S = unknown, T = unknown> extends Kind<ApiObject<S, T>> {
  readonly singular: string;
  readonly shortNames: readonly string[];
  /** What the kind is for, in a sentence or two. */
  readonly description: string;
  /** How long `metadata.name` may be, so that the names of what is made from it fit (see names.ts). */
  readonly nameLength: number;
  /** Rules at the root, about the name. */
  readonly rules: readonly Rule[];
  readonly spec: Field<S, false>;
  readonly status: Field<T, false>;
  /** Columns between Ready and Message. */
  readonly columns: readonly PrinterColumn[];
}

/** The spec of an `Api`. */
export type SpecOf<A> = A extends Api<infer S, infer _> ? S : never;
/** The status of an `Api`. */
export type StatusOf<A> = A extends Api<infer _, infer T> ? T : never;
/** The object of an `Api`. */
export type ObjectOf<A> = A extends Api<infer S, infer T> ? ApiObject<S, T> : never;

/** The API group of all kinds here. */
export const group = 'openstack.k8s.io';
/** Its only version. */
export const version = 'v1alpha1';

/** Describes a kind. `nameLength` is how long `metadata.name` may be (see names.ts). */
export function defineApi<S, T>(options: {
  kind: string;
  plural: string;
  shortName: string;
  description: string;
  nameLength: number;
  spec: Field<S, false>;
  status: Field<T, false>;
  columns?: readonly PrinterColumn[];
  /** Rules at the root, beside those of its name's length. */
  rules?: readonly Rule[];
}): Api<S, T> {
  const { kind, plural, shortName, description, nameLength, spec, status, columns = [], rules = [] } = options;
  return {
    ...defineKind<ApiObject<S, T>>(`${group}/${version}`, kind, plural),
    singular: kind.toLowerCase(),
    shortNames: [shortName],
    description,
    nameLength,
    rules: [...nameRules(kind, nameLength), ...rules],
    spec,
    status,
    columns,
  };
}

/** The column that shows where an API answers inside the cluster. */
export const endpointColumn: PrinterColumn = {
  name: 'Endpoint',
  type: 'string',
  jsonPath: '.status.apiEndpoint',
  description: 'URL of the API inside the cluster',
};
