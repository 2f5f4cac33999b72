import { cloudLabel } from '../../engine/names/names.ts';
import { hostOf } from '../../engine/vocabulary/addresses.ts';
import type { Component } from '../../engine/vocabulary/component.ts';
import { ovsdbPeer } from '../../engine/vocabulary/connected.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import type { Problem } from '../../engine/vocabulary/step.ts';
import { ovnOf } from '../../infrastructure/ovn/address.ts';
import type { OVNNetwork } from '../../infrastructure/ovn/kind.ts';
import {
  bridgesOf,
  localSwitch,
  metadataAgentConfiguration,
  ml2Configuration,
  serverConfiguration,
  unmappedRanges,
} from './configuration.ts';
import { Neutron } from './kind.ts';

/**
 * Networks, carried by OVN (phase 1 plan, task 17). The API runs under uwsgi; what the eventlet server did beside it
 * are workers of their own. There is no neutron-rpc-server, as OVN's agents read the southbound database and call nobody
 * (Neutron's config-wsgi.rst says so): agents of Open vSwitch without OVN, SR-IOV, DHCP, VPN, BGP and bare metal would need it.
 */
export const neutron = defineService<Neutron>({
  kind: Neutron,
  offers: {
    neutronRef: {
      address: (neutron) => hostOf(neutron, '-server'),
      resources: {
        network: { path: '/v2.0/networks', item: 'network', owned: true, change: 'PUT' },
        subnet: { path: '/v2.0/subnets', item: 'subnet', owned: true, change: 'PUT' },
      },
    },
  },
  bridges: (spec) => ({
    mappings: bridgesOf(spec),
    isDefault: spec.bridgeMappings === undefined && spec.externalBridge === undefined,
  }),
  child: { field: 'neutron', phase: 'CoreServices', description: 'The network service.' },
  name: 'neutron',
  user: 'neutron',
  dependsOn: {
    databaseRef: 'steps',
    messageQueueRef: 'steps',
    cacheRef: 'steps',
    keystoneRef: 'start',
    ovnRef: 'start',
    novaRef: 'name',
  },
  databases: [{ name: 'neutron' }],
  connections: () => ({
    server: { pools: 1 },
    'periodic-workers': { processes: 1, pools: 1 },
    'ovn-maintenance-worker': { processes: 2, pools: 1 },
  }),
  messaging: true,
  identity: {
    users: [{ name: 'neutron', roles: ['admin', 'service'] }],
    catalogue: [
      {
        type: 'network',
        name: 'neutron',
        description: 'OpenStack Networking',
        component: 'server',
        port: 'api',
        path: '',
      },
    ],
  },
  owned: {
    DEFAULT: {
      core_plugin: 'spec.mechanism',
      global_physnet_mtu: 'spec.physicalMTU',
      host: 'nothing: a host is named after its node',
      state_path: 'nothing: volumes are mounted there',
      nova_metadata_host: 'spec.novaRef',
      nova_metadata_port: 'spec.novaRef',
      metadata_proxy_shared_secret: 'spec.metadataSecretName',
      metadata_proxy_socket: "nothing: guests' requests arrive there",
    },
    ml2: { mechanism_drivers: 'spec.mechanism', tenant_network_types: 'spec.networkTypes' },
    ml2_type_flat: { flat_networks: 'spec.bridgeMappings' },
    ml2_type_vlan: { network_vlan_ranges: 'spec.vlanRanges' },
    ovs: { ovsdb_connection: 'nothing: the socket of the node is used' },
  },
  secrets: ({ spec }) =>
    spec.metadataSecretName === undefined
      ? [
          {
            suffix: 'metadata-secret',
            values: { password: { type: 'password', length: 32 } },
            secretClass: 'credential',
          },
        ]
      : [],
  // Its agents are on every chassis.
  usesNodes: true,
  // The chassis in OVN is deleted with them.
  forgetting: {
    of: 'agents',
    list: '/v2.0/agents?host={host}',
    items: 'agents',
    record: '/v2.0/agents/{id}',
    alive: ['alive', true],
  },
  groups: ({ reference }) => ((reference('ovnRef')?.['spec'] ?? {}) as OVNNetwork['spec']).nodeGroups ?? [],
  config: (context) => ({
    main: {
      '/etc/neutron/neutron.conf': { oslo: serverConfiguration(context) },
      '/etc/neutron/plugins/ml2/ml2_conf.ini': { oslo: ml2Configuration(context) },
    },
    'metadata-agent': { '/etc/neutron/neutron_ovn_metadata_agent.ini': { oslo: metadataAgentConfiguration(context) } },
  }),
  components: (context) => ({
    server: {
      workload: 'Deployment',
      image: 'neutron-server',
      // OVN's hash ring knows the workers of one server by the time at which uwsgi started, and waits for so many of them.
      runs: { wsgi: 'neutron.wsgi.api:application', threads: 1, ini: { 'start-time': '%t' } },
      workers: { section: 'DEFAULT', option: 'api_workers' },
      ports: { api: 9696 },
      health: { get: '/', port: 'api' },
      exposed: 'api',
      reachable: 'anyone',
      mounts: state,
      resources: { cpu: '50m', memory: '384Mi' },
    },
    // What it asks now and then, the database, it is connected to only while it asks.
    'periodic-workers': worker('neutron-periodic-workers', []),
    'ovn-maintenance-worker': worker('neutron-ovn-maintenance-worker', [
      ovsdbPeer(ovnOf(context).northbound),
      ovsdbPeer(ovnOf(context).southbound),
    ]),
    'metadata-agent': metadataAgent(context),
  }),
  migrate: () => ({
    image: 'neutron-server',
    mounts: state,
    sync: ['neutron-db-manage', ...files, 'upgrade', 'heads'],
    expand: [['neutron-db-manage', ...files, 'upgrade', '--expand']],
    check: ['neutron-status', ...files],
    contract: [['neutron-db-manage', ...files, 'upgrade', '--contract']],
  }),
  carriedBy: ['ovnRef'],
  problems: (context): Readonly<Record<string, Problem>> => {
    const messages = unmappedRanges(context);
    return messages.length === 0 ? {} : { ConfigReady: { reason: 'ConfigRefused', message: messages.join('; ') } };
  },
  needs: { WorkersReady: ['DeploymentReady'] },
  skips: (context) =>
    context.mention('novaRef') === undefined
      ? {
          AgentsReady: {
            reason: 'Skipped',
            message:
              'metadata agents are started as soon as spec.novaRef, or a Nova in this namespace, says which metadata service they use',
          },
        }
      : {},
});

