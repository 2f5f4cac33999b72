import {
  authtoken,
  client,
  database,
  locks,
  logging,
  messaging,
  proxied,
  sections,
} from '../../engine/configuration/sections.ts';
import type { Component } from '../../engine/vocabulary/component.ts';
import type { ConfigFiles } from '../../engine/vocabulary/config-files.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import { dataClaim } from '../../infrastructure/data-claim.ts';
import type { Layer } from '../../oslo/layers.ts';
import { boot, bootFiles, httpPort, makeFolders, serveFiles, state } from './boot.ts';
import { hardwareOptions, ownedHardware } from './interfaces.ts';
import { Ironic } from './kind.ts';

const conf = '/etc/ironic/ironic.conf';

/** Bare metal: an API, and conductors, which do to machines what it is asked for, and have them boot. */
export const ironic = defineService<Ironic>({
  kind: Ironic,
  child: { field: 'ironic', phase: 'ExtendedServices', description: 'Bare metal.', optional: true },
  name: 'ironic',
  user: 'ironic',
  dependsOn: {
    databaseRef: 'steps',
    messageQueueRef: 'steps',
    cacheRef: 'steps',
    keystoneRef: 'start',
    glanceRef: 'cloud',
  },
  databases: [{ name: 'ironic' }],
  connections: () => ({ api: { pools: 1 }, conductor: { processes: 1, pools: 1 } }),
  messaging: true,
  identity: {
    users: [{ name: 'ironic', roles: ['admin', 'service'] }],
    catalogue: [
      {
        type: 'baremetal',
        name: 'ironic',
        description: 'OpenStack Bare Metal',
        component: 'api',
        port: 'api',
        path: '',
      },
    ],
  },
  usesNodes: true,
  single: () => ['boot'],
  heldBy: {
    counts: [{ of: 'nodes', lists: ['/v1/nodes?limit=1000'], rules: ['baremetal:node:list_all', 'service_role'] }],
  },
  owned: {
    DEFAULT: {
      ...ownedHardware,
      auth_strategy: 'nothing: Keystone knows who asks',
      host: 'nothing: a conductor is recorded under it',
      my_ip: 'spec.provisioning',
      rpc_transport: 'nothing: the broker is there for it',
      state_path: 'nothing: a volume is mounted there',
      tempdir: 'nothing: a volume is mounted there',
    },
    deploy: { http_root: 'nothing: a volume is mounted there', http_url: 'spec.provisioning' },
    dhcp: { dhcp_provider: 'spec.networkInterface' },
    pxe: {
      images_path: 'nothing: a volume is mounted there',
      instance_master_path: 'nothing: a volume is mounted there',
      tftp_master_path: 'nothing: a volume is mounted there',
      tftp_root: 'nothing: a volume is mounted there',
    },
  },
  config: (context) => ({
    main: {
      [conf]: { oslo: sections(common(context), authtoken(context), proxied, { healthcheck: { enabled: true } }) },
    },
    conductor: conductorFiles(context),
    ...(context.spec.provisioning && { boot: bootFiles(context.spec, context.host('conductor')) }),
  }),
  components: (context) => ({
    api: {
      workload: 'Deployment',
      image: 'ironic-api',
      runs: { wsgi: 'ironic.wsgi:application', threads: 1 },
      ports: { api: 6385 },
      health: { get: '/healthcheck', port: 'api' },
      exposed: 'api',
      reachable: 'anyone',
      resources: { cpu: '50m', memory: '384Mi' },
    },
    conductor: conductor(context),
    ...(context.spec.provisioning && { boot }),
  }),
  migrate: () => ({
    image: 'ironic-api',
    sync: ['ironic-dbsync', 'upgrade'],
    contract: [['ironic-dbsync', 'online_data_migrations']],
  }),
});

/** What both have: the API checks what it is asked for by the types of hardware as well. */
function common(context: Context<Ironic>): Layer {
  return sections(
    logging,
    database(context, 'ironic'),
    messaging(context, { pthreadHeartbeat: true }),
    locks('ironic'),
    {
      DEFAULT: {
        ...hardwareOptions(context.spec),
        auth_strategy: 'keystone',
        // Services of the cloud see all machines by their role, without one in the system.
        rbac_service_role_elevated_access: true,
        state_path: state,
        tempdir: `${state}/tmp`,
      },
    },
  );
}

function conductorFiles(context: Context<Ironic>): ConfigFiles {
  const { spec } = context;
  const login = { ...client(context), valid_interfaces: 'internal' };
  const oslo = sections(common(context), messaging(context), {
    ...(spec.provisioning && { DEFAULT: { my_ip: spec.provisioning.address } }),
    conductor: { workers_pool_size: 100 },
    deploy: {
      http_root: `${state}/httpboot`,
      // Machines are outside of the cluster: they reach it by a node in their network.
      ...(spec.provisioning === undefined ? {} : { http_url: `http://${spec.provisioning.address}:${httpPort}` }),
    },
    dhcp: { dhcp_provider: 'none' },
    glance: login,
    // The agent on a machine calls the API back from outside.
    service_catalog: { ...login, valid_interfaces: 'public' },
    neutron: login,
    // No Nova runs servers on machines here.
    nova: { send_power_notifications: false },
    pxe: {
      tftp_root: `${state}/tftpboot`,
      tftp_master_path: `${state}/master_tftp`,
      images_path: `${state}/images`,
      instance_master_path: `${state}/master_images`,
    },
  });
  return { [conf]: { oslo }, '/etc/ironic/http.ini': serveFiles };
}

/** It is recorded under the name of its pod, and has locks on machines under it: a StatefulSet gives it back. */
function conductor({ spec, broker }: Context<Ironic>): Component {
  return {
    workload: 'StatefulSet',
    image: 'ironic-conductor',
    replicas: spec.conductorReplicas ?? 1,
    config: 'conductor',
    init: [{ name: 'folders', runs: { script: makeFolders } }],
    runs: { command: ['ironic-conductor', '--config-file', conf] },
    health: { connected: 'ironic-conductor', to: [`${broker.host}:${broker.port}`] },
    env: { OS_DEFAULT__HOST: { field: 'metadata.name' } },
    ports: { http: httpPort },
    // Of the proxy, which has the address of its node.
    reachable: ['http'],
    mounts: [{ path: state, claim: 'data' }],
    claims: [dataClaim(spec.storage, '20Gi')],
    // What it does to a machine is finished, or the machine ends in a state of failure.
    graceSeconds: 300,
    resources: { cpu: '50m', memory: '384Mi' },
    sidecars: [
      {
        name: 'http',
        image: 'ironic-api',
        runs: { command: ['uwsgi', '--ini', '/etc/ironic/http.ini'] },
        ports: ['http'],
        health: { tcp: 'http' },
        resources: { cpu: '25m', memory: '128Mi' },
      },
    ],
  };
}
