import { apiVersionOf, type Clock, type KubeObject, type StoredObject } from '@openstack-operator/kube';
import type { Column } from '../resources/resource-type.ts';
import type { Page } from './list.ts';
import type { Wanted } from './negotiation.ts';
import type { ServedType } from './registry.ts';
import { StatusError } from './status.ts';

/** What `includeObject` puts into each row. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

const META = 'meta.k8s.io/v1';

/** One object as the client wants it. */
export function representObject(
  object: KubeObject,
  served: ServedType,
  wanted: Wanted,
  include: IncludeObject,
  clock: Clock,
  options: { noHeaders?: boolean } = {},
): unknown {
  switch (wanted.as) {
    case 'Table':
      return {
        kind: 'Table',
        apiVersion: META,
        metadata: { resourceVersion: object.metadata.resourceVersion },
        columnDefinitions: options.noHeaders ? null : columnDefinitions(served),
        rows: [row(object, served, include, clock)],
      };
    case 'PartialObjectMetadata':
      return partial(object);
    case 'PartialObjectMetadataList':
      throw notAcceptable();
    case 'object':
      return object;
    default:
      return wanted.as satisfies never;
  }
}

/** A page of objects as the client wants it. Items of a list carry no kind of their own. */
export function representList(
  page: Page,
  served: ServedType,
  wanted: Wanted,
  include: IncludeObject,
  clock: Clock,
): unknown {
  const metadata = {
    resourceVersion: page.resourceVersion,
    ...(page.continue && { continue: page.continue }),
    ...(page.remainingItemCount !== undefined && { remainingItemCount: page.remainingItemCount }),
  };
  switch (wanted.as) {
    case 'Table':
      return {
        kind: 'Table',
        apiVersion: META,
        metadata,
        columnDefinitions: columnDefinitions(served),
        rows: page.items.map((object) => row(object, served, include, clock)),
      };
    case 'PartialObjectMetadata':
      throw notAcceptable();
    case 'PartialObjectMetadataList':
      return { kind: 'PartialObjectMetadataList', apiVersion: META, metadata, items: page.items.map(partial) };
    case 'object': {
      const { kind } = served.type;
      return {
        kind: `${kind.kind}List`,
        apiVersion: apiVersionOf(kind),
        metadata,
        items: served.custom ? page.items : page.items.map(withoutType),
      };
    }
    default:
      return wanted.as satisfies never;
  }
}

/** Reads `includeObject` of a query. */
export function includeObject(query: URLSearchParams): IncludeObject {
  const value = query.get('includeObject');
  return value === 'None' || value === 'Object' ? value : 'Metadata';
}

function row(object: KubeObject, served: ServedType, include: IncludeObject, clock: Clock): unknown {
  const cells = served.type.row(object, clock.now());
  if (include === 'None') return { cells, object: null };
  return { cells, object: include === 'Object' ? object : partial(object) };
}

function columnDefinitions(served: ServedType): unknown[] {
  return served.type.columns.map(({ name, type, format, description, priority }: Column) => ({
    name,
    type,
    format: format ?? '',
    description,
    priority,
  }));
}

function partial(object: KubeObject): unknown {
  return { kind: 'PartialObjectMetadata', apiVersion: META, metadata: object.metadata };
}

function withoutType(object: StoredObject): Partial<KubeObject> {
  const { apiVersion: _, kind: __, ...rest } = object;
  return rest;
}

function notAcceptable(): StatusError {
  const message = 'only the following media types are accepted: application/json, application/yaml';
  return new StatusError(406, 'NotAcceptable', message);
}
