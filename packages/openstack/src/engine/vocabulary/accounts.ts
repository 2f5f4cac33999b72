import { besideSecrets } from '../../oslo/references.ts';
import type { IdentityUser } from './identity.ts';
import type { Service } from './service.ts';
import type { ServiceSpec, Surroundings } from './surroundings.ts';

/** Accounts of a service, by the names that they have: adoption of an existing cloud may need other ones than the defaults. */
export interface Accounts {
  readonly database: {
    readonly names: Readonly<Record<string, string>>;
    /** The service's own user first. */
    readonly users: readonly [DatabaseAccount, ...DatabaseAccount[]];
  };
  readonly broker: BrokerAccount;
  readonly identity: IdentityAccounts;
}

/** What a service has on the broker. */
export interface BrokerAccount {
  readonly user: string;
  /** The user's name in a generation of its password (`inTurn`). */
  readonly userIn: (generation: number) => string;
  readonly vhost: string;
  /** The virtual host that the cloud's services send notifications to. */
  readonly notifications: string;
  readonly secret: string;
}

/** An account whose password is generated, unless the resource names a Secret. */
interface Account {
  readonly name: string;
  /** What follows the resource's name in that of its generated Secret. */
  readonly suffix: string;
  /** Name of the Secret with its password. */
  readonly secret: string;
}

/** A user of the database server. */
export interface DatabaseAccount extends Account {
  /** Its name in the definition; undefined for the service's own user. */
  readonly user: string | undefined;
}

/** What a service has in Keystone. */
export interface IdentityAccounts {
  readonly users: readonly UserAccount[];
  readonly domains: readonly { readonly name: string; readonly description: string }[];
  /** Name of its first entry in the catalogue. */
  readonly serviceName: string;
}

/** A user in Keystone. */
export interface UserAccount extends Account {
  /** The user as the definition has it. */
  readonly user: IdentityUser;
  /** Name of the domain of the service's own that it is in; undefined when it is in `Default`. */
  readonly domain: string | undefined;
  /** The user's name in a generation of its password (`inTurn`). */
  readonly nameIn: (generation: number) => string;
  /**
   * Its name as configuration has it. Once its password was rotated both are read from one place: a program of before that
   * starts again has the new password, and with it whose that is.
   */
  readonly login: string;
}

interface AccountSpec {
  readonly database?: DatabaseSpec;
  readonly messageQueue?: {
    readonly user?: string;
    readonly vhost?: string;
    readonly notificationVhost?: string;
    readonly secretName?: string;
  };
  readonly identity?: IdentitySpec;
}

interface DatabaseUserSpec {
  readonly user?: string;
  readonly secretName?: string;
}

interface DatabaseSpec extends DatabaseUserSpec {
  readonly names?: Readonly<Record<string, string>>;
  readonly users?: Readonly<Record<string, DatabaseUserSpec>>;
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

type Named = Pick<Service, 'name' | 'databases' | 'identity'>;

/** The names of a resource's accounts: those of its spec, or the defaults. */
export function accountsOf(service: Named, name: string, spec: ServiceSpec & AccountSpec): Accounts {
  const { database = {}, messageQueue, identity } = spec;
  const { names = {}, users = {} } = database;
  const databaseAccount = (user: string | undefined, stated: DatabaseUserSpec | undefined): DatabaseAccount => {
    const suffix = user === undefined ? 'db-password' : passwordSuffix(user);
    const secret = stated?.secretName ?? `${name}-${suffix}`;
    return { user, name: stated?.user ?? user ?? service.name, suffix, secret };
  };
  const user = messageQueue?.user ?? service.name;
  const further = new Set((service.databases ?? []).flatMap(({ user }) => user ?? []));
  return {
    database: {
      names,
      users: [databaseAccount(undefined, database), ...[...further].map((user) => databaseAccount(user, users[user]))],
    },
    broker: {
      user,
      userIn: inTurn(user),
      vhost: messageQueue?.vhost ?? service.name,
      notifications: messageQueue?.notificationVhost ?? 'notifications',
      secret: messageQueue?.secretName ?? `${name}-mq-password`,
    },
    identity: identityAccounts(service, name, identity ?? {}),
  };
}

/**
 * The name of a user by the generation of its password. The broker and Keystone know one password of a user: so that the
 * one before is accepted for a while, two users take turns. No spec can state the name of the second one (`accountName`).
 */
const inTurn = (user: string) => (generation: number) => (generation % 2 === 0 ? `${user}.b` : user);

/** The accounts, with the names that users of the broker and of Keystone have by the generation of their password. */
export function inGeneration(accounts: Accounts, { rotation }: Pick<Surroundings, 'rotation'>): Accounts {
  const { broker, identity } = accounts;
  const generationOf = (secret: string) => rotation(secret)?.generation ?? 1;
  const users = identity.users.map((one) => {
    const generation = generationOf(one.secret);
    const name = one.nameIn(generation);
    return { ...one, name, login: generation === 1 ? name : besideSecrets(name) };
  });
  return {
    ...accounts,
    broker: { ...broker, user: broker.userIn(generationOf(broker.secret)) },
    identity: { ...identity, users },
  };
}

function identityAccounts({ name: service, identity }: Named, resource: string, spec: IdentitySpec): IdentityAccounts {
  const domainName = (domain: string) => spec.domains?.[domain] ?? domain;
  return {
    users: (identity?.users ?? []).map((user, index) => {
      const stated = index === 0 ? spec : spec.users?.[user.name];
      const suffix = index === 0 ? 'service-password' : passwordSuffix(user.name);
      const name = stated?.userName ?? user.name;
      return {
        user,
        name,
        nameIn: user.owns === undefined ? inTurn(name) : () => name,
        login: name,
        domain: user.domain === undefined ? undefined : domainName(user.domain),
        suffix,
        secret: stated?.secretName ?? `${resource}-${suffix}`,
      };
    }),
    domains: (identity?.domains ?? []).map(({ name, description }) => ({ name: domainName(name), description })),
    serviceName: spec.serviceName ?? identity?.catalogue[0]?.name ?? service,
  };
}

/** What follows the resource's name in the name of the Secret of a further user. */
function passwordSuffix(user: string): string {
  return `${user.replaceAll('_', '-')}-password`;
}

/** A user in words. */
export function userTitle({ name, domain }: Pick<UserAccount, 'name' | 'domain'>): string {
  return domain === undefined ? `user ${name}` : `user ${name} of domain ${domain}`;
}

/** The names that the databases of a user have here. */
export function databasesOf(
  accounts: Accounts,
  { databases = [] }: Pick<Service, 'databases'>,
  { user }: DatabaseAccount,
): string[] {
  return databases.flatMap((one) => (one.user === user ? [databaseName(accounts, one.name)] : []));
}

/** The name that one of a service's databases has here: its default unless the resource renames it. */
export function databaseName(accounts: Accounts, database: string): string {
  return accounts.database.names[database] ?? database;
}
