import {
  authtoken,
  coordination,
  database,
  logging,
  messaging,
  proxied,
  sections,
  trustByVariable,
} from '../../engine/configuration/sections.ts';
import { apiUrl } from '../../engine/vocabulary/api-tls.ts';
import type { Component } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import type { Layer } from '../../oslo/layers.ts';
import { Tacker, whySingle } from './kind.ts';
import { pipelines } from './pipelines.ts';

const port = 9890;
const conf = '/etc/tacker/tacker.conf';
const paste = '/etc/tacker/api-paste.ini';
const state = '/var/lib/tacker';
/** Of VIMs. */
const keys = `${state}/vim_keys`;
/** What is unpacked, which any conductor does again: each for the server beside it. */
const unpacked = '/var/cache/tacker';

const isShared = ({ storageAccessMode }: Partial<Tacker['spec']>): boolean => storageAccessMode === 'ReadWriteMany';

/**
 * Network functions: servers, and conductors, which unpack packages and deploy what is in them. Each server has a conductor in
 * its pod, because it reads what that has unpacked (tacker/sol_refactored/nfvo/local_nfvo.py): every conductor unpacks all.
 */
export const tacker = defineService<Tacker>({
  kind: Tacker,
  child: { field: 'tacker', phase: 'ExtendedServices', description: 'Network functions.', optional: true },
  name: 'tacker',
  user: 'tacker',
  dependsOn: {
    databaseRef: 'steps',
    messageQueueRef: 'steps',
    cacheRef: 'steps',
    coordinationRef: 'steps',
    keystoneRef: 'start',
    barbicanRef: { stated: ({ vimKeyStore }) => vimKeyStore === 'barbican' },
    glanceRef: 'cloud',
    neutronRef: 'cloud',
    novaRef: 'cloud',
    heatRef: 'cloud',
  },
  databases: [{ name: 'tacker' }],
  connections: () => ({ server: { processes: 2, pools: 1 } }),
  messaging: true,
  identity: {
    users: [{ name: 'tacker', roles: ['admin', 'service'] }],
    catalogue: [
      {
        type: 'nfv-orchestration',
        name: 'tacker',
        description: 'OpenStack NFV Orchestration',
        component: 'server',
        port: 'api',
        path: '',
      },
    ],
  },
  owned: {
    DEFAULT: {
      api_paste_config: 'nothing: it is mounted',
      api_workers: 'spec.replicas',
      auth_strategy: 'nothing: Keystone knows who asks',
      bind_host: 'nothing: a Service leads there',
      bind_port: 'nothing: a Service leads there',
      crypt_key_dir: 'nothing: a volume is mounted there',
      use_ssl: 'nothing: the gateway ends TLS',
    },
    coordination: { backend_url: 'spec.coordinationRef' },
    glance_store: { filesystem_store_datadir: 'spec.storage' },
    k8s_vim: { use_barbican: 'spec.vimKeyStore' },
    vim_keys: { openstack: 'spec.storage', use_barbican: 'spec.vimKeyStore' },
    vnf_package: { vnf_package_csar_path: 'nothing: a volume is mounted there' },
  },
  config: (context) => ({
    main: {
      [conf]: { oslo: options(context) },
      [paste]: {
        format: 'ini',
        data: pipelines(context.spec),
        owned: { '*': 'nothing: what requests pass is fixed' },
      },
    },
  }),
  volumes: ({ spec }) => [
    { suffix: 'packages', size: '10Gi', ...spec.storage, accessMode: spec.storageAccessMode ?? 'ReadWriteOnce' },
  ],
  single: (spec) => (isShared(spec) ? [] : ['server']),
  components: (context) => ({ server: server(context) }),
  migrate: () => ({ image: 'tacker-server', sync: ['tacker-db-manage', '--config-file', conf, 'upgrade', 'head'] }),
  problems: ({ spec }) => {
    const { replicas = 1 } = spec.components?.['server'] ?? {};
    if (isShared(spec) || replicas <= 1) return {};
    return { ConfigReady: { reason: 'ConfigRefused', message: `spec.components.server.replicas: ${whySingle}` } };
  },
});

function server(context: Context<Tacker>): Component {
  const { broker, named, spec } = context;
  return {
    workload: 'Deployment',
    image: 'tacker-server',
    init: [{ name: 'folders', runs: { script: `mkdir -p ${keys}\n` } }],
    runs: { command: ['tacker-server', '--config-file', conf] },
    sidecars:
      spec.conductorReplicas === 0
        ? []
        : [
            {
              name: 'conductor',
              image: 'tacker-conductor',
              runs: { command: ['tacker-conductor', '--config-file', conf] },
              health: { connected: 'tacker-conductor', to: [`${broker.host}:${broker.port}`] },
              resources: { cpu: '25m', memory: '256Mi' },
            },
          ],
    ports: { api: port },
    // It has no /healthcheck; the versions need no token.
    health: { get: '/', port: 'api' },
    exposed: 'api',
    reachable: 'anyone',
    // What it knows of a cloud that it manages says nothing of it.
    env: trustByVariable(context),
    ...(isShared(spec) ? {} : { strategy: 'Recreate' }),
    mounts: [
      { path: state, claim: named('packages') },
      { path: unpacked, scratch: true },
    ],
    resources: { cpu: '50m', memory: '256Mi' },
  };
}

function options(context: Context<Tacker>): Layer {
  const address =
    context.publicUrl('server', server(context)) ?? apiUrl(context.identity, context.host('server'), port);
  const inBarbican = context.spec.vimKeyStore === 'barbican';
  return sections(
    logging,
    proxied,
    database(context, 'tacker'),
    messaging(context),
    authtoken(context),
    coordination(context),
    {
      DEFAULT: {
        api_paste_config: paste,
        bind_host: '0.0.0.0',
        bind_port: port,
        // One process: more of them are more pods.
        api_workers: 0,
        auth_strategy: 'keystone',
        crypt_key_dir: `${state}/crypt_keys`,
      },
      glance_store: { filesystem_store_datadir: `${state}/csar_files` },
      vim_keys: { openstack: keys, use_barbican: inBarbican },
      k8s_vim: { use_barbican: inBarbican },
      // It is put in front of the name of a package as it is (tacker/conductor/conductor_server.py).
      vnf_package: { vnf_package_csar_path: `${unpacked}/` },
      // Links, and what subscribers are told, of both versions of the API.
      vnf_lcm: { endpoint_url: address },
      v2_vnfm: { endpoint: address },
    },
  );
}
