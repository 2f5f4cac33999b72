import { secretReference } from '../../oslo/references.ts';
import { auditSuffix } from '../names/names.ts';
import type { ResourceApi } from './cloud-resources.ts';
import type { Context } from './context.ts';
import type { Keeping, Kept } from './keeping.ts';
import { recordsFile } from './records.ts';
import type { Job, Service, Told } from './service.ts';
import type { ReferenceField } from './surroundings.ts';
import { authorityOf } from './trust.ts';

/** Items that a service keeps in itself, each with its members, which come and go: an aggregate, with its hosts. */
export interface Memberships {
  /** The field by which others refer to the service itself. */
  readonly in: ReferenceField;
  /** What they are, of what it offers (`Offer.resources`), whose API has `members`. */
  readonly kind: string;
  /**
   * By what the operator's are known, beside its attributes: one that is stated no more goes when it has no members. What does not
   * bear it is anybody's, whatever its name is.
   */
  readonly mark: Readonly<Record<string, string>>;
  readonly items: readonly {
    readonly name: string;
    readonly attributes: Readonly<Record<string, unknown>>;
    readonly members: readonly string[];
  }[];
  /** Those that are members of none. Of whom nothing is said, stay where they are. */
  readonly unassigned: readonly string[];
}

/** How an API adds members to an item and removes them: POST `{ <add or remove>: { <as>: member } }`. */
export interface MembersApi {
  /** Below the URL that the catalogue has; `{id}` is the item's identifier. */
  readonly path: string;
  readonly add: string;
  readonly remove: string;
  readonly as: string;
  /** The attribute of an item that lists them. */
  readonly shown: string;
  /** How an item is marked, by the same path: POST `{ <act>: { <as>: mark } }`. The attribute `as` shows it. */
  readonly mark: { readonly act: string; readonly as: string };
  /** Where the service mirrors members, by the identifier `uuid` of an item. */
  readonly mirror: MirrorApi;
}

/** An API that knows of which items members are, and may know some of them that have left. Each has a `name` and a `uuid`. */
export interface MirrorApi {
  /** Of the service in the catalogue. */
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Lists those that are of the item `{id}`, under the key `items`. */
  readonly list: string;
  readonly items: string;
  /** Of one of them, `{id}`: its GET and its PUT have the identifiers of all items that it is of under the key `as`. */
  readonly path: string;
  readonly as: string;
}

/**
 * Names in few bytes: what all begin and end with is said once, and between the two stands what differs, with a space in
 * between. With thousands of hosts a list would not fit into a Secret otherwise.
 */
export interface Names {
  readonly begin: string;
  readonly between: string;
  readonly end: string;
}

/** What `openstack-operator records members` takes, beside who logs in. */
export interface MemberList {
  readonly region: string;
  /** Of the service in the catalogue. */
  readonly type: string;
  readonly kind: string;
  readonly api: Pick<ResourceApi, 'path' | 'item' | 'items' | 'headers'> & { readonly members: MembersApi };
  readonly mark: Readonly<Record<string, string>>;
  readonly items: readonly {
    readonly name: string;
    readonly attributes: Readonly<Record<string, unknown>>;
    readonly members?: Names;
  }[];
  readonly unassigned?: Names;
}

/** Names as the list has them; nothing for none. */
export function namesIn(names: readonly string[]): Names | undefined {
  const [first, ...others] = names;
  if (first === undefined) return undefined;
  const begin = others.reduce(commonStart, first);
  const rests = names.map((name) => name.slice(begin.length));
  const end = rests.reduce(commonEnd);
  return { begin, between: rests.map((name) => name.slice(0, name.length - end.length)).join(' '), end };
}

function commonStart(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return one.slice(0, length);
}

function commonEnd(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one.at(-1 - length) === other.at(-1 - length)) length++;
  return one.slice(one.length - length);
}

