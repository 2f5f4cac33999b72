import { trustByVariable } from '../../engine/configuration/sections.ts';
import { databaseName } from '../../engine/vocabulary/accounts.ts';
import type { DataSource } from '../../engine/vocabulary/config-files.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import { identityTrust, trustedBy } from '../../engine/vocabulary/trust.ts';
import { secretReference } from '../../oslo/references.ts';
import { Adjutant } from './kind.ts';

/** Self-service: an API that makes users and projects in Keystone, and grants roles, by rules and for whoever was approved. */
export const adjutant = defineService<Adjutant>({
  kind: Adjutant,
  child: {
    field: 'adjutant',
    phase: 'ExtendedServices',
    description: 'Self-service of users and projects.',
    optional: true,
    fields: ({ own, publicDomain }) => ({ horizonURL: own['horizonURL'] ?? `https://horizon.${publicDomain}/` }),
  },
  name: 'adjutant',
  user: 'adjutant',
  dependsOn: { databaseRef: 'steps', keystoneRef: 'start' },
  secrets: () => [
    { suffix: 'secret-key', values: { 'secret-key': { type: 'password', length: 64 } }, secretClass: 'credential' },
  ],
  databases: [{ name: 'adjutant' }],
  connections: () => ({ api: { pools: 1 } }),
  identity: {
    users: [{ name: 'adjutant', roles: ['admin'] }],
    roles: ['project_admin', 'project_mod'],
    catalogue: [
      {
        type: 'admin-logic',
        name: 'adjutant',
        description: 'OpenStack Admin Logic',
        component: 'api',
        port: 'api',
        path: '/v1',
      },
    ],
  },
  config: (context) => ({ main: { '/etc/adjutant/adjutant.yaml': settings(context) } }),
  components: (context) => ({
    api: {
      workload: 'Deployment',
      image: 'adjutant',
      // Whoever asks for a new password, without a token, holds a thread for three seconds.
      runs: { wsgi: 'adjutant.wsgi:application', threads: 4 },
      // 5050, the port in its documentation, is that of Ironic's inspector.
      ports: { api: 5051 },
      // It has no /healthcheck; the versions need no token.
      health: { get: '/', port: 'api' },
      exposed: 'api',
      reachable: 'anyone',
      // Its clients have no option for it.
      env: trustByVariable(context),
      mounts: identityTrust(context),
      resources: { cpu: '50m', memory: '256Mi' },
    },
  }),
  migrate: () => ({ image: 'adjutant', sync: ['adjutant-api', 'migrate'] }),
  problems: ({ spec }) =>
    spec.horizonURL === undefined
      ? {
          ConfigReady: {
            reason: 'ConfigRefused',
            message:
              'spec.horizonURL: missing, and Adjutant does not start without it; state the URL of the dashboard that links in mails lead to',
          },
        }
      : {},
});

/** Upstream's defaults: users of a project manage its users. */
const delegateApis = ['UserRoles', 'UserDetail', 'UserResetPassword', 'UserList', 'RoleList'];

/** Facts: adjutant/config of python-adjutant 10.0.0; what is left out has upstream's defaults. */
function settings(context: Context<Adjutant>): DataSource {
  const { spec, named, accounts, database, identity, region } = context;
  const [{ name: databaseUser, secret: databaseSecret }] = accounts.database.users;
  const { user, name: username, secret } = context.user();
  const { enableSignup = true, horizonURL = '' } = spec;
  const administrators = { blacklisted_roles: ['admin'] };
  return {
    format: 'yaml',
    data: {
      django: {
        secret_key: secretReference(named('secret-key'), 'secret-key'),
        debug: false,
        // Probes come to the pod's address; of the header nothing follows but links in the list of versions.
        allowed_hosts: ['*'],
        databases: {
          default: {
            ENGINE: 'django.db.backends.mysql',
            HOST: database.host,
            PORT: database.port,
            NAME: databaseName(accounts, 'adjutant'),
            USER: databaseUser,
            PASSWORD: secretReference(databaseSecret, 'password'),
            ...(database.trust === undefined ? {} : { OPTIONS: { ssl: { ca: trustedBy('database') } } }),
          },
        },
        // Upstream's default prints mails, and with them the tokens that set passwords.
        email: { email_backend: 'django.core.mail.backends.dummy.EmailBackend' },
        logging: {
          version: 1,
          disable_existing_loggers: false,
          handlers: { console: { class: 'logging.StreamHandler' } },
          root: { handlers: ['console'], level: 'INFO' },
        },
      },
      identity: {
        auth: {
          auth_url: identity.internalUrl,
          interface: 'internal',
          username,
          password: secretReference(secret, 'password'),
          project_name: user.project ?? 'service',
        },
      },
      api: {
        active_delegate_apis: [...delegateApis, ...(enableSignup ? ['SignUp'] : [])],
        delegate_apis: {
          SignUp: { default_region: region },
          UserDetail: administrators,
          UserList: administrators,
          UserRoles: administrators,
        },
      },
      workflow: {
        horizon_url: horizonURL,
        action_defaults: {
          // Without them whoever has signed up could do nothing.
          NewProjectWithUserAction: { default_roles: ['member', 'project_admin'] },
          ResetUserPasswordAction: administrators,
        },
      },
    },
    owned: {
      'django.secret_key': 'nothing: a key is generated',
      'django.databases': 'spec.databaseRef',
      'identity.auth': 'spec.keystoneRef',
      'workflow.horizon_url': 'spec.horizonURL',
    },
  };
}
