import type { IdentityUser } from './identity.ts';
import type { Service } from './service.ts';
import type { ServiceSpec } from './surroundings.ts';

/** Accounts of a service, by the names that they have: adoption of an existing cloud may need other ones than the defaults. */
export interface Accounts {
  readonly database: {
    readonly names: Readonly<Record<string, string>>;
    readonly user: string;
    readonly secret: string;
  };
  readonly broker: { readonly user: string; readonly vhost: string; readonly secret: string };
  readonly identity: IdentityAccounts;
}

/** What a service has in Keystone. */
export interface IdentityAccounts {
  readonly users: readonly UserAccount[];
  readonly domains: readonly { readonly name: string; readonly description: string }[];
  /** Name of its first entry in the catalogue. */
  readonly serviceName: string;
}

/** A user in Keystone. */
export interface UserAccount {
  /** The user as the definition has it. */
  readonly user: IdentityUser;
  readonly name: string;
  /** Name of the domain of the service's own that it is in; undefined when it is in `Default`. */
  readonly domain: string | undefined;
  /** What follows the resource's name in that of its generated Secret. */
  readonly suffix: string;
  /** Name of the Secret with its password. */
  readonly secret: string;
}

interface AccountSpec {
  readonly database?: {
    readonly names?: Readonly<Record<string, string>>;
    readonly user?: string;
    readonly secretName?: string;
  };
  readonly messageQueue?: { readonly user?: string; readonly vhost?: string; readonly secretName?: string };
  readonly identity?: IdentitySpec;
}

interface UserSpec {
  readonly userName?: string;
  readonly secretName?: string;
}

interface IdentitySpec extends UserSpec {
  readonly serviceName?: string;
  readonly users?: Readonly<Record<string, UserSpec>>;
  readonly domains?: Readonly<Record<string, string>>;
}

type Named = Pick<Service, 'name' | 'identity'>;

/** The names of a resource's accounts: those of its spec, or the defaults. */
export function accountsOf(service: Named, name: string, spec: ServiceSpec & AccountSpec): Accounts {
  const { database, messageQueue, identity } = spec;
  return {
    database: {
      names: database?.names ?? {},
      user: database?.user ?? service.name,
      secret: database?.secretName ?? `${name}-db-password`,
    },
    broker: {
      user: messageQueue?.user ?? service.name,
      vhost: messageQueue?.vhost ?? service.name,
      secret: messageQueue?.secretName ?? `${name}-mq-password`,
    },
    identity: identityAccounts(service, name, identity ?? {}),
  };
}

function identityAccounts({ name: service, identity }: Named, name: string, spec: IdentitySpec): IdentityAccounts {
  const domainName = (domain: string) => spec.domains?.[domain] ?? domain;
  return {
    users: (identity?.users ?? []).map((user, index) => {
      const stated = index === 0 ? spec : spec.users?.[user.name];
      const suffix = `${index === 0 ? 'service' : user.name.replaceAll('_', '-')}-password`;
      return {
        user,
        name: stated?.userName ?? user.name,
        domain: user.domain === undefined ? undefined : domainName(user.domain),
        suffix,
        secret: stated?.secretName ?? `${name}-${suffix}`,
      };
    }),
    domains: (identity?.domains ?? []).map(({ name, description }) => ({ name: domainName(name), description })),
    serviceName: spec.serviceName ?? identity?.catalogue[0].name ?? service,
  };
}

/** A user in words. */
export function userTitle({ name, domain }: Pick<UserAccount, 'name' | 'domain'>): string {
  return domain === undefined ? `user ${name}` : `user ${name} of domain ${domain}`;
}

/** The name that one of a service's databases has here: its default unless the resource renames it. */
export function databaseName(accounts: Accounts, database: string): string {
  return accounts.database.names[database] ?? database;
}
