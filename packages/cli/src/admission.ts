import type { KubeObject } from '@openstack-operator/kube';
import { type Api, crd, withWords } from '@openstack-operator/openstack';
import {
  type FieldError,
  pruneUnknown,
  type ResourceType,
  resourceTypeFromCrd,
} from '@openstack-operator/sandbox/schema';
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

/** What the API server would say of a resource of a kind, with strict field validation, and what it would store. */
export function admissionOf(api: Api, resource: KubeObject): Admission {
  const type = typeOf(api);
  const object = structuredClone(resource);
  const undecoded = dropUndecoded(type, object);
  object.metadata.namespace ??= 'default';
  const unknown = unknownFields(type.schema, pruneUnknown(type.schema, object));
  type.decode(object);
  type.prepareForCreate(object);
  const told = new Set(undecoded.map(({ field }) => field));
  const mistakes = type.validateCreate(object).filter(isOfTheUser).map(mistakeOf);
  return { object, mistakes: [...undecoded, ...unknown, ...mistakes.filter(({ field }) => !told.has(field))] };
}

const types = new Map<Api, ResourceType>();

function typeOf(api: Api): ResourceType {
  const type = types.get(api) ?? resourceTypeFromCrd(crd(api), api.version);
  types.set(api, type);
  return type;
}

/** CEL rules are only checked on objects of the right shape; that this was not done is no mistake of its own. */
function isOfTheUser({ field }: FieldError): boolean {
  return field !== '<nil>';
}

/** The API server's words without what stands in front of them already: the field, and the value. */
function mistakeOf({ type, field, value, detail }: FieldError): Mistake {
  const words = (type === 'Duplicate' ? 'duplicate of another item' : withWords(detail))
    .replace(`${field} in body `, '')
    .replace(/^must be of type (\w+): "(\w+)"$/, 'must be of type $1, not $2');
  if (type === 'Required') return { field, message: `required${words === '' ? '' : `: ${words}`}` };
  const shown =
    value === undefined || type === 'Forbidden' || type === 'TypeInvalid' ? '' : `${JSON.stringify(value)}: `;
  return { field: field === '' ? '(root)' : field, message: `${shown.length > 120 ? '' : shown}${words}` };
}
