import { internalEndpoint } from '../../engine/endpoint.ts';
import { exposureOf } from '../../engine/exposure.ts';
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
    const internal = internalEndpoint(service, context, components);
    const exposure = exposureOf({ namespace: context.namespace, spec: context.spec }, context.surroundings);
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
      services: [
        {
          type: identity.type,
          name: serviceName,
          description: identity.description,
          endpoints: {
            region: context.region,
            internal,
            public: exposure.type === 'route' ? `${exposure.url}${identity.endpoint.path}` : internal,
            admin: internal,
          },
        },
      ],
    });
  },
  things({ context: { accounts, region } }, shared) {
    const { user, serviceName } = accounts.identity;
    const endpoints = `endpoints of ${serviceName} in region ${region} of Keystone`;
    return shared ? endpoints : `user ${user} and ${endpoints}`;
  },
};
