import { defineKind, type KubeObject } from '@openstack-operator/kube';
import { applyDefaults } from '../resources/defaulting.ts';
import { validateMetadata, validateMetadataUpdate } from '../resources/metadata.ts';
import { isDnsSubdomain } from '../resources/names.ts';
import type { ResourceType } from '../resources/resource-type.ts';
import type { Schema } from '../resources/schema.ts';

/** A kind with little behind it, for tests of the API server that are about no kind in particular. */
export function toyType(
  apiVersion: string,
  kind: string,
  plural: string,
  schema: Schema,
  options: Partial<ResourceType> & { namespaced?: boolean } = {},
): ResourceType {
  const { namespaced = true, ...rest } = options;
  return {
    kind: defineKind(apiVersion, kind, plural, { namespaced }),
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    subresources: [],
    schema,
    hasGeneration: false,
    decode: () => undefined,
    prepareForCreate: (object) => applyDefaults(schema, object),
    prepareForUpdate: (object) => applyDefaults(schema, object),
    validateCreate: (object) => validateMetadata(object, namespaced, isDnsSubdomain),
    validateUpdate: (object, old) => validateMetadataUpdate(object, old),
    columns: [{ name: 'Name', type: 'string', format: 'name', description: 'Name of the object.', priority: 0 }],
    selectableFields: [],
    row: (object: KubeObject) => [object.metadata.name ?? ''],
    ...rest,
  };
}

const text: Schema = { type: 'string' };
const textMap: Schema = { type: 'object', additionalProperties: text };

/** A Namespace that is active at once. */
export const toyNamespace = toyType(
  'v1',
  'Namespace',
  'namespaces',
  {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { finalizers: { type: 'array', items: text } } },
      status: { type: 'object', properties: { phase: text } },
    },
  },
  {
    namespaced: false,
    subresources: ['status'],
    prepareForCreate: (object) => {
      object['spec'] = { finalizers: ['kubernetes'] };
      object['status'] = { phase: 'Active' };
    },
  },
);

/** A ConfigMap with `data` alone. */
export const toyConfigMap = toyType('v1', 'ConfigMap', 'configmaps', {
  type: 'object',
  properties: { data: textMap, immutable: { type: 'boolean' } },
});

/** A kind with spec, status, generation, a default, a list of type map and a set. */
export const toyWidget = toyType(
  'example.com/v1',
  'Widget',
  'widgets',
  {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          replicas: { type: 'integer', default: 1 },
          color: text,
          tags: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
          command: { type: 'array', items: text },
          ports: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name'],
            'x-kubernetes-patch-strategy': 'merge',
            'x-kubernetes-patch-merge-key': 'name',
            items: { type: 'object', properties: { name: text, port: { type: 'integer' }, protocol: text } },
          },
        },
      },
      status: { type: 'object', properties: { phase: text, replicas: { type: 'integer' } } },
    },
  },
  { subresources: ['status'], hasGeneration: true },
);
