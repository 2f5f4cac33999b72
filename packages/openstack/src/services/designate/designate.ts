import {
  authtoken,
  client,
  coordination,
  database,
  locks,
  logging,
  messaging,
  proxied,
  sections,
  trustOfApis,
} from '../../engine/configuration/sections.ts';
import { serviceHost } from '../../engine/names/names.ts';
import { apiUrl } from '../../engine/vocabulary/api-tls.ts';
import type { Component } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { PeerOptions } from '../../engine/vocabulary/peers.ts';
import { defineService, type Job } from '../../engine/vocabulary/service.ts';
import { dataClaim } from '../../infrastructure/data-claim.ts';
import type { Layer } from '../../oslo/layers.ts';
import { Designate, type DesignateSpec } from './kind.ts';
import { bindPorts, hasBind, keyMounts, mdnsPort, poolsOf } from './pools.ts';

const apiPort = 9001;

/** Zones: an API, what keeps and publishes them, and BIND, unless others have name servers of their own. */
export const designate = defineService<Designate>({
  kind: Designate,
  offers: { designateRef: {} },
  child: {
    field: 'designate',
    phase: 'ExtendedServices',
    description: 'DNS.',
    optional: true,
    fields: ({ own, publicDomain }) => ({ nsRecords: own['nsRecords'] ?? [`ns1.${publicDomain}`] }),
  },
  name: 'designate',
  user: 'designate',
  dependsOn: {
    databaseRef: 'steps',
    messageQueueRef: 'steps',
    cacheRef: 'steps',
    coordinationRef: 'steps',
    keystoneRef: 'start',
  },
  databases: [{ name: 'designate' }],
  // The API asks central for everything.
  connections: () => ({
    central: { processes: 1, pools: 1 },
    worker: { processes: 1, pools: 1 },
    producer: { processes: 1, pools: 1 },
    mdns: { processes: 1, pools: 1 },
  }),
  messaging: true,
  identity: {
    users: [{ name: 'designate', roles: ['service'] }],
    catalogue: [
      { type: 'dns', name: 'designate', description: 'OpenStack DNS', component: 'api', port: 'api', path: '' },
    ],
  },
  configures: { neutron: inNeutron },
  heldBy: {
    counts: [{ of: 'zones', lists: ['/v2/zones?limit=1000'], headers: { 'X-Auth-All-Projects': 'true' } }],
  },
  owned: {
    'service:api': { listen: 'nothing: a Service leads there', auth_strategy: 'nothing: Keystone knows who asks' },
    'service:central': { default_pool_id: 'spec.pools', scheduler_filters: 'spec.pools' },
    'service:mdns': { listen: 'nothing: name servers transfer zones from there' },
  },
  secrets: ({ spec }) =>
    hasBind(spec)
      ? [
          {
            suffix: 'rndc-key',
            values: { 'rndc.key': { type: 'rndcKey', name: 'designate' } },
            secretClass: 'credential',
          },
        ]
      : [],
  config: (context) => ({
    main: { '/etc/designate/designate.conf': { oslo: configuration(context) } },
    pools: {
      '/etc/designate/designate.conf': { oslo: configuration(context) },
      '/etc/designate/pools.yaml': { format: 'yaml', data: poolsOf(context), owned: { '*': 'spec.pools' } },
    },
    ...(hasBind(context.spec) ? { bind: { '/etc/designate/named.conf': namedConf } } : {}),
  }),
  components: (context) => ({
    api: {
      workload: 'Deployment',
      image: 'designate-api',
      runs: { wsgi: 'designate.api.wsgi:init_application()', threads: 1 },
      ports: { api: apiPort },
      health: { get: '/healthcheck', port: 'api' },
      exposed: 'api',
      reachable: 'anyone',
      resources: { cpu: '50m', memory: '256Mi' },
    },
    central: program(context, 'central'),
    worker: worker(context),
    producer: program(context, 'producer'),
    mdns: mdns(context.spec),
    ...(hasBind(context.spec) ? { bind: bind(context) } : {}),
  }),
  migrate: () => ({ image: 'designate-api', sync: ['designate-manage', 'database', 'sync'] }),
  jobs: (context) => [
    poolUpdate(context, 'pools', 'PoolsReady', 'DeploymentReady'),
    poolUpdate(context, 'zones', 'ZonesReady', 'WorkersReady'),
  ],
  needs: { WorkersReady: ['PoolsReady'] },
});

function configuration(context: Context<Designate>): Layer {
  return sections(
    logging,
    proxied,
    locks('designate'),
    database(context, 'designate', 'storage:sqlalchemy'),
    messaging(context, { pthreadHeartbeat: true }),
    authtoken(context),
    coordination(context),
    {
      // rndc needs its key alone, and no sudo lets a restricted container become root.
      DEFAULT: { state_path: '/var/lib/designate', root_helper: 'env' },
      'service:api': { auth_strategy: 'keystone', enable_host_header: true },
      'service:central': {
        workers: 1,
        // With one pool alone there is nothing to choose.
        ...(poolsOf(context).length > 1 ? { scheduler_filters: 'attribute,in_doubt_default_pool' } : {}),
      },
      'service:worker': { workers: 1 },
      'service:producer': { workers: 1 },
      'service:mdns': { workers: 1, listen: `0.0.0.0:${mdnsPort}` },
      'network_api:neutron': { endpoint_type: 'internalURL', ...trustOfApis(context, 'ca_certificates_file') },
    },
  );
}

