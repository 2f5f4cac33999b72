import { apiVersionOf, type Kind } from '@openstack-operator/kube';
import type { ResourceType } from '../resources/resource-type.ts';
import type { Schema } from '../resources/schema.ts';
import type { GroupResource } from './status.ts';
import { type ResourceId, resourceIdOf } from './store.ts';

/** One kind in one version, as the server serves it. */
export interface ServedType {
  readonly type: ResourceType;
  /** The schema with the server's own `metadata`, for server-side apply and OpenAPI. */
  readonly schema: Schema;
  readonly id: ResourceId;
  readonly groupResource: GroupResource;
  readonly apiVersion: string;
  /** Set for kinds that a CustomResourceDefinition brought. */
  readonly custom?: {
    readonly crd: string;
    readonly storage: boolean;
  };
}

/** Every kind that is served now, in every version. */
export class Registry {
  readonly #types = new Map<string, ServedType>();

  /** Adds or replaces a kind in one version. */
  add(type: ResourceType, custom?: ServedType['custom']): void {
    const { kind } = type;
    this.#types.set(typeKey(kind.group, kind.version, kind.plural), {
      type,
      schema: withMetadata(type.schema),
      id: resourceIdOf(kind),
      groupResource: { group: kind.group, resource: kind.plural },
      apiVersion: apiVersionOf(kind),
      ...(custom && { custom }),
    });
  }

  /** Stops serving all versions of a shelf, or one of them. */
  remove(id: ResourceId, version?: string): void {
    for (const [key, served] of this.#types) {
      if (served.id === id && (version === undefined || served.type.kind.version === version)) this.#types.delete(key);
    }
  }

  find(group: string, version: string, plural: string): ServedType | undefined {
    return this.#types.get(typeKey(group, version, plural));
  }

  /** By apiVersion and kind, as owner references and scale targets name it. */
  findKind(apiVersion: string, kind: string): ServedType | undefined {
    return this.all().find((served) => served.apiVersion === apiVersion && served.type.kind.kind === kind);
  }

  /** All versions of one shelf. */
  versionsOf(id: ResourceId): ServedType[] {
    return this.all().filter((served) => served.id === id);
  }

  /** In the order of their registration; versions of a group are sorted by priority in discovery only. */
  all(): ServedType[] {
    return [...this.#types.values()];
  }
}

function typeKey(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`;
}

const text: Schema = { type: 'string' };
const textMap: Schema = { type: 'object', additionalProperties: text };

/** `metav1.ObjectMeta` with the list types that server-side apply merges by. */
export const METADATA_SCHEMA: Schema = {
  type: 'object',
  description:
    "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
  properties: {
    name: text,
    generateName: text,
    namespace: text,
    selfLink: text,
    uid: text,
    resourceVersion: text,
    generation: { type: 'integer', format: 'int64' },
    creationTimestamp: { type: 'string', format: 'date-time', nullable: true },
    deletionTimestamp: { type: 'string', format: 'date-time', nullable: true },
    deletionGracePeriodSeconds: { type: 'integer', format: 'int64' },
    labels: textMap,
    annotations: textMap,
    finalizers: {
      type: 'array',
      items: text,
      'x-kubernetes-list-type': 'set',
      'x-kubernetes-patch-strategy': 'merge',
    },
    ownerReferences: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
      'x-kubernetes-patch-strategy': 'merge',
      'x-kubernetes-patch-merge-key': 'uid',
      items: {
        type: 'object',
        required: ['apiVersion', 'kind', 'name', 'uid'],
        'x-kubernetes-map-type': 'atomic',
        properties: {
          apiVersion: text,
          kind: text,
          name: text,
          uid: text,
          controller: { type: 'boolean' },
          blockOwnerDeletion: { type: 'boolean' },
        },
      },
    },
    managedFields: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: {
        type: 'object',
        properties: {
          manager: text,
          operation: text,
          apiVersion: text,
          time: { type: 'string', format: 'date-time' },
          fieldsType: text,
          fieldsV1: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          subresource: text,
        },
      },
    },
  },
};

function withMetadata(schema: Schema): Schema {
  return {
    ...schema,
    type: 'object',
    properties: { ...schema.properties, apiVersion: text, kind: text, metadata: METADATA_SCHEMA },
  };
}

/** The kind without its methods, for clients. */
export function kindOf(served: ServedType): Kind {
  return served.type.kind;
}
