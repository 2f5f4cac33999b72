import type { User } from '@openstack-operator/facts/users';
import { resourceRecords } from './cloud-resources.ts';
import type { Component, Runs } from './component.ts';
import type { Context } from './context.ts';
import { fieldFor, offerBy, ownOffer, uses } from './dependencies.ts';
import { memberRecords } from './memberships.ts';
import { type Capability, capabilities, type Service } from './service.ts';
import type { ReferenceField, Surroundings } from './surroundings.ts';

/** Of whom something is kept in another service. */
export interface Kept {
  readonly service: Service;
  readonly context: Context;
  readonly components: Readonly<Record<string, Component>>;
}

/**
 * What of other services is kept in a service: databases and their users, users and virtual hosts of a broker, users,
 * roles and endpoints. It is a declarative list in a Secret, worked off by a Job `<name>-<suffix>`; running it twice
 * changes nothing.
 */
export interface Keeping {
  readonly suffix: string;
  /** The condition of its step. */
  readonly step: string;
  /** Further steps that come before, and fields whose resources are Ready before. */
  readonly needs?: readonly string[];
  readonly awaits?: (kept: Kept) => readonly ReferenceField[];
  /** What it is kept in, as findings and containers name it. */
  readonly target: string;
  /**
   * `data`: what the programs of a service work with. It is there before they start, and is taken back with
   * `deletionPolicy: Delete` only. `registration`: what tells others of the service. It comes after them, and is taken
   * back whenever the service goes. `resources`: what the service has in others of its cloud. It comes last, and is taken
   * back with `deletionPolicy: Delete` only.
   */
  readonly holds: 'data' | 'registration' | 'resources';
  /** Whether there is something to keep of a resource of a service, or has been (`Surroundings.lasting`). */
  readonly concerns: (service: Service, spec: object, lasting: Surroundings['lasting']) => boolean;
  /** Name of a file -> text, with references to Secrets. */
  readonly list: (kept: Kept) => Readonly<Record<string, string>>;
  /** What of it is found, and remembered in the status: the kind and the name of each. */
  readonly told?: (kept: Pick<Kept, 'service' | 'context'>) => readonly string[];
  /** What is taken back, in words; `shared`: another resource has the same account, which stays. */
  readonly things: (kept: Pick<Kept, 'service' | 'context'>, shared: boolean) => string;
  /** The programs that work it off; without them `openstack-operator records` does, with the list's `records.json`. */
  readonly client?: KeepingClient;
}

/** Programs that work off a list that is mounted at `folder`. */
export interface KeepingClient {
  readonly image: string;
  readonly user: User;
  readonly keep: (folder: string) => Runs;
  /** Corrects what differs, and tells it by the termination message. */
  readonly audit: (folder: string, kept: Kept) => Runs;
  readonly remove: (folder: string, kept: Pick<Kept, 'service' | 'context'>) => Runs;
}

/** Where something of a service is kept: by which field it refers to that; undefined when it is kept in itself. */
export interface KeepingOf {
  readonly capability: Capability;
  readonly keeping: Keeping;
  readonly field: ReferenceField | undefined;
}

/** Everything that is kept of a resource in others that it depends on, or in itself. */
export function keepingsOf(
  service: Service,
  spec: object,
  lasting: Surroundings['lasting'] = {},
): readonly KeepingOf[] {
  const kept = capabilities.flatMap((capability): KeepingOf[] => {
    const field = fieldFor(service, capability);
    const keeping = (field === undefined ? ownOffer(service, capability) : offerBy(service, field))?.keeps;
    const isThere = field === undefined || uses(service, capability, spec);
    return isThere && keeping?.concerns(service, spec, lasting) === true ? [{ capability, keeping, field }] : [];
  });
  const field = fieldFor(service, 'identity');
  const own = [resourceRecords, memberRecords].filter(({ concerns }) => concerns(service, spec, lasting));
  return [...kept, ...own.map((keeping): KeepingOf => ({ capability: 'identity', keeping, field }))];
}