/** A program without a port. */
function program({ broker }: Context<Designate>, name: 'central' | 'worker' | 'producer'): Component {
  return {
    workload: 'Deployment',
    image: `designate-${name}`,
    runs: { command: [`designate-${name}`] },
    health: { connected: `designate-${name}`, to: [`${broker.host}:${broker.port}`] },
    resources: { cpu: '25m', memory: '192Mi' },
  };
}

/** It tells name servers of zones, by the keys that they know. It is replaced when pools change: see `poolUpdate`. */
function worker(context: Context<Designate>): Component {
  return {
    ...program(context, 'worker'),
    config: 'pools',
    replicas: context.spec.workerReplicas ?? 1,
    step: 'WorkersReady',
    mounts: keyMounts(context),
  };
}

/** Whoever may connect may read all zones: the name servers, those of others included. */
function mdns({ pools = [] }: DesignateSpec): Component {
  return {
    workload: 'Deployment',
    image: 'designate-mdns',
    runs: { command: ['designate-mdns'] },
    ports: { dns: mdnsPort, 'dns-tcp': mdnsPort },
    udp: ['dns'],
    health: { tcp: 'dns-tcp' },
    ...(pools.length > 0 ? { reachable: 'anyone' } : { clients: 'own' }),
    resources: { cpu: '25m', memory: '192Mi' },
  };
}

/** Each has an address of its own, at which the worker tells it of zones. They outlive it on its volume. */
function bind({ spec: { bindReplicas = 1, storage }, named }: Context<Designate>): Component {
  return {
    workload: 'StatefulSet',
    image: 'designate-backend-bind9',
    config: 'bind',
    replicas: bindReplicas,
    runs: { command: ['named', '-g', '-n', '2', '-c', '/etc/designate/named.conf'] },
    ports: { dns: bindPorts.dns, 'dns-tcp': bindPorts.dns, rndc: bindPorts.rndc },
    udp: ['dns'],
    servicePorts: { dns: 53, 'dns-tcp': 53, rndc: 953 },
    memberPorts: ['dns', 'dns-tcp', 'rndc'],
    reachable: { anyone: ['dns', 'dns-tcp'] },
    clients: 'own',
    health: { tcp: 'dns-tcp' },
    mounts: [
      { path: '/var/lib/named', claim: 'data' },
      { path: '/etc/designate/rndc.key', secret: named('rndc-key'), key: 'rndc.key' },
    ],
    claims: [dataClaim(storage, '1Gi')],
    resources: { cpu: '25m', memory: '128Mi' },
  };
}

/** It answers for its zones, and asks nobody else. Who tells it of a change makes it ask mdns, and nothing more. */
const namedConf = `include "/etc/designate/rndc.key";
controls { inet * port ${bindPorts.rndc} allow { any; } keys { "designate"; }; };
options {
  directory "/var/lib/named";
  pid-file none;
  session-keyfile none;
  listen-on port ${bindPorts.dns} { any; };
  listen-on-v6 port ${bindPorts.dns} { any; };
  allow-new-zones yes;
  allow-notify { any; };
  allow-transfer { none; };
  recursion no;
  notify no;
  request-ixfr no;
  dnssec-validation no;
  empty-zones-enable no;
  minimal-responses yes;
  version none;
  hostname none;
  server-id none;
};
`;

/**
 * Tells Designate of its pools, and the worker of their zones: name servers get those that they lack. It is done twice,
 * before the worker is replaced and after, because a worker knows a pool as it was when it first had to do with it.
 */
function poolUpdate(context: Context<Designate>, suffix: string, step: string, after: string): Job {
  return {
    suffix,
    step,
    needs: [after],
    image: 'designate-central',
    config: 'pools',
    runs: [
      {
        name: 'pool-update',
        command: ['designate-manage', 'pool', 'update', '--file', '/etc/designate/pools.yaml'],
      },
    ],
    inputs: poolsOf(context),
  };
}

/** Neutron makes records as whoever asks for a port or a floating IP. */
function inNeutron({ context, peer }: Parameters<PeerOptions>[0]): ReturnType<PeerOptions> {
  const { enableNeutronIntegration = true } = (context.surroundings.peerSpec('Designate') ?? {}) as DesignateSpec;
  if (!enableNeutronIntegration) return {};
  const { region_name: _region, ...login } = client(context);
  return {
    'neutron.conf': {
      DEFAULT: { external_dns_driver: 'designate' },
      designate: {
        ...login,
        url: `${apiUrl(context.identity, serviceHost(`${peer}-api`, context.namespace), apiPort)}/v2`,
      },
    },
    'ml2_conf.ini': { ml2: { extension_drivers: 'port_security,qos,dns_domain_ports' } },
  };
}
