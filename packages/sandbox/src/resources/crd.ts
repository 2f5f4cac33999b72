import type { Kind, KubeObject } from '@openstack-operator/kube';
import { age } from './age.ts';
import { objectMetaSchema } from './builtin-schema.ts';
import { compileCel, hasRules } from './cel.ts';
import { applyDefaults } from './defaulting.ts';
import { embeddedErrors } from './embedded-resource.ts';
import { invalid } from './field-error.ts';
import { decodeMetadata } from './go-decode.ts';
import { objectOf } from './json.ts';
import { compileJsonPath, type JsonPath, printValues } from './json-path.ts';
import { knownSchema, oncePerSchema } from './known-schema.ts';
import { validateListTypes } from './list-types.ts';
import { validateMetadata, validateMetadataUpdate } from './metadata.ts';
import { subdomainName } from './names.ts';
import type { Cell, Column, FieldError, ResourceType, ScalePaths } from './resource-type.ts';
import type { Schema } from './schema.ts';
import { validateObject } from './validation.ts';

/** `CustomResourceDefinitionVersion`, as far as it is looked at here. */
export interface CrdVersion {
  readonly name: string;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly schema?: { readonly openAPIV3Schema?: Schema };
  readonly subresources?: {
    readonly status?: object;
    readonly scale?: {
      readonly specReplicasPath: string;
      readonly statusReplicasPath: string;
      readonly labelSelectorPath?: string;
    };
  };
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

/** One entry of `additionalPrinterColumns`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: Column['type'];
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

/** The spec of a CustomResourceDefinition with its defaults. */
export interface CrdSpec {
  readonly group: string;
  readonly scope: 'Namespaced' | 'Cluster';
  readonly names: {
    readonly kind: string;
    readonly plural: string;
    readonly singular?: string;
    readonly listKind?: string;
    readonly shortNames?: readonly string[];
    readonly categories?: readonly string[];
  };
  readonly versions: readonly CrdVersion[];
}

const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const nameDescription =
  'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names';
const nameColumn: Column = { name: 'Name', type: 'string', format: 'name', description: nameDescription, priority: 0 };
const ageColumn: PrinterColumn = {
  name: 'Age',
  type: 'date',
  description:
    'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata',
  jsonPath: '.metadata.creationTimestamp',
};

const rulesOf = oncePerSchema((schema) => compileCel(schema));

/**
 * Makes the ResourceType of one version of a valid CustomResourceDefinition (see `validateCrd`).
 * @throws Error when the definition has no such version
 */
export function resourceTypeFromCrd(crd: KubeObject, version: string): ResourceType {
  const spec = crd.spec as CrdSpec;
  const definition = spec.versions.find(({ name }) => name === version);
  if (!definition) throw new Error(`CustomResourceDefinition ${crd.metadata.name} has no version ${version}`);
  const { group, names } = spec;
  const kind: Kind = {
    group,
    version,
    kind: names.kind,
    plural: names.plural,
    namespaced: spec.scope === 'Namespaced',
  };
  const schema = knownSchema(definition.schema?.openAPIV3Schema ?? {});
  const { status, scale } = definition.subresources ?? {};
  const columns = definition.additionalPrinterColumns ?? [ageColumn];
  const paths = columns.map(({ jsonPath }) => compileJsonPath(jsonPath));
  const rules = () => rulesOf(schema);
  return {
    kind,
    singular: names.singular || names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    verbs,
    subresources: [...(status ? ['status'] : []), ...(scale ? ['scale'] : [])],
    schema,
    hasGeneration: true,
    selectableFields: (definition.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, '')),
    ...(scale && { scale: scalePaths(scale) }),
    decode: (object) => decodeMetadata(objectMetaSchema(), object),
    prepareForCreate: (object) => applyDefaults(schema, object),
    prepareForUpdate: (object) => applyDefaults(schema, object),
    validateCreate(object) {
      const errors = [
        ...validateMetadata(object, kind.namespaced, subdomainName),
        ...validateObject(schema, object),
        ...(scale ? validateScale(object, scale) : []),
        ...embeddedErrors(schema, object),
        ...validateListTypes(schema, object),
      ];
      return [...errors, ...afterCel(schema, errors, () => rules().validate(object))];
    },
    validateUpdate(object, old, subresource) {
      const errors = validateMetadataUpdate(object, old);
      const statusOnly = subresource === 'status';
      if (!statusOnly) errors.push(...validateObject(schema, object, { old }));
      else if (schema.properties?.status && object.status !== undefined) {
        errors.push(...validateObject(schema.properties.status, object.status, { old: old.status, path: 'status' }));
      }
      if (scale) errors.push(...validateScale(object, scale));
      if (!statusOnly) errors.push(...embeddedErrors(schema, object));
      if (validateListTypes(schema, old).length === 0) errors.push(...validateListTypes(schema, object));
      return [...errors, ...afterCel(schema, errors, () => rules().validate(object, old))];
    },
    columns: [nameColumn, ...columns.map(columnOf)],
    row: (object, now) => [
      object.metadata.name ?? '',
      ...columns.map(({ type }, position) => cell(type, paths[position] ?? (() => []), object, now)),
    ],
  };
}

function scalePaths(scale: NonNullable<NonNullable<CrdVersion['subresources']>['scale']>): ScalePaths {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  return {
    specReplicas: specReplicasPath,
    statusReplicas: statusReplicasPath,
    ...(labelSelectorPath && { labelSelector: labelSelectorPath }),
  };
}

function columnOf({ name, type, format = '', description, priority = 0, jsonPath }: PrinterColumn): Column {
  const fallback = `Custom resource definition column (in JSONPath format): ${jsonPath}`;
  return { name, type, format, description: description || fallback, priority };
}

const blocking = new Set<FieldError['type']>(['NotSupported', 'Required', 'TooLong', 'TooMany', 'TypeInvalid']);

/** Rules are looked at only when what they look at is sound. */
function afterCel(schema: Schema, errors: readonly FieldError[], run: () => FieldError[]): FieldError[] {
  if (!hasRules(schema)) return [];
  if (!errors.some(({ type }) => blocking.has(type))) return run();
  const detail =
    'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
  return [invalid('<nil>', null, detail)];
}

function validateScale(
  object: KubeObject,
  { specReplicasPath, statusReplicasPath }: { specReplicasPath: string; statusReplicasPath: string },
): FieldError[] {
  return [specReplicasPath, statusReplicasPath].flatMap((path) => {
    const names = path.replace(/^\./, '').split('.');
    const value = names.reduce((current: unknown, name) => objectOf(current)[name], object);
    if (typeof value !== 'number') return [];
    if (value < 0) return [invalid(names.join('.'), value, 'should be a non-negative integer')];
    const message = `should be less than or equal to 2147483647`;
    return value > 2_147_483_647 ? [invalid(names.join('.'), value, message)] : [];
  });
}

function cell(type: Column['type'], path: JsonPath, object: KubeObject, now: number): Cell {
  const [value] = path(object);
  if (value === undefined) return null;
  if (type === 'string') return printValues([value]);
  if (value === null) return null;
  if (type === 'integer' && typeof value === 'number') return Math.trunc(value);
  if (type === 'number' && typeof value === 'number') return value;
  if (type === 'boolean' && typeof value === 'boolean') return value;
  return type === 'date' && typeof value === 'string' ? age(value, now) : null;
}
