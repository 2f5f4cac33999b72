/** A JSON value as it goes over the wire. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** `metav1.OwnerReference`. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** One entry of `metadata.managedFields`. */
export interface ManagedFieldsEntry {
  manager?: string;
  operation?: 'Apply' | 'Update';
  apiVersion?: string;
  time?: string;
  fieldsType?: 'FieldsV1';
  fieldsV1?: Record<string, unknown>;
  subresource?: string;
}

/** `metav1.ObjectMeta`: timestamps are RFC 3339 texts, as on the wire. */
export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: ManagedFieldsEntry[];
}

/** `metav1.Condition`. */
export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  observedGeneration?: number;
  lastTransitionTime: string;
  reason: string;
  message: string;
}

/**
 * Any Kubernetes object as raw JSON: unknown fields survive a read and a write. Objects that come out of the cache are
 * frozen; `structuredClone` one to change it.
 */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

/** An object that the API server has stored: it has a name, a uid, a version. */
export type StoredObject<T extends KubeObject = KubeObject> = T & {
  metadata: ObjectMeta & { name: string; uid: string; resourceVersion: string };
};

/** `metav1.Status`, the API server's answer when it is no object. */
export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata?: Record<string, unknown>;
  status?: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  code?: number;
  details?: {
    name?: string;
    group?: string;
    kind?: string;
    uid?: string;
    retryAfterSeconds?: number;
    causes?: { reason?: string; message?: string; field?: string }[];
  };
}

/**
 * Names a kind to the API: all that is needed to build its URLs. Values are made by `defineKind`; `T` is the object's
 * type at compile time only.
 */
export interface Kind<T extends KubeObject = KubeObject> {
  /** API group; '' is the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Lower-case plural, as in URLs. */
  readonly plural: string;
  readonly namespaced: boolean;
  /** Never set; carries the type. */
  readonly $object?: T;
}

/** Makes a `Kind`. `apiVersion` is `v1` or `group/version`. */
export function defineKind<T extends KubeObject = KubeObject>(
  apiVersion: string,
  kind: string,
  plural: string,
  options: { namespaced?: boolean } = {},
): Kind<T> {
  const slash = apiVersion.indexOf('/');
  return {
    group: slash < 0 ? '' : apiVersion.slice(0, slash),
    version: apiVersion.slice(slash + 1),
    kind,
    plural,
    namespaced: options.namespaced ?? true,
  };
}

/** `v1` for the core group, else `group/version`. */
export function apiVersionOf(kind: Pick<Kind, 'group' | 'version'>): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
}

/** `namespace/name`, or `name` alone where there is no namespace: the key of an object within its kind. */
export function keyOf(object: { metadata: ObjectMeta }): string {
  const { namespace, name = '' } = object.metadata;
  return namespace ? `${namespace}/${name}` : name;
}

/** The owner reference that makes `owner` the controller of what carries it. */
export function controllerReference(owner: StoredObject): OwnerReference {
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** The owner reference with `controller: true`, if there is one. */
export function controllerOf(object: { metadata: ObjectMeta }): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}
