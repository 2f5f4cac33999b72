import { apiVersionOf, type Kind, type KubeObject } from '@openstack-operator/kube';
import { type BroughtObject, broughtObjects } from '../api/brought-objects.ts';
import { builtInKinds } from '../api/built-in-kinds.ts';
import type { Api } from '../api/define-api.ts';
import { OpenStackControlPlane } from '../control-plane/kind.ts';
import { accessKinds } from '../engine/vocabulary/access.ts';
import { referredBy } from '../engine/vocabulary/dependencies.ts';
import { type ForeignKind, foreignKindsOf } from '../engine/vocabulary/foreign-kinds.ts';
import type { Service } from '../engine/vocabulary/service.ts';
import type { ReferenceField } from '../engine/vocabulary/surroundings.ts';
import { services } from '../services/index.ts';

/** Every kind of `openstack.k8s.io/v1alpha1` that this version offers. */
export const kinds: readonly Api[] = [OpenStackControlPlane, ...services.map(({ kind }) => kind)];

/** The objects that users bring, as a resource of ours names them; none for other kinds. */
export function broughtBy(
  object: Pick<KubeObject, 'apiVersion' | 'kind'> & { readonly spec?: unknown },
): BroughtObject[] {
  const api = kinds.find((kind) => kind.kind === object.kind && apiVersionOf(kind) === object.apiVersion);
  return api === undefined ? [] : broughtObjects(api.spec, object.spec);
}

/** Names of the Secrets of others that a resource of ours refers to: those that users bring, and those that follow from it. */
export function secretsReadBy(object: KubeObject): string[] {
  const service = services.find(({ kind }) => kind.kind === object.kind && apiVersionOf(kind) === object.apiVersion);
  const brought = broughtBy(object).flatMap(({ kind, name }) => (kind === 'Secret' ? [name] : []));
  return [...brought, ...(service?.foreignSecrets?.(object) ?? [])];
}

/** Each once, although all services may compose some. */
const foreignKinds = [...new Set(services.flatMap(foreignKindsOf))];

const known = new Map<string, Kind>(
  [...builtInKinds, ...kinds, ...foreignKinds.map(({ kind }) => kind)].map((kind) => [
    `${apiVersionOf(kind)} ${kind.kind}`,
    kind,
  ]),
);

/**
 * The `Kind` of an object: one of ours, or one that compose may state.
 * @throws Error when neither knows it (a kind that is missing in built-in-kinds.ts)
 */
export function kindOf(object: Pick<KubeObject, 'apiVersion' | 'kind'>): Kind {
  const kind = knownKindOf(object);
  if (kind === undefined) {
    throw new Error(`no Kind is known for ${object.apiVersion} ${object.kind}; it is missing in built-in-kinds.ts`);
  }
  return kind;
}

/** The `Kind` of an object that may be anybody's, such as an owner; undefined when it is a foreign kind. */
export function knownKindOf({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): Kind | undefined {
  return known.get(`${apiVersion} ${kind}`);
}

/** What a service says of a kind of somebody else's API; undefined for all other kinds. */
export function foreignKindOf({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): ForeignKind | undefined {
  return foreignKinds.find((one) => one.kind.kind === kind && apiVersionOf(one.kind) === apiVersion);
}

/** Kinds of somebody else's APIs whose objects hold data, as volumes do. */
export const dataKinds: readonly Kind[] = foreignKinds.flatMap(({ kind, holdsData }) => (holdsData ? [kind] : []));

/** Kinds that a service owns, beside those that all services do. */
export function furtherKinds(service: Pick<Service, 'access' | 'foreignKinds'>): Kind[] {
  return [...(service.access === undefined ? [] : accessKinds), ...foreignKindsOf(service).map(({ kind }) => kind)];
}

/** The kind that a reference field is about. @throws Error when no service says that it is referred to so */
export function kindReferredBy(field: ReferenceField): Kind {
  return referredBy(field, services).kind;
}
