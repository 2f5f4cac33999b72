import { createHash } from 'node:crypto';
import generated from '../generated/openapi.json' with { type: 'json' };
import schemas from '../generated/schemas.json' with { type: 'json' };
import type { Schema } from '../resources/schema.ts';
import { servedGroups } from './discovery.ts';
import type { Registry, ServedType } from './registry.ts';

const packages: Readonly<Record<string, string>> = generated.packages;
const kinds: Readonly<Record<string, string>> = schemas.kinds;
const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';

type Definitions = Record<string, Record<string, unknown>>;

/** `/openapi/v3`: where the document of each group and version is. */
export function openApiIndex(registry: Registry): unknown {
  const paths: Record<string, unknown> = {};
  for (const { name, versions } of servedGroups(registry)) {
    for (const { version, types } of versions) {
      const path = name === '' ? `api/${version}` : `apis/${name}/${version}`;
      // Clients cache a document by its hash: it must change whenever a kind does.
      const content = types.map((served) => [served.type.kind, served.custom ? served.type.schema : '']);
      const hash = createHash('sha512').update(JSON.stringify(content)).digest('hex').toUpperCase();
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` };
    }
  }
  return { paths };
}

/** `/openapi/v3/apis/<group>/<version>`: schemas for `kubectl explain`, operations for its checks; undefined if none. */
export function openApiOf(registry: Registry, group: string, version: string): unknown {
  const served = servedGroups(registry)
    .find(({ name }) => name === group)
    ?.versions.find((candidate) => candidate.version === version);
  if (!served) return undefined;
  const schemas: Definitions = {};
  const paths: Record<string, unknown> = {};
  for (const type of served.types) {
    const name = addKind(type, schemas);
    Object.assign(paths, pathsOf(type, name));
  }
  return { openapi: '3.0.0', info: { title: 'Kubernetes', version: '1.36' }, paths, components: { schemas } };
}

/** Adds a kind, its list, and all that they refer to. Gives the name of its schema. */
function addKind(served: ServedType, schemas: Definitions): string {
  const { kind } = served.type;
  const gvk = { group: kind.group, version: kind.version, kind: kind.kind };
  const builtin = served.custom ? undefined : kinds[`${served.apiVersion}/${kind.kind}`];
  const name = builtin ?? `${reverse(kind.group)}.${kind.version}.${kind.kind}`;
  addDefinition(`${META}.ObjectMeta`, schemas);
  addDefinition(`${META}.ListMeta`, schemas);
  if (builtin) addDefinition(name, schemas);
  else schemas[name] = customSchema(served.type.schema);
  schemas[name] = { ...schemas[name], 'x-kubernetes-group-version-kind': [gvk] };
  schemas[`${name}List`] = {
    description: `${kind.kind}List is a list of ${kind.kind}`,
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: { type: 'string' },
      items: { type: 'array', items: { $ref: `#/components/schemas/${name}` } },
      kind: { type: 'string' },
      metadata: { allOf: [{ $ref: `#/components/schemas/${META}.ListMeta` }] },
    },
    'x-kubernetes-group-version-kind': [{ ...gvk, kind: `${kind.kind}List` }],
  };
  return name;
}

function customSchema(schema: Schema): Record<string, unknown> {
  const description = (text: string) => ({ type: 'string', description: text });
  return {
    ...schema,
    type: 'object',
    properties: {
      ...schema.properties,
      apiVersion: description(
        'APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources',
      ),
      kind: description(
        'Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds',
      ),
      metadata: {
        description:
          "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
        allOf: [{ $ref: `#/components/schemas/${META}.ObjectMeta` }],
      },
    },
  };
}

const parsed = new Map<string, Definitions>();

function rawDefinition(name: string): Record<string, unknown> | undefined {
  const packageName = name.slice(0, name.lastIndexOf('.'));
  let definitions = parsed.get(packageName);
  if (!definitions) {
    definitions = JSON.parse(packages[packageName] ?? '{}') as Definitions;
    parsed.set(packageName, definitions);
  }
  return definitions[name];
}

function addDefinition(name: string, schemas: Definitions): void {
  if (schemas[name]) return;
  const raw = rawDefinition(name);
  if (!raw) return;
  const copy = structuredClone(raw);
  schemas[name] = copy;
  rewriteReferences(copy, (referred) => addDefinition(referred, schemas));
}

/** Makes every `$ref` an OpenAPI v3 one and tells where it leads. */
function rewriteReferences(value: unknown, visit: (name: string) => void): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    if (key === '$ref' && typeof child === 'string') {
      const name = child.slice(child.lastIndexOf('/') + 1);
      (value as { $ref: string }).$ref = `#/components/schemas/${name}`;
      visit(name);
    } else rewriteReferences(child, visit);
  }
}

/** The operations that kubectl looks for: which kind is where, and that writes take dryRun and fieldValidation. */
function pathsOf({ type, custom }: ServedType, schema: string): Record<string, unknown> {
  const { kind } = type;
  const base = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  const collection = `${base}/${kind.namespaced ? 'namespaces/{namespace}/' : ''}${kind.plural}`;
  const gvk = { group: kind.group, version: kind.version, kind: kind.kind };
  const parameter = (name: string, kindOf = 'string') => ({
    name,
    in: 'query',
    schema: { type: kindOf, uniqueItems: true },
  });
  const operation = (verb: string, parameters: unknown[] = [], body = false) => ({
    operationId: `${verb}${kind.group}${kind.version}${kind.kind}`,
    parameters,
    ...(body && {
      requestBody: { content: { '*/*': { schema: { $ref: `#/components/schemas/${schema}` } } } },
    }),
    responses: {
      200: {
        description: 'OK',
        content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
      },
    },
    'x-kubernetes-action': verb,
    'x-kubernetes-group-version-kind': gvk,
  });
  const writing = [parameter('dryRun'), parameter('fieldManager'), parameter('fieldValidation')];
  const media = [
    'application/apply-patch+yaml',
    'application/json-patch+json',
    'application/merge-patch+json',
    ...(custom ? [] : ['application/strategic-merge-patch+json']),
  ];
  const patch = {
    ...operation('patch', [...writing, parameter('force', 'boolean')]),
    requestBody: {
      content: Object.fromEntries(media.map((name) => [name, { schema: { type: 'object' } }])),
      required: true,
    },
  };
  return {
    [collection]: { get: operation('list'), post: operation('post', writing, true) },
    [`${collection}/{name}`]: {
      get: operation('get'),
      put: operation('put', writing, true),
      patch,
      delete: operation('delete', [parameter('dryRun')]),
    },
  };
}

function reverse(group: string): string {
  return group === '' ? 'io.k8s.api.core' : group.split('.').reverse().join('.');
}