/**
 * Members of what a service keeps in itself (`<name>-member-create`), once it serves. A member that the service refuses to
 * take, or to let go, holds up nothing: it is told (`refusedMembers` of the kind's status), and tried again by every audit.
 */
export const memberRecords: Keeping = {
  suffix: 'member-create',
  step: 'ResourcesReady',
  needs: ['EndpointReady', 'DeploymentReady'],
  target: 'members',
  holds: 'resources',
  concerns: ({ memberships }, spec, lasting) => memberships?.kept(spec, lasting) === true,
  list(kept) {
    const { service, context } = kept;
    const { name: username, secret, user } = context.user();
    const { in: field, kind, mark, items, unassigned } = membershipsOf(kept);
    const { path, item, items: list, headers, members } = service.offers?.[field]?.resources?.[kind] ?? {};
    const type = service.identity?.catalogue[0]?.type;
    if (path === undefined || item === undefined || members === undefined || type === undefined)
      throw new Error(`${service.name}: ${field} offers no ${kind} with members`);
    const records: MemberList = {
      region: context.region,
      type,
      kind,
      api: { path, item, ...(list && { items: list }), ...(headers && { headers }), members },
      mark,
      items: items.map(({ members: names, ...one }) => ({ ...one, ...stated('members', names) })),
      ...stated('unassigned', unassigned),
    };
    return recordsFile({
      url: context.identity.internalUrl,
      ...authorityOf(context.identity),
      username,
      password: secretReference(secret, 'password', 'quoted'),
      project: user.project ?? 'service',
      userDomain: 'Default',
      projectDomain: 'Default',
      ...records,
    });
  },
  // They go with the service's data.
  things: () => '',
};

function stated<K extends string>(key: K, names: readonly string[]): Partial<Record<K, Names>> {
  const short = namesIn(names);
  return short === undefined ? {} : ({ [key]: short } as Record<K, Names>);
}

function membershipsOf({ service, context }: Pick<Kept, 'service' | 'context'>): Memberships {
  const all = service.memberships?.of(context);
  if (all === undefined) throw new Error(`${service.name}: has no memberships`);
  return all;
}

/** How many members were refused: the first line of every run that came to an end. */
const refusedLine = /^\{members refused: (\d+)\}$/;

/** One of them: what it is about, and why. */
const memberLine = /^\{member (.+)\}$/;

/** What becomes of members, as `refusedMembers` of the status: by the Job, and by each audit. */
export function memberTells({ service, context }: Pick<Kept, 'service' | 'context'>): Pick<Job, 'suffix' | 'tells'>[] {
  if (!concerns(service, context)) return [];
  const tells = (words: readonly string[], before: Told): Told => {
    const refused = words.some((line) => refusedLine.test(line))
      ? words.flatMap((line) => memberLine.exec(line)?.[1] ?? [])
      : ((before['refusedMembers'] ?? []) as readonly string[]);
    return refused.length === 0 ? {} : { refusedMembers: refused };
  };
  return [memberRecords.suffix, auditSuffix].map((suffix) => ({ suffix, tells }));
}

/** What is said of members that are not where they belong. */
export function refusedMembers({ service, context }: Pick<Kept, 'service' | 'context'>): string[] {
  if (!concerns(service, context)) return [];
  const { refusedMembers: refused = [] } = (context.resource['status'] ?? {}) as { refusedMembers?: readonly string[] };
  if (refused.length === 0) return [];
  const audit = `the CronJob ${context.named(auditSuffix)}`;
  const { suspend = false } =
    (context.spec as { readonly recordsAudit?: { readonly suspend?: boolean } }).recordsAudit ?? {};
  const next = suspend
    ? `nothing tries it again while spec.recordsAudit.suspend is true: set it to false for ${audit} to do so`
    : `it is tried again by each run of ${audit}`;
  return [`${refused.join('; ')}; ${next}`];
}

const concerns = (service: Service, { spec, surroundings }: Context): boolean =>
  memberRecords.concerns(service, spec, surroundings.lasting);
