import { endpointsOf } from '../../engine/endpoint.ts';
import type { Keeping } from '../../engine/keeping.ts';
import { recordsFile } from '../../engine/records.ts';
import { secretReference } from '../../oslo/references.ts';

/** Service user, roles, service and endpoints in Keystone (`<name>-endpoint-create`), its own ones as well. */
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
    const { user, serviceName, secret } = context.accounts.identity;
    const password = secretReference(secret, 'password', 'quoted');
    return recordsFile({
      url: internalUrl,
      username: admin.user('quoted'),
      password: admin.password('quoted'),
      project: admin.project('quoted'),
      userDomain: admin.userDomain('quoted'),
      projectDomain: admin.projectDomain('quoted'),
      projects: [{ name: 'service', description: 'Users of the services' }],
      roles: [...new Set(['admin', 'service', ...identity.roles])].map((role) => ({ name: role })),
      users: identity.user === undefined ? [] : [{ name: user, password, project: 'service', roles: identity.roles }],
      services: identity.catalogue.map((entry, index) => {
        const { internal, public: outside } = endpointsOf(service, context, components, entry);
        const { type, name, description } = entry;
        const endpoints = { region: context.region, internal, public: outside, admin: internal };
        return { type, name: index === 0 ? serviceName : name, description, endpoints };
      }),
    });
  },
  things({ service, context: { accounts, region } }, shared) {
    const { user, serviceName } = accounts.identity;
    const [, ...others] = service.identity?.catalogue ?? [];
    const names = [serviceName, ...others.map(({ name }) => name)];
    const endpoints = `endpoints of ${names.join(', ')} in region ${region} of Keystone`;
    return shared ? endpoints : `user ${user} and ${endpoints}`;
  },
};
