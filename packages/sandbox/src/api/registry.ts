import { apiVersionOf } from '@openstack-operator/kube';
import { objectMetaSchema } from '../resources/builtin-schema.ts';
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
    /** Said with every answer when the version is deprecated. */
    readonly warning?: string;
  };
}

/** Every kind that is served now, in every version. */
export class Registry {
  readonly #types = new Map<string, ServedType>();

  /** Adds or replaces a kind in one version. */
  add(type: ResourceType, custom?: ServedType['custom']): void {
    const { kind } = type;
    const schema = lazySchema(type);
    this.#types.set(typeKey(kind.group, kind.version, kind.plural), {
      type,
      get schema() {
        return schema();
      },
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
    return this.#types.values().find((served) => served.apiVersion === apiVersion && served.type.kind.kind === kind);
  }

  /** All versions of one shelf. */
  versionsOf(id: ResourceId): ServedType[] {
    return this.#types
      .values()
      .filter((served) => served.id === id)
      .toArray();
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

/** The kind's schema with the server's own `metadata`, made when it is first asked for: most kinds never are. */
function lazySchema(type: ResourceType): () => Schema {
  let schema: Schema | undefined;
  return () => {
    schema ??= {
      ...type.schema,
      type: 'object',
      properties: { ...type.schema.properties, apiVersion: text, kind: text, metadata: objectMetaSchema() },
    };
    return schema;
  };
}
