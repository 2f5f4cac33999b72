import type { Component } from '../../engine/vocabulary/component.ts';
import { ovsdbPeer } from '../../engine/vocabulary/connected.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import { ovnOf } from '../../infrastructure/ovn/address.ts';
import { certificateMounts, configSets, heartbeatPort, keyMaterial, socketFolder } from './configuration.ts';
import { Octavia } from './kind.ts';

/** Load balancers: an API with the agent of its providers, and what looks after servers of the provider amphora. */
export const octavia = defineService<Octavia>({
  kind: Octavia,
  offers: { octaviaRef: {} },
  child: { field: 'octavia', phase: 'ExtendedServices', description: 'Load balancers.', optional: true },
  name: 'octavia',
  user: 'octavia',
  dependsOn: {
    databaseRef: 'steps',
    messageQueueRef: 'steps',
    cacheRef: 'steps',
    keystoneRef: 'start',
    ovnRef: 'start',
    neutronRef: 'steps',
  },
  databases: [{ name: 'octavia' }],
  connections: ({ amphora }) => ({
    // The agent forks a process for what each socket is told.
    api: { others: 6, pools: 1 },
    ...(amphora === undefined
      ? {}
      : { worker: { processes: 2, pools: 1 }, 'health-manager': { processes: 3, pools: 1 } }),
    housekeeping: { processes: 1, pools: 1 },
  }),
  messaging: true,
  identity: {
    users: [
      { name: 'octavia', roles: ['admin', 'service'], owns: 'key pairs, and access to certificates in Barbican' },
    ],
    roles: ['observer', 'global_observer', 'member', 'admin', 'quota_admin'].map((role) => `load-balancer_${role}`),
    catalogue: [
      {
        type: 'load-balancer',
        name: 'octavia',
        description: 'OpenStack Load Balancing',
        component: 'api',
        port: 'api',
        path: '',
      },
    ],
  },
  heldBy: {
    counts: [
      {
        of: 'load balancers',
        lists: ['/v2/lbaas/loadbalancers?limit=1000'],
        items: 'loadbalancers',
        rules: [
          'os_load-balancer_api:loadbalancer:get_all-global',
          'load-balancer:read-global',
          'load-balancer:global_observer',
          'load-balancer:admin',
        ],
      },
    ],
  },
  owned: {
    DEFAULT: { host: 'nothing: queues are named after it' },
    api_settings: { default_provider_driver: 'spec.provider', enabled_provider_drivers: 'spec.amphora' },
    controller_worker: {
      amp_boot_network_list: 'spec.amphora.managementNetworkID',
      amp_flavor_id: 'spec.amphora.flavorID',
      amp_image_owner_id: 'spec.amphora.imageOwnerID',
      amp_image_tag: 'spec.amphora.imageTag',
      amp_secgroup_list: 'spec.amphora.securityGroupIDs',
      amp_ssh_key_name: 'spec.amphora.keyPairName',
      loadbalancer_topology: 'spec.amphora.topology',
    },
    driver_agent: Object.fromEntries(
      ['status', 'stats', 'get'].map((name) => [
        `${name}_socket_path`,
        'nothing: the libraries of providers look for it where it is',
      ]),
    ),
    health_manager: {
      bind_ip: 'nothing: pods listen at all of their addresses',
      bind_port: 'nothing: the port is the same everywhere',
      controller_ip_port_list: 'spec.amphora.controllerAddresses',
    },
    house_keeping: {
      amphora_expiry_age: 'spec.housekeeping.purgeAfterDays',
      load_balancer_expiry_age: 'spec.housekeeping.purgeAfterDays',
    },
    neutron: { endpoint_override: 'spec.neutronRef' },
  },
  retainedSecrets: ['server-ca', 'client-ca', 'amphora-keys'],
  secrets: keyMaterial,
  config: configSets,
  components: (context) => ({
    api: api(context),
    ...(context.spec.amphora === undefined
      ? {}
      : { worker: worker(context), 'health-manager': healthManager(context) }),
    // Rows of deleted load balancers stay until it removes them, whatever their provider.
    housekeeping: controller(context, 'housekeeping'),
  }),
  migrate: () => ({ image: 'octavia-api', sync: ['octavia-db-manage', 'upgrade', 'head'] }),
});

/** Providers tell the agent what has become of load balancers; without its sockets the API does not start. */
function api(context: Context<Octavia>): Component {
  const ovn = ovnOf(context);
  return {
    workload: 'Deployment',
    image: 'octavia-api',
    runs: { wsgi: 'octavia.api.app:setup_app()', threads: 1 },
    ports: { api: 9876 },
    health: { get: '/healthcheck', port: 'api' },
    exposed: 'api',
    reachable: 'anyone',
    mounts: [{ path: socketFolder, scratch: true }],
    resources: { cpu: '50m', memory: '384Mi' },
    sidecars: [
      {
        name: 'driver-agent',
        image: 'octavia-driver-agent',
        runs: { command: ['octavia-driver-agent'] },
        // Of its processes the provider's alone is connected to OVN; it is found by its title.
        health: {
          connected: 'octavia-driver-agent - provider_agent',
          to: [ovsdbPeer(ovn.northbound), ovsdbPeer(ovn.southbound)],
        },
        resources: { cpu: '25m', memory: '384Mi' },
      },
    ],
  };
}

function controller(context: Context<Octavia>, name: 'worker' | 'health-manager' | 'housekeeping'): Component {
  return {
    workload: 'Deployment',
    image: `octavia-${name}`,
    config: 'controller',
    runs: { command: [`octavia-${name}`] },
    health: { connected: `octavia-${name}`, to: [] },
    mounts: certificateMounts(context),
    resources: { cpu: '25m', memory: '256Mi' },
  };
}

function worker(context: Context<Octavia>): Component {
  const { spec, broker, named } = context;
  return {
    ...controller(context, 'worker'),
    replicas: spec.workerReplicas ?? 1,
    health: { connected: 'octavia-worker', to: [`${broker.host}:${broker.port}`] },
    // A queue is named after it: those of replaced pods would stay in the broker.
    env: { OS_DEFAULT__HOST: named('worker') },
    // What it is making is finished, or its load balancer stays in PENDING_CREATE.
    graceSeconds: 300,
  };
}

/** Servers are outside of the cluster: they send heartbeats, each signed with the key that they were made with. */
function healthManager(context: Context<Octavia>): Component {
  return {
    ...controller(context, 'health-manager'),
    replicas: context.spec.healthManagerReplicas ?? 1,
    ports: { heartbeat: heartbeatPort },
    udp: ['heartbeat'],
    exposed: 'heartbeat',
    reachable: 'anyone',
  };
}
