import { accountsOf, databaseName, userTitle } from './accounts.ts';
import { uses } from './dependencies.ts';
import type { Capability, Service } from './service.ts';
import type { Problem } from './step.ts';
import type { ServiceSpec, Twin } from './surroundings.ts';

/** An account, database, virtual host or domain that a resource has on a server. */
export interface HeldAccount {
  /** Of what it is one. */
  readonly capability: Capability;
  /** In words, by which those of two resources are compared. */
  readonly what: string;
  /** The field of the spec that names it, which is immutable. */
  readonly way: string;
  /** Whether those of another kind may have it as well, and whoever takes its password from the same Secret. */
  readonly shared: { readonly byKinds?: boolean; readonly bySecret?: string };
}

type Named = Pick<Service, 'name' | 'databases' | 'messaging' | 'identity' | 'dependsOn' | 'providers'>;

/** What a resource has on servers. */
export function heldAccounts(service: Named, name: string, spec: ServiceSpec): HeldAccount[] {
  const { database, broker, identity } = accountsOf(service, name, spec);
  const { databases = [], messaging } = service;
  const accounts = { database, broker, identity };
  return [
    ...databases.map(
      (one): HeldAccount => ({
        capability: 'database',
        what: `database ${databaseName(accounts, one.name)}`,
        way: 'spec.database.names',
        shared: {},
      }),
    ),
    ...(databases.length === 0 ? [] : database.users).map(
      (user): HeldAccount => ({
        capability: 'database',
        what: `user ${user.name} of the database server`,
        way: user.user === undefined ? 'spec.database.user' : `spec.database.users.${user.user}.user`,
        shared: { bySecret: user.secret },
      }),
    ),
    ...(messaging === true
      ? ([
          {
            capability: 'broker',
            what: `virtual host ${broker.vhost}`,
            way: 'spec.messageQueue.vhost',
            // Each kind has queues of its own names: one virtual host of all is what kolla-ansible makes.
            shared: { byKinds: true },
          },
        ] satisfies HeldAccount[])
      : []),
    ...(messaging !== undefined && uses(service, 'broker', spec)
      ? ([
          {
            capability: 'broker',
            what: `user ${broker.user} of the broker`,
            way: 'spec.messageQueue.user',
            shared: { bySecret: broker.secret },
          },
        ] satisfies HeldAccount[])
      : []),
    ...identity.users.map(
      (user, index): HeldAccount => ({
        capability: 'identity',
        what: `${userTitle(user)} in Keystone`,
        way: index === 0 ? 'spec.identity.userName' : `spec.identity.users.${user.user.name}.userName`,
        shared: { bySecret: user.secret },
      }),
    ),
    ...identity.domains.map(
      (domain): HeldAccount => ({
        capability: 'identity',
        what: `domain ${domain.name} in Keystone`,
        way: 'spec.identity.domains',
        shared: {},
      }),
    ),
  ];
}

/** What a resource has on the same server as its twin, under the same name. */
export function commonAccounts(held: readonly HeldAccount[], { held: its, shared }: Pick<Twin, 'held' | 'shared'>) {
  return held.filter(({ capability, what }) => shared.includes(capability) && its.some((one) => one.what === what));
}

/** Databases of one service that have the same name: each would write its tables over those of the other. */
export function equalDatabases(service: Named, name: string, spec: ServiceSpec): Problem | undefined {
  const { database, broker, identity } = accountsOf(service, name, spec);
  const names = (service.databases ?? []).map((one) => [
    one.name,
    databaseName({ database, broker, identity }, one.name),
  ]);
  for (const [one, is] of names) {
    const equal = names.filter(([other, its]) => other !== one && its === is).map(([other]) => other);
    if (equal.length === 0) continue;
    const message = `spec.database.names: ${[one, ...equal].join(' and ')} are both ${is}: each needs a database of its own; create this one again with other names`;
    return { reason: 'SpecRefused', message };
  }
  return undefined;
}

/** Whether a resource of a kind and its twin may both have it. */
function isAgreed({ what, shared: { byKinds = false, bySecret } }: HeldAccount, twin: Twin, kind: string): boolean {
  const its = twin.held.find((one) => one.what === what);
  return (byKinds && twin.kind !== kind) || (bySecret !== undefined && bySecret === its?.shared.bySecret);
}

/** Secrets with passwords of users that another resource logs in as, too, by the same Secret. */
export function sharedSecrets(
  service: Named,
  name: string,
  spec: ServiceSpec,
  twins: readonly Twin[],
): ReadonlySet<string> {
  const held = heldAccounts(service, name, spec);
  const secrets = twins.flatMap((twin) =>
    commonAccounts(held, twin).flatMap(({ what, shared: { bySecret } }) => {
      const its = twin.held.find((one) => one.what === what);
      return bySecret !== undefined && bySecret === its?.shared.bySecret ? [bySecret] : [];
    }),
  );
  return new Set(secrets);
}

/** Milliseconds between two looks at a resource that has what is another one's: it may have been deleted. */
const takenAgain = 60_000;

/** Why a resource is not to be touched: what it would make is an older one's, and each would break the other. */
export function takenProblem(
  service: Named & { readonly kind: { readonly kind: string } },
  name: string,
  spec: ServiceSpec,
  twins: readonly Twin[],
): Problem | undefined {
  const held = heldAccounts(service, name, spec);
  for (const twin of twins) {
    if (twin.isOlder && twin.shared.includes('nodes')) {
      const message = `${twin.kind} ${twin.name} of this namespace claims the nodes that the agents of this one need; a namespace has one ${twin.kind} beside those of control planes: delete this one, or create it in another namespace`;
      return { reason: 'NodesTaken', message, requeueAfter: takenAgain };
    }
    const common = twin.isOlder ? commonAccounts(held, twin) : [];
    const taken = common.filter((one) => !isAgreed(one, twin, service.kind.kind));
    if (taken.length === 0) continue;
    const whats = taken.map(({ what }) => what).join(', ');
    const ways = [...new Set(taken.map(({ way }) => way))].join(', ');
    const users = taken.filter(({ shared }) => shared.bySecret !== undefined);
    const together = users.length === taken.length ? ', name the Secret of its password in both' : '';
    const message = `${whats}: ${twin.kind} ${twin.name} of this namespace uses the same; create this one again with other names (${ways})${together}, or delete the other one`;
    return { reason: 'AccountTaken', message, requeueAfter: takenAgain };
  }
  return undefined;
}
