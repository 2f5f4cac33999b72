import {
  authtoken,
  client,
  database,
  locks,
  logging,
  messaging,
  proxied,
  sections,
  trustOfApis,
} from '../../engine/configuration/sections.ts';
import type { Mount } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import type { Layer } from '../../oslo/layers.ts';
import { secretReference } from '../../oslo/references.ts';
import { Magnum } from './kind.ts';

const admin = 'magnum_domain_admin';

/** Private keys of clusters that are needed right now: in memory alone. */
const state: readonly Mount[] = [{ path: '/var/lib/magnum', scratch: true, memory: true }];

/** Clusters of Kubernetes: an API, and conductors, which make them by Heat. */
export const magnum = defineService<Magnum>({
  kind: Magnum,
  offers: { magnumRef: {} },
  child: { field: 'magnum', phase: 'ExtendedServices', description: 'Clusters of Kubernetes.', optional: true },
  name: 'magnum',
  user: 'magnum',
  dependsOn: {
    databaseRef: 'steps',
    messageQueueRef: 'steps',
    cacheRef: 'steps',
    keystoneRef: 'start',
    barbicanRef: { stated: ({ certificateStore }) => certificateStore === 'barbican' },
    glanceRef: 'cloud',
    neutronRef: 'cloud',
    novaRef: 'cloud',
    heatRef: 'cloud',
  },
  databases: [{ name: 'magnum' }],
  connections: () => ({ api: { pools: 1 }, conductor: { processes: 1, launched: true, pools: 1 } }),
  messaging: true,
  identity: {
    users: [
      { name: 'magnum', roles: ['admin', 'service'] },
      { name: admin, domain: 'magnum', roles: ['admin'] },
    ],
    domains: [{ name: 'magnum', description: 'Users of clusters' }],
    catalogue: [
      {
        type: 'container-infra',
        name: 'magnum',
        description: 'OpenStack Container Infrastructure Management',
        component: 'api',
        port: 'api',
        path: '/v1',
      },
    ],
  },
  // An administrator is shown those of all projects, unasked.
  heldBy: { counts: [{ of: 'clusters', lists: ['/clusters?limit=1000'] }] },
  owned: {
    DEFAULT: {
      host: 'nothing: conductors are recorded under it',
      state_path: 'nothing: a volume is mounted there',
    },
    certificates: { cert_manager_type: 'spec.certificateStore' },
    trust: {
      trustee_domain_name: 'spec.identity.domains.magnum',
      trustee_domain_id: 'spec.identity.domains.magnum',
      trustee_domain_admin_name: `spec.identity.users.${admin}.userName`,
      trustee_domain_admin_password: `spec.identity.users.${admin}.secretName`,
    },
  },
  config: (context) => ({
    main: {
      '/etc/magnum/magnum.conf': { oslo: files(context, messaging(context, { pthreadHeartbeat: true }), proxied) },
    },
    conductor: {
      '/etc/magnum/magnum.conf': { oslo: files(context, messaging(context), { conductor: { workers: 1 } }) },
    },
  }),
  components: (context) => ({
    api: {
      workload: 'Deployment',
      image: 'magnum-api',
      runs: { wsgi: 'magnum.api.app:build_wsgi_app()', threads: 1 },
      ports: { api: 9511 },
      health: { get: '/healthcheck', port: 'api' },
      exposed: 'api',
      reachable: 'anyone',
      mounts: state,
      resources: { cpu: '50m', memory: '256Mi' },
    },
    conductor: {
      workload: 'Deployment',
      image: 'magnum-conductor',
      replicas: context.spec.conductorReplicas ?? 1,
      config: 'conductor',
      runs: { command: ['magnum-conductor'] },
      workers: { section: 'conductor', option: 'workers' },
      health: { connected: 'magnum-conductor', to: [`${context.broker.host}:${context.broker.port}`] },
      mounts: state,
      resources: { cpu: '25m', memory: '256Mi' },
    },
  }),
  migrate: () => ({ image: 'magnum-api', mounts: state, sync: ['magnum-db-manage', 'upgrade'] }),
});

/** Those of its clients that do not go by the session of its own login. */
const told: readonly string[] = ['glance', 'heat', 'neutron', 'nova', 'octavia'];

function files(context: Context<Magnum>, ...more: readonly Layer[]): Layer {
  const { spec, name, identity, region } = context;
  const { region_name: _region, ...login } = client(context);
  const user = context.user(admin);
  // It calls others inside of the cluster; what servers of clusters are told is outside.
  const inside = Object.fromEntries(
    ['barbican', 'cinder', 'glance', 'heat', 'neutron', 'nova', 'octavia'].map((service) => [
      `${service}_client`,
      {
        region_name: region,
        endpoint_type: 'internalURL',
        ...(told.includes(service) ? trustOfApis(context, 'ca_file') : {}),
      },
    ]),
  );
  return sections(
    logging,
    database(context, 'magnum'),
    authtoken(context),
    locks('magnum'),
    {
      DEFAULT: { host: name, state_path: '/var/lib/magnum' },
      api: { api_paste_config: '/etc/magnum/api-paste.ini' },
      // It logs in at this address as the administrator of its domain, whatever else stands in its configuration.
      keystone_authtoken: { www_authenticate_uri: identity.internalUrl },
      keystone_auth: login,
      certificates: { cert_manager_type: spec.certificateStore === 'barbican' ? 'barbican' : 'x509keypair' },
      trust: {
        trustee_domain_name: user.domain ?? null,
        trustee_domain_admin_name: user.login,
        trustee_domain_admin_password: secretReference(user.secret, 'password', 'oslo'),
        trustee_keystone_interface: 'public',
        trustee_keystone_region_name: region,
      },
      magnum_client: { region_name: region, endpoint_type: 'publicURL' },
      ...inside,
    },
    ...more,
  );
}
