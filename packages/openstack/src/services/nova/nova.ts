import { nodeClaims } from '../../engine/vocabulary/node-groups.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import { nodeCleaner } from '../../infrastructure/node-cleaning.ts';
import { cellsOf } from './cells.ts';
import { diskPool, diskProblems, disksInCeph } from './ceph.ts';
import { claimedGroups, computeAgents, computeComponents, computeSecrets, groupProblems, groupsOf } from './compute.ts';
import { configSets } from './configuration.ts';
import { controlComponents, databaseConnections } from './control.ts';
import { emptying } from './emptying.ts';
import { novaHousekeeping } from './housekeeping.ts';
import { novaJobs } from './jobs.ts';
import { Nova } from './kind.ts';
import { keepsZones, lastingZones, zoneApi, zoneMistakes, zoneSchedules, zones } from './zones.ts';

/** Servers, and the nodes that run them (phase 1 plan, task 18). */
export const nova = defineService<Nova>({
  kind: Nova,
  offers: {
    novaRef: {
      // Nova changes nothing of a flavour but its description. Without the filter it lists public ones only.
      resources: {
        flavor: { path: '/flavors', list: '/flavors/detail?is_public=None', item: 'flavor' },
        aggregate: { path: '/os-aggregates', item: 'aggregate' },
        ...zoneApi,
      },
    },
  },
  child: {
    field: 'nova',
    isOwnClient: true,
    phase: 'Compute',
    description: 'The compute service.',
    fields: ({ own, publicDomain }) => ({
      consolePublicHostname: own['consolePublicHostname'] ?? `console.${publicDomain}`,
    }),
  },
  nodeGroups: (spec) => ({ groups: claimedGroups(spec), compute: true }),
  name: 'nova',
  user: 'nova',
  dependsOn: {
    databaseRef: 'steps',
    messageQueueRef: 'steps',
    cacheRef: 'steps',
    keystoneRef: 'start',
    placementRef: 'start',
    neutronRef: 'steps',
    glanceRef: 'cloud',
    cephStorageRef: {
      stated: disksInCeph,
      asks: (spec) => ({ pools: [{ name: diskPool(spec), purpose: 'nova-ephemeral' }] }),
    },
  },
  databases: [{ name: 'nova_api' }, { name: 'nova_cell0' }, { name: 'nova' }],
  connections: databaseConnections,
  moreDatabases: (context) => cellsOf(context).map(({ database }) => database),
  messaging: true,
  vhosts: (context) => cellsOf(context).map(({ vhost }) => vhost),
  identity: {
    users: [{ name: 'nova', roles: ['admin', 'service'] }],
    catalogue: [
      { type: 'compute', name: 'nova', description: 'OpenStack Compute', component: 'api', port: 'api', path: '/v2.1' },
    ],
  },
  memberships: { kept: keepsZones, of: zones },
  owned: {
    DEFAULT: {
      host: 'nothing: a host is named after its node',
      my_ip: "nothing: it is the node's address",
      compute_driver: 'spec.virtType',
      state_path: 'nothing: volumes are mounted there',
      instances_path: 'nothing: volumes are mounted there',
    },
    libvirt: {
      virt_type: 'spec.virtType or spec.nodeGroups[].virtType',
      connection_uri: 'nothing: the socket of the agent is used',
      images_type: 'spec.ephemeralStorage',
      images_rbd_pool: 'spec.cephPoolName',
      rbd_user: 'spec.users of the CephStorage',
      rbd_secret_uuid: 'nothing: libvirt knows the key by it',
      live_migration_scheme: 'spec.liveMigration',
      live_migration_with_native_tls: 'spec.liveMigration',
      live_migration_inbound_addr: 'nothing: it is a name of the node',
      live_migration_uri: 'nothing: hosts are called by TLS',
      live_migration_tunnelled: 'nothing: QEMU encrypts by itself',
    },
    neutron: { metadata_proxy_shared_secret: 'spec.metadataSecretName of the Neutron' },
    vnc: {
      novncproxy_base_url: 'spec.consolePublicHostname',
      vencrypt_client_key: 'spec.tls',
      vencrypt_client_cert: 'spec.tls',
      vencrypt_ca_certs: 'spec.tls',
    },
  },
  claims: ({ resource, spec, release }) => {
    const cleaner = nodeCleaner(resource, { service: 'nova', spec, release });
    return nodeClaims(resource, claimedGroups(spec), { compute: true, cleaner });
  },
  usesNodes: true,
  groups: ({ spec }) => groupsOf(spec),
  heldBy: {
    counts: [
      {
        of: 'servers',
        // The filter for servers that are deleted softly leaves out those of cells that are down, and so it is asked twice.
        lists: ['/servers?all_tenants=1', '/servers?all_tenants=1&limit=1000&soft_deleted=true'],
        // From here on servers of a cell that does not answer are listed, by their id alone, where no limit is asked for.
        headers: { 'openstack-api-version': 'compute 2.69' },
      },
    ],
    since: { job: 'host-discovery', component: 'compute' },
  },
  emptying: ({ spec }) => emptying(spec),
  // Compute node, provider in Placement and mapping to a cell are deleted with it.
  forgetting: {
    of: 'services',
    list: '/os-services?binary=nova-compute&host={host}',
    items: 'services',
    record: '/os-services/{id}',
    headers: { 'openstack-api-version': 'compute 2.69' },
    alive: ['state', 'up'],
  },
  carriedBy: ['neutronRef'],
  secrets: computeSecrets,
  config: (context) => configSets(context, computeAgents(context)),
  components: (context) => ({ ...controlComponents(context), ...computeComponents(context) }),
  jobs: novaJobs,
  schedules: (context) => [novaHousekeeping(context), ...zoneSchedules(context)],
  lasting: ({ spec }): Record<string, string> => ({
    'spec.ephemeralStorage': spec.ephemeralStorage ?? 'local',
    ...(disksInCeph(spec) && { 'spec.cephPoolName': diskPool(spec) }),
    ...lastingZones(spec),
  }),
  needs: {
    MigrationReady: ['CellsReady'],
    ResourcesReady: ['AgentsReady'],
    HostsReady: ['AgentsReady', 'DeploymentReady'],
  },
  findings: (context) => ({ mistakes: zoneMistakes(context) }),
  problems: (context) => {
    const messages = [...groupProblems(context), ...diskProblems(context)];
    return messages.length === 0 ? {} : { ConfigReady: { reason: 'GroupRefused', message: messages.join('; ') } };
  },
});
