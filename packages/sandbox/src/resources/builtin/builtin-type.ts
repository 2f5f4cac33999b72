import type { Kind, KubeObject } from '@openstack-operator/kube';
import generated from '../../generated/kinds.json' with { type: 'json' };
import { builtinSchema } from '../builtin-schema.ts';
import { decodeBuiltin, fillZeros } from '../go-decode.ts';
import { isObject, type JsonObject } from '../json.ts';
import { validateFinalizers, validateMetadata, validateMetadataUpdate } from '../metadata.ts';
import { type NameCheck, subdomainName } from '../names.ts';
import type { Cell, Column, FieldError, ResourceType, ScalePaths } from '../resource-type.ts';
import { applyTypeDefaults } from './type-defaults.ts';

/** What tells a built-in kind from the others; all that the server says of it in discovery is generated. */
export interface Behaviour {
  /** Default: DNS subdomains. */
  readonly name?: NameCheck;
  readonly hasGeneration?: boolean;
  readonly scale?: ScalePaths;
  readonly selectableFields?: readonly string[];
  /** Subresources that the sandbox does not offer although the real server does. */
  readonly without?: readonly string[];
  prepareForCreate?(object: KubeObject): void;
  prepareForUpdate?(object: KubeObject, old: KubeObject): void;
  /** What must hold for a new and for a changed object. */
  validate?(object: KubeObject): FieldError[];
  /** What must hold for a change only. */
  validateUpdate?(object: KubeObject, old: KubeObject): FieldError[];
  /** What must hold for a change of the status subresource. */
  validateStatus?(object: KubeObject, old: KubeObject): FieldError[];
  /** Cells in the order of the generated columns. */
  row(object: KubeObject, now: number): Cell[];
}

interface Facts {
  readonly plural: string;
  readonly singular: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: readonly string[];
  readonly columns: readonly Column[];
}

const facts = generated.kinds as unknown as Readonly<Record<string, Facts>>;

/** Makes the ResourceType of a built-in kind, such as `apps/v1/Deployment`, from the generated facts and a behaviour. */
export function builtinType(name: string, behaviour: Behaviour): ResourceType {
  const known = facts[name];
  if (!known) throw new Error(`no generated facts for ${name}: add it to tools/generate-builtin-schemas.ts`);
  const parts = name.split('/');
  const kind: Kind = {
    group: parts.length === 3 ? (parts[0] ?? '') : '',
    version: parts.at(-2) ?? '',
    kind: parts.at(-1) ?? '',
    plural: known.plural,
    namespaced: known.namespaced,
  };
  const nameCheck = behaviour.name ?? subdomainName;
  const { without = [] } = behaviour;
  return {
    kind,
    singular: known.singular,
    shortNames: known.shortNames,
    categories: known.categories,
    verbs: known.verbs,
    subresources: known.subresources.filter((subresource) => !without.includes(subresource)),
    refusedSubresources: without,
    columns: known.columns,
    get schema() {
      return builtinSchema(name);
    },
    hasGeneration: behaviour.hasGeneration ?? false,
    selectableFields: behaviour.selectableFields ?? [],
    ...(behaviour.scale && { scale: behaviour.scale }),
    decode: (object) => decodeBuiltin(kind, builtinSchema(name), object),
    prepareForCreate(object) {
      const schema = builtinSchema(name);
      applyTypeDefaults(schema, object);
      behaviour.prepareForCreate?.(object);
      const { status } = schema.properties ?? {};
      if (status?.['x-go-zero'] !== 'fill') return;
      if (!isObject(object.status)) object.status = {};
      fillZeros(status, object.status as JsonObject);
    },
    prepareForUpdate(object, old) {
      applyTypeDefaults(builtinSchema(name), object);
      behaviour.prepareForUpdate?.(object, old);
    },
    validateCreate: (object) => [
      ...validateMetadata(object, kind.namespaced, nameCheck),
      ...validateFinalizers(object),
      ...(behaviour.validate?.(object) ?? []),
    ],
    validateUpdate(object, old, subresource) {
      const errors = validateMetadataUpdate(object, old);
      if (subresource === 'status') return [...errors, ...(behaviour.validateStatus?.(object, old) ?? [])];
      return [...errors, ...(behaviour.validate?.(object) ?? []), ...(behaviour.validateUpdate?.(object, old) ?? [])];
    },
    row: (object, now) => behaviour.row(object, now),
  };
}
