import type { KubeObject } from '@openstack-operator/kube';
import { type Api, crd } from '@openstack-operator/openstack';
import { pruneUnknown, type ResourceType, resourceTypeFromCrd } from '@openstack-operator/sandbox/schema';
import { accepted } from './accepted-mistakes.ts';
import { isOfTheUser, mistakeOf } from './field-mistake.ts';
import { dropUndecoded } from './metadata-mistakes.ts';
import { unknownFields } from './unknown-fields.ts';

/** One mistake: where, and what is wrong with it. */
export interface Mistake {
  readonly field: string;
  readonly message: string;
}

/** What admission makes of a resource. */
export interface Admission {
  /** As it would be stored: without what is not known, with defaults. */
  readonly object: KubeObject;
  readonly mistakes: readonly Mistake[];
}

/**
 * What the API server would say of a resource of a kind, with strict field validation, and what it would store; what it would
 * accept and nobody means is a mistake as well.
 */
export function admissionOf(api: Api, resource: KubeObject): Admission {
  const type = typeOf(api);
  const object = structuredClone(resource);
  const undecoded = dropUndecoded(type, object);
  object.metadata.namespace ??= 'default';
  const unknown = unknownFields(type.schema, pruneUnknown(type.schema, object));
  type.decode(object);
  type.prepareForCreate(object);
  const told = new Set(undecoded.map(({ field }) => field));
  const refused = type
    .validateCreate(object)
    .filter((error) => isOfTheUser(error) && !told.has(error.field))
    .map((error) => mistakeOf(error, object, api));
  const mistakes = [...undecoded, ...unknown, ...refused];
  return { object, mistakes: refused.length === 0 ? [...mistakes, ...accepted(type.schema, object)] : mistakes };
}

const types = new Map<Api, ResourceType>();

function typeOf(api: Api): ResourceType {
  const type = types.get(api) ?? resourceTypeFromCrd(crd(api), api.version);
  types.set(api, type);
  return type;
}
