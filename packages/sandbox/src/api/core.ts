import type { Clock, KubeObject, Random, StoredObject } from '@openstack-operator/kube';
import { convertEvent } from '../resources/builtin/events.ts';
import type { Registry, ServedType } from './registry.ts';
import type { User } from './request-info.ts';
import { forbidden, type StatusError } from './status.ts';
import type { Store } from './store.ts';

/** What every handler works on. */
export interface Core {
  readonly store: Store;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  /** Asked in order before a write is stored; each may change the object or throw a `StatusError`. */
  readonly admission: AdmissionPlugin[];
}

/** A write on its way to the store. */
export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly served: ServedType;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  readonly user: User;
  readonly dryRun: boolean;
  /** May be changed in place by `mutate`; absent on DELETE. */
  readonly object?: KubeObject;
  /** Absent on CREATE. */
  readonly old?: StoredObject;
  /** Adds a `Warning` to the answer. */
  warn(message: string): void;
}

/** One step of admission, as the compiled-in plugins of a real API server. */
export interface AdmissionPlugin {
  readonly name: string;
  /** Before defaulting is final and the object is validated. */
  mutate?(request: AdmissionRequest): void;
  /** After validation. */
  validate?(request: AdmissionRequest): void;
}

/** What an admission plugin throws (admission.NewForbidden): a name that is to be generated is not known to `mutate`. */
export function refusalOf({ served, name, object }: AdmissionRequest, because: string): StatusError {
  return forbidden(served.groupResource, name || (object?.metadata.generateName ?? ''), because);
}

/** What a write request asks for beside its object. */
export interface WriteRequest {
  readonly served: ServedType;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  readonly user: User;
  readonly manager: string;
  readonly dryRun: boolean;
  readonly warn: (message: string) => void;
}

/** The key of the object that a request is about. */
export function requestKey({ namespace, name }: Pick<WriteRequest, 'namespace' | 'name'>): string {
  return namespace ? `${namespace}/${name}` : name;
}

/** An object as a version serves it: conversion is `None`, only the apiVersion differs; but Events are converted. */
export function inVersion<T extends KubeObject>(object: T, apiVersion: string): T {
  if (object.apiVersion === apiVersion) return object;
  if (object.kind === 'Event' && (apiVersion === 'v1' || apiVersion === 'events.k8s.io/v1')) {
    return convertEvent(structuredClone<KubeObject>(object), apiVersion) as T;
  }
  return { ...object, apiVersion };
}
