import {
  authtoken,
  client,
  database,
  logging,
  messaging,
  proxied,
  sections,
  trustOfApis,
} from '../../engine/configuration/sections.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import type { Layer } from '../../oslo/layers.ts';
import { Blazar } from './kind.ts';

/** The aggregate of hosts that may be reserved, and are not at the moment. */
const freePool = 'freepool';

/** Those of Nova by default, those that servers in reservations need, and the one that keeps other servers away from reserved hosts. */
const filters = [
  'ComputeFilter',
  'ComputeCapabilitiesFilter',
  'ImagePropertiesFilter',
  'ServerGroupAntiAffinityFilter',
  'ServerGroupAffinityFilter',
  'AggregateInstanceExtraSpecsFilter',
  'AggregateMultiTenancyIsolation',
  'BlazarFilter',
];

/** Leases of hosts and servers: an API, which asks the manager for everything. */
export const blazar = defineService<Blazar>({
  kind: Blazar,
  offers: { blazarRef: {} },
  child: { field: 'blazar', phase: 'ExtendedServices', description: 'Reservations.', optional: true },
  name: 'blazar',
  user: 'blazar',
  dependsOn: {
    databaseRef: 'steps',
    messageQueueRef: 'steps',
    cacheRef: 'steps',
    keystoneRef: 'start',
    novaRef: 'steps',
  },
  databases: [{ name: 'blazar' }],
  connections: () => ({ manager: { processes: 1, pools: 1 } }),
  messaging: true,
  identity: {
    users: [{ name: 'blazar', roles: ['admin', 'service'], owns: 'trusts of owners of leases' }],
    catalogue: [
      {
        type: 'reservation',
        name: 'blazar',
        description: 'OpenStack Reservation',
        component: 'api',
        port: 'api',
        path: '/v1',
      },
    ],
  },
  configures: {
    nova: () => ({
      'nova.conf': {
        filter_scheduler: {
          available_filters: [
            'nova.scheduler.filters.all_filters',
            'blazarnova.scheduler.filters.blazar_filter.BlazarFilter',
          ],
          enabled_filters: filters.join(','),
        },
      },
    }),
  },
  resources: () => [{ in: 'novaRef', kind: 'aggregate', name: freePool, attributes: {} }],
  owned: {
    DEFAULT: {
      os_admin_username: 'spec.identity.userName',
      os_admin_password: 'spec.identity.secretName',
      os_auth_host: 'spec.keystoneRef',
      os_auth_port: 'spec.keystoneRef',
      os_auth_prefix: 'spec.keystoneRef',
      os_auth_protocol: 'spec.keystoneRef',
      os_auth_version: 'spec.keystoneRef',
    },
    manager: { plugins: 'spec.enabledPlugins' },
    nova: { aggregate_freepool_name: "nothing: Nova's scheduler knows the aggregate by that name" },
  },
  config: (context) => ({ main: { '/etc/blazar/blazar.conf': { oslo: options(context) } } }),
  single: () => ['manager'],
  components: ({ spec, broker }) => ({
    api: {
      workload: 'Deployment',
      image: 'blazar-api',
      runs: { wsgi: 'blazar.api.wsgi_app:init_app()', threads: 1 },
      ports: { api: 1234 },
      // Without a token all of its paths answer 401.
      health: { tcp: 'api' },
      exposed: 'api',
      reachable: 'anyone',
      resources: { cpu: '50m', memory: '192Mi' },
    },
    manager: {
      workload: 'Deployment',
      image: 'blazar-manager',
      replicas: spec.managerReplicas ?? 1,
      runs: { command: ['blazar-manager'] },
      health: { connected: 'blazar-manager', to: [`${broker.host}:${broker.port}`] },
      strategy: 'Recreate',
      resources: { cpu: '25m', memory: '192Mi' },
    },
  }),
  migrate: () => ({
    image: 'blazar-manager',
    sync: ['blazar-db-manage', '--config-file', '/etc/blazar/blazar.conf', 'upgrade', 'head'],
  }),
});

/** It knows where Keystone is by the parts of its address. */
function options(context: Context<Blazar>): Layer {
  const { protocol, hostname, port, pathname } = new URL(context.identity.internalUrl);
  const { username, password, project_name, user_domain_name, project_domain_name, region_name } = client(context);
  return sections(logging, database(context, 'blazar'), authtoken(context), messaging(context), proxied, {
    DEFAULT: {
      os_auth_protocol: protocol.replace(':', ''),
      // Blazar puts an address of IPv6 in brackets itself.
      os_auth_host: hostname.replace(/^\[|\]$/g, ''),
      os_auth_port: port || (protocol === 'https:' ? '443' : '80'),
      // The path with the version in it: of both apart it makes an address with an empty part where there is no prefix.
      os_auth_prefix: pathname.replace(/^\/|\/$/g, ''),
      os_auth_version: '',
      os_admin_username: username ?? null,
      os_admin_password: password ?? null,
      os_admin_project_name: project_name ?? null,
      os_admin_user_domain_name: user_domain_name ?? null,
      os_admin_project_domain_name: project_domain_name ?? null,
      os_region_name: region_name ?? context.region,
      ...trustOfApis(context),
    },
    manager: {
      plugins: (context.spec.enabledPlugins ?? ['physical.host.plugin', 'virtual.instance.plugin']).join(','),
    },
  });
}
