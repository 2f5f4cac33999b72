import {
  authtoken,
  cache,
  client,
  database,
  logging,
  messaging,
  proxied,
  sections,
  trustOfApis,
} from '../../engine/configuration/sections.ts';
import { nightly } from '../../engine/objects/schedule.ts';
import { type Component, usualProcesses } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService, type Schedule } from '../../engine/vocabulary/service.ts';
import type { Layer } from '../../oslo/layers.ts';
import { secretReference } from '../../oslo/references.ts';
import { Heat } from './kind.ts';

const admin = 'heat_domain_admin';

/** Stacks: an API, one for signals of their servers, and engines that do the work. */
export const heat = defineService<Heat>({
  kind: Heat,
  offers: { heatRef: {} },
  child: {
    field: 'heat',
    phase: 'ExtendedServices',
    description: 'Orchestration.',
    optional: true,
    fields: ({ own, publicDomain }) => ({
      cfnPublicHostname: own['cfnPublicHostname'] ?? `heat-cfn.${publicDomain}`,
    }),
  },
  name: 'heat',
  user: 'heat',
  dependsOn: { databaseRef: 'steps', messageQueueRef: 'steps', cacheRef: 'steps', keystoneRef: 'start' },
  databases: [{ name: 'heat' }],
  // The APIs ask the engine for everything.
  connections: () => ({ engine: { launched: true, pools: 1 } }),
  messaging: true,
  identity: {
    users: [
      { name: 'heat', roles: ['admin', 'service'], owns: 'trusts of users of stacks' },
      { name: admin, domain: 'heat', roles: ['admin'] },
    ],
    roles: ['heat_stack_owner', 'heat_stack_user'],
    domains: [{ name: 'heat', description: 'Users and projects of stacks' }],
    catalogue: [
      {
        type: 'orchestration',
        name: 'heat',
        description: 'OpenStack Orchestration',
        component: 'api',
        port: 'api',
        path: '/v1/%(project_id)s',
      },
      {
        type: 'cloudformation',
        name: 'heat-cfn',
        description: 'OpenStack Orchestration, signals of servers',
        component: 'cfn',
        port: 'cfn',
        path: '/v1',
      },
    ],
  },
  heldBy: {
    counts: [{ of: 'stacks', lists: ['/stacks?global_tenant=true&show_hidden=true&limit=1000'] }],
    unlessRule: 'stacks:global_index',
  },
  owned: {
    DEFAULT: {
      auth_encryption_key: 'spec.authEncryptionKeySecretName',
      heat_metadata_server_url: 'spec.cfnPublicHostname',
      heat_waitcondition_server_url: 'spec.cfnPublicHostname',
      stack_domain_admin: `spec.identity.users.${admin}.userName`,
      stack_domain_admin_password: `spec.identity.users.${admin}.secretName`,
      stack_user_domain_name: 'spec.identity.domains.heat',
      stack_user_domain_id: 'spec.identity.domains.heat',
    },
  },
  retainedSecrets: ['auth-encryption-key'],
  secrets: ({ spec, named }) =>
    spec.authEncryptionKeySecretName === undefined
      ? [
          {
            suffix: 'auth-encryption-key',
            values: { key: { type: 'password', length: 32 } },
            secretClass: 'keyMaterial',
            guards: { kind: 'Job', name: named('db-sync'), data: 'the credentials of stacks' },
          },
        ]
      : [],
  lasting: ({ spec, named }) => ({
    'spec.authEncryptionKeySecretName': spec.authEncryptionKeySecretName ?? named('auth-encryption-key'),
  }),
  config: (context) => ({
    main: { '/etc/heat/heat.conf': { oslo: sections(files(context), proxied) } },
    engine: {
      '/etc/heat/heat.conf': { oslo: sections(files(context), { DEFAULT: { num_engine_workers: usualProcesses } }) },
    },
  }),
  components: (context) => ({
    api: { ...application('api', 8004), exposed: 'api' },
    cfn: cfnOf(context),
    engine: {
      workload: 'Deployment',
      image: 'heat-engine',
      replicas: context.spec.engineReplicas ?? 1,
      config: 'engine',
      runs: { command: ['heat-engine'] },
      workers: { section: 'DEFAULT', option: 'num_engine_workers' },
      health: { connected: 'heat-engine', to: [`${context.broker.host}:${context.broker.port}`] },
      // A step of a stack that is under way is finished, or another engine finds it abandoned.
      graceSeconds: 70,
      resources: { cpu: '50m', memory: '512Mi' },
    },
  }),
  migrate: () => ({ image: 'heat-api', sync: ['heat-manage', 'db_sync'] }),
  schedules: (context) => [housekeeping(context)],
});

function application(name: 'api' | 'cfn', port: number): Component {
  return {
    workload: 'Deployment',
    image: name === 'api' ? 'heat-api' : 'heat-api-cfn',
    runs: { wsgi: `heat.wsgi.${name}:application`, threads: 1 },
    ports: { [name]: port },
    health: { get: '/healthcheck', port: name },
    reachable: 'anyone',
    resources: { cpu: '50m', memory: '256Mi' },
  };
}

/** Both APIs cannot have the same host name: without one of its own it is reached inside alone. */
function cfnOf({ spec }: Context<Heat>): Component {
  const { cfnPublicHostname: publicHostname } = spec;
  return { ...application('cfn', 8000), ...(publicHostname === undefined ? {} : { exposed: 'cfn', publicHostname }) };
}

function files(context: Context<Heat>): Layer {
  const { spec, named, identity, region } = context;
  const user = context.user(admin);
  const { region_name: _region, cafile: _authority, ...login } = client(context);
  const signals = context.publicUrl('cfn', cfnOf(context)) ?? `http://${context.host('cfn')}:8000`;
  return sections(logging, database(context, 'heat'), authtoken(context), cache(context), messaging(context), {
    DEFAULT: {
      auth_encryption_key: secretReference(
        spec.authEncryptionKeySecretName ?? named('auth-encryption-key'),
        'key',
        'oslo',
      ),
      heat_metadata_server_url: signals,
      heat_waitcondition_server_url: `${signals}/v1/waitcondition`,
      region_name_for_services: region,
      // Servers are told where Keystone is, and are outside of the cluster.
      server_keystone_endpoint_type: 'public',
      stack_user_domain_name: user.domain ?? null,
      stack_domain_admin: user.login,
      stack_domain_admin_password: secretReference(user.secret, 'password', 'oslo'),
    },
    // Without a project: a trust is the scope.
    trustee: { ...login, project_name: null, project_domain_name: null },
    clients: { endpoint_type: 'internalURL', ...trustOfApis(context, 'ca_file') },
    clients_keystone: { auth_uri: identity.internalUrl },
    ec2authtoken: { auth_uri: identity.internalUrl, ...trustOfApis(context, 'ca_file') },
  });
}

/** Rows of deleted stacks, 20 stacks a transaction: one that fails is tried again the next night. */
function housekeeping(context: Context<Heat>): Schedule {
  const { schedule, suspend = false, purgeAfterDays = 30 } = context.spec.housekeeping ?? {};
  return {
    suffix: 'db-purge',
    image: 'heat-api',
    runs: [{ name: 'db-purge', command: ['heat-manage', 'purge_deleted', '-g', 'days', String(purgeAfterDays)] }],
    cron: schedule ?? nightly(context, 'db-purge'),
    suspend,
    deadlineSeconds: 3600,
  };
}
