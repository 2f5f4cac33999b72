import { accountsOf, databaseName, userTitle } from './accounts.ts';
import type { Capability, Service } from './service.ts';
import type { Problem } from './step.ts';
import type { ServiceSpec, Twin } from './surroundings.ts';

/** An account, database or virtual host that a resource and its twin have under the same name on the same server. */
interface CommonAccount {
  /** Of what it is one. */
  readonly capability: Capability;
  /** In words. */
  readonly what: string;
  /** The field of the spec that names it, which is immutable. */
  readonly way: string;
  /** Whether both take its password from the same Secret, and so get along. */
  readonly agreed: boolean;
}

type Named = Pick<Service, 'name' | 'databases' | 'messaging' | 'identity'>;

/** What a resource has in common with its twin. */
export function commonAccounts(service: Named, name: string, spec: ServiceSpec, twin: Twin): CommonAccount[] {
  const mine = accountsOf(service, name, spec);
  const its = accountsOf(service, twin.name, twin.spec);
  const names = (service.databases ?? []).map((database) => databaseName(mine, database.name));
  const theirs = new Set((service.databases ?? []).map((database) => databaseName(its, database.name)));
  const common: CommonAccount[] = names
    .filter((one) => theirs.has(one))
    .map((one) => ({ capability: 'database', what: `database ${one}`, way: 'spec.database.names', agreed: false }));
  const agreed = (one: { secret: string }, other: { secret: string }) => one.secret === other.secret;
  for (const user of service.databases === undefined ? [] : mine.database.users) {
    const same = its.database.users.find(({ name }) => name === user.name);
    if (same === undefined) continue;
    common.push({
      capability: 'database',
      what: `user ${user.name} of the database server`,
      way: user.user === undefined ? 'spec.database.user' : `spec.database.users.${user.user}.user`,
      agreed: agreed(user, same),
    });
  }
  if (service.messaging === true && mine.broker.vhost === its.broker.vhost)
    common.push({
      capability: 'broker',
      what: `virtual host ${mine.broker.vhost}`,
      way: 'spec.messageQueue.vhost',
      agreed: false,
    });
  if (service.messaging === true && mine.broker.user === its.broker.user)
    common.push({
      capability: 'broker',
      what: `user ${mine.broker.user} of the broker`,
      way: 'spec.messageQueue.user',
      agreed: agreed(mine.broker, its.broker),
    });
  for (const [index, user] of mine.identity.users.entries()) {
    const same = its.identity.users.find(({ name, domain }) => name === user.name && domain === user.domain);
    if (same === undefined) continue;
    common.push({
      capability: 'identity',
      what: `${userTitle(user)} in Keystone`,
      way: index === 0 ? 'spec.identity.userName' : `spec.identity.users.${user.user.name}.userName`,
      agreed: agreed(user, same),
    });
  }
  return common.filter(({ capability }) => twin.shared.includes(capability));
}

/** Milliseconds between two looks at a resource that has what is another one's: it may have been deleted. */
const takenAgain = 60_000;

/** Why a resource is not to be touched: what it would make is an older one's, and each would break the other. */
export function takenProblem(
  service: Named,
  name: string,
  spec: ServiceSpec,
  twins: readonly Twin[],
): Problem | undefined {
  for (const twin of twins) {
    if (twin.isOlder && twin.shared.includes('nodes')) {
      const message = `${twin.kind} ${twin.name} of this namespace claims the nodes that the agents of this one need; a namespace has one ${twin.kind} beside those of control planes: delete this one, or create it in another namespace`;
      return { reason: 'NodesTaken', message, requeueAfter: takenAgain };
    }
    const taken = twin.isOlder ? commonAccounts(service, name, spec, twin).filter(({ agreed }) => !agreed) : [];
    if (taken.length === 0) continue;
    const whats = taken.map(({ what }) => what).join(', ');
    const ways = [...new Set(taken.map(({ way }) => way))].join(', ');
    const message = `${whats}: ${twin.kind} ${twin.name} of this namespace uses the same; create this one again with other names (${ways}), or delete the other one`;
    return { reason: 'AccountTaken', message, requeueAfter: takenAgain };
  }
  return undefined;
}