const files = [
  '--config-file',
  '/etc/neutron/neutron.conf',
  '--config-file',
  '/etc/neutron/plugins/ml2/ml2_conf.ini',
] as const;

const state = [{ path: '/var/lib/neutron', scratch: true }] as const;

/** Begins after the API: OVN's hash ring, which says who handles an event, is empty until the API's workers are in it. */
function worker(program: string, to: readonly string[]): Component {
  return {
    workload: 'Deployment',
    step: 'WorkersReady',
    image: 'neutron-server',
    runs: { command: [program, ...files] },
    health: { connected: program, to },
    mounts: state,
    resources: { cpu: '25m', memory: '256Mi' },
  };
}

/**
 * Answers guests' questions about themselves, on their node. Namespaces and sockets are the node's: they outlive the
 * pod. It knows the shared secret and the southbound database, and no credential of database or broker.
 */
function metadataAgent(context: Context<Neutron>): Component {
  return {
    workload: 'DaemonSet',
    step: 'AgentsReady',
    image: 'neutron-metadata-agent',
    config: 'metadata-agent',
    nodeAgent: { nodes: { [cloudLabel]: context.cloud } },
    host: { network: true, privileged: true },
    init: [{ name: 'own-state', user: 'root', runs: { command: ['chown', '42435:42435', '/var/lib/neutron'] } }],
    runs: {
      // On a node that joins, its Open vSwitch is told who it is while this starts.
      script: `# Without a name of its chassis the agent fails for ever and does not end: its thread that reads Open vSwitch goes on.
until ovs-vsctl --db=${localSwitch} --timeout=5 --no-wait get open_vswitch . external_ids:system-id; do sleep 2; done
exec neutron-ovn-metadata-agent --config-file /etc/neutron/neutron_ovn_metadata_agent.ini
`,
    },
    // The socket outlives the program: only a connection that is alive says that somebody is behind it.
    health: { connected: 'neutron-ovn-metadata-agent', to: [ovsdbPeer(ovnOf(context).southbound)] },
    env: { OS_DEFAULT__HOST: { field: 'spec.nodeName' } },
    mounts: [
      { path: '/var/lib/neutron', host: 'DirectoryOrCreate', shared: true },
      { path: '/run/netns', host: 'DirectoryOrCreate', shared: true },
      { path: '/run/openvswitch', host: 'DirectoryOrCreate' },
    ],
    resources: { cpu: '25m', memory: '128Mi' },
  };
}
