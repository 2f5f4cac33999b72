import { endpointsOf } from '../../engine/objects/endpoint.ts';
import { type UserAccount, userTitle } from '../../engine/vocabulary/accounts.ts';
import { titleOf } from '../../engine/vocabulary/cloud-resources.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { Keeping } from '../../engine/vocabulary/keeping.ts';
import { recordsFile } from '../../engine/vocabulary/records.ts';
import { authorityOf } from '../../engine/vocabulary/trust.ts';
import { secretReference } from '../../oslo/references.ts';

/** What a service has in Keystone: domains, users, roles, services, endpoints (`<name>-endpoint-create`); its own ones as well. */
export const identityRecords: Keeping = {
  suffix: 'endpoint-create',
  step: 'EndpointReady',
  target: 'keystone',
  holds: 'registration',
  concerns: ({ identity }) => identity !== undefined,
  list({ service, context, components }) {
    const { identity } = service;
    if (identity === undefined) throw new Error(`${service.name} has no identity`);
    const { internalUrl, admin } = context.identity;
    const { users, domains, serviceName } = context.accounts.identity;
    const { implied = [] } = identity;
    const idle = users.flatMap((user) => idleUsers(user, context));
    const roles = [
      ...users.flatMap(({ user }) => [...user.roles, ...(user.systemRoles?.(context.spec) ?? [])]),
      ...(identity.roles ?? []),
      ...implied.flatMap(({ role, implies }) => [role, implies]),
    ];
    return recordsFile({
      url: internalUrl,
      ...authorityOf(context.identity),
      username: admin.user('quoted'),
      password: admin.password('quoted'),
      project: admin.project('quoted'),
      userDomain: admin.userDomain('quoted'),
      projectDomain: admin.projectDomain('quoted'),
      ...(domains.length === 0 ? {} : { domains }),
      projects: [{ name: 'service', description: 'Users of the services' }],
      roles: [...new Set(['admin', 'service', ...roles])].map((name) => ({ name })),
      ...(implied.length === 0 ? {} : { impliedRoles: implied }),
      users: users.flatMap((user) => usersIn(user, context).map((one) => userRecord(one, context))),
      ...(idle.length === 0 ? {} : { idleUsers: idle }),
      services: identity.catalogue.map((entry, index) => {
        const { internal, public: outside } = endpointsOf(service, context, components, entry);
        const { type, name, description } = entry;
        const endpoints = { region: context.region, internal, public: outside, admin: internal };
        const limits = entry.limits?.(context.spec) ?? {};
        return {
          type,
          name: index === 0 ? serviceName : name,
          description,
          endpoints,
          ...(Object.keys(limits).length === 0 ? {} : { limits }),
        };
      }),
    });
  },
  told: ({ service, context }) =>
    (service.identity?.catalogue ?? []).flatMap(({ type, limits }) =>
      Object.keys(limits?.(context.spec) ?? {}).length === 0 ? [] : [titleOf({ kind: 'endpoint', name: type })],
    ),
  things({ service, context: { accounts, region } }, shared) {
    const { users, domains, serviceName } = accounts.identity;
    const [, ...others] = service.identity?.catalogue ?? [];
    const names = [serviceName, ...others.map(({ name }) => name)];
    const endpoints = `endpoints of ${names.join(', ')} in region ${region} of Keystone`;
    const logins = [...users.map(userTitle), ...domains.map(({ name }) => `domain ${name}`)];
    return shared || logins.length === 0 ? endpoints : `${logins.join(', ')} and ${endpoints}`;
  },
};

/** The user, and while its password is rotated the one whose turn it was, with the password before. */
function usersIn(account: UserAccount, { previousOf }: Context): UserAccount[] {
  const previous = previousOf(account.secret);
  return [
    ...(previous === undefined
      ? []
      : [{ ...account, name: account.nameIn(previous.generation), secret: previous.secret }]),
    account,
  ];
}

/** Of the two users those that wait for their turn: nobody logs in as they, be they left by an earlier resource. */
function idleUsers(account: UserAccount, context: Context): object[] {
  if (context.isShared(account.secret)) return [];
  const { domain, nameIn } = account;
  const inUse = usersIn(account, context).map(({ name }) => name);
  return [...new Set([1, 2].map(nameIn))]
    .filter((name) => !inUse.includes(name))
    .map((name) => ({ name, ...(domain === undefined ? {} : { domain }) }));
}

function userRecord({ user, name, domain, secret }: UserAccount, { spec }: Context): object {
  const { roles, systemRoles: onSystem, project = 'service' } = user;
  const password = secretReference(secret, 'password', 'quoted');
  const systemRoles = onSystem?.(spec) ?? [];
  return {
    name,
    password,
    ...(domain === undefined ? { project } : { domain }),
    roles,
    ...(systemRoles.length === 0 ? {} : { systemRoles }),
  };
}
