import { secretReference } from '../../oslo/references.ts';
import { offerBy } from './dependencies.ts';
import type { Keeping, Kept } from './keeping.ts';
import type { MembersApi } from './memberships.ts';
import { recordsFile } from './records.ts';
import type { Found } from './service.ts';
import type { ReferenceField, ServiceResource } from './surroundings.ts';
import { authorityOf } from './trust.ts';

/**
 * Something that a service has in another one of its cloud, in the project of its first user: a network, a flavour; or in
 * itself, once it serves: a type of volumes.
 */
export interface CloudResource {
  /** The field by which it refers to the other one, or by which others refer to itself. */
  readonly in: ReferenceField;
  /** What it is, of what the other one offers (`Offer.resources`). */
  readonly kind: string;
  readonly name: string;
  /** What the API is told of it, and shows: a value, or `idOf` another one before it. Of a map its keys count, and no others. */
  readonly attributes: Readonly<Record<string, unknown>>;
  /** `idOf` one before it that has exactly one of these, by the same identifier: it is changed, and never made. */
  readonly of?: { readonly idOf: string };
  /** Its identifier is remembered (`found` of the kind's status): `foundId` has it. */
  readonly told?: true;
}

/** How an attribute is written that does not go with the item: `{ <attribute>: value }`, or nothing where it is a GET. */
export interface AttributeWrite {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Below the URL that the catalogue has; `{id}` is the item's identifier, `{value}` the attribute. */
  readonly path: string;
  /** It is not stated when the item is made, but written right after. */
  readonly later?: true;
  /** Path where it alone is shown, when the item does not show it. It stays what it was made as. */
  readonly shown?: string;
}

/** How an API keeps resources of a kind. */
export interface ResourceApi {
  /** Path of the collection, below the URL that the catalogue has: `/v2.0/networks`. */
  readonly path: string;
  /** Where they are listed with all that is shown of them, when that is another path; `{name}` is the name. */
  readonly list?: string;
  /** Key of one in bodies. */
  readonly item: string;
  /** Key of lists; default `<item>s`. */
  readonly items?: string;
  /** Whether each belongs to a project (`project_id`); then lists can be filtered by that and by the name. */
  readonly owned?: boolean;
  /** What requests carry besides: the version of an API that has several. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The attribute by which one is known to be the operator's, where those of users have names of their own choice: one that
   * shows another value is refused. None is ever removed: what users have may refer to it.
   */
  readonly mark?: string;
  /** The method that changes attributes; without it they stay as they were made. */
  readonly change?: 'PUT' | 'PATCH';
  /** Attributes that have another name when one is made: that name. */
  readonly madeAs?: Readonly<Record<string, string>>;
  /** What attributes are while others are still to be written `later`: nobody uses one that is not whole. Then they are changed. */
  readonly meanwhile?: Readonly<Record<string, unknown>>;
  /** An attribute that is a map, whose keys stand beside the other attributes when one is made or changed. */
  readonly spread?: string;
  /** How members come and go, of what has any (`Service.memberships`). */
  readonly members?: MembersApi;
  /** Attributes that are written by themselves. */
  readonly writes?: Readonly<Record<string, AttributeWrite>>;
}

/** The identifier of a resource that stands before, as the value of an attribute. */
export function idOf(kind: string, name: string): { readonly idOf: string } {
  return { idOf: `${kind}/${name}` };
}

/** What Keystone and most APIs make of identifiers. Whoever may write a status may have written another one. */
const identifier = /^[\w-]{1,64}$/;

/** The identifier of a resource that is told; undefined until it is known. */
export function foundId(
  { status }: ServiceResource & { readonly status?: { readonly found?: Found } },
  resource: Pick<CloudResource, 'kind' | 'name'>,
): string | undefined {
  const id = status?.found?.[titleOf(resource)];
  return id !== undefined && identifier.test(id) ? id : undefined;
}

/** How a line says which one is told, and what the status remembers it by. */
export const titleOf = ({ kind, name }: Pick<CloudResource, 'kind' | 'name'>): string => `${kind} ${name}`;

/**
 * What a service has in others of its cloud (`<name>-resource-create`), made as its first user. It is found by its name,
 * and goes with `deletionPolicy: Delete` only.
 */
export const resourceRecords: Keeping = {
  suffix: 'resource-create',
  step: 'ResourcesReady',
  // As who the resources are made is made before; what is kept in the service itself waits until it serves.
  needs: ['EndpointReady', 'DeploymentReady'],
  target: 'openstack',
  holds: 'resources',
  concerns: ({ resources }) => resources !== undefined,
  awaits: (kept) => [...new Set(resourcesOf(kept).map((one) => one.in))].filter((field) => !isOwn(kept, field)),
  list(kept) {
    const { service, context } = kept;
    const { name, secret, user } = context.user();
    return recordsFile({
      url: context.identity.internalUrl,
      ...authorityOf(context.identity),
      username: name,
      password: secretReference(secret, 'password', 'quoted'),
      project: user.project ?? 'service',
      userDomain: 'Default',
      projectDomain: 'Default',
      region: context.region,
      resources: resourcesOf(kept).map(({ in: field, kind, ...resource }) => {
        const own = isOwn(kept, field);
        const api = apiOf(kept, { in: field, kind });
        const type = (own ? service : service.providers?.get(field))?.identity?.catalogue[0]?.type;
        if (api === undefined || type === undefined) throw new Error(`${service.name}: ${field} offers no ${kind}`);
        return { kind, type, api, ...(own ? { own } : {}), ...resource };
      }),
    });
  },
  told: (kept) => resourcesOf(kept).flatMap((one) => (one.told === true ? [titleOf(one)] : [])),
  things: (kept) =>
    resourcesOf(kept)
      .filter((one) => !isOwn(kept, one.in) && apiOf(kept, one)?.mark === undefined)
      .map(titleOf)
      .join(', '),
};

/** How the one keeps it that has it. */
function apiOf(kept: Pick<Kept, 'service'>, { in: field, kind }: Pick<CloudResource, 'in' | 'kind'>) {
  const offer = isOwn(kept, field) ? kept.service.offers?.[field] : offerBy(kept.service, field);
  return offer?.resources?.[kind];
}

/** What it has in itself goes with its data. */
function isOwn({ service }: Pick<Kept, 'service'>, field: ReferenceField): boolean {
  return Object.hasOwn(service.offers ?? {}, field);
}

function resourcesOf({ service, context }: Pick<Kept, 'service' | 'context'>): readonly CloudResource[] {
  return service.resources?.(context) ?? [];
}
