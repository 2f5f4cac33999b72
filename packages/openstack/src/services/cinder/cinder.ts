import { client } from '../../engine/configuration/sections.ts';
import { nightly } from '../../engine/objects/schedule.ts';
import type { Component, HostAccess } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { CatalogueEntry } from '../../engine/vocabulary/identity.ts';
import { defineService, type Schedule } from '../../engine/vocabulary/service.ts';
import { backendWayOut, rememberedBackends, servedBackends, stayingBackends } from '../backend-memory.ts';
import {
  alone,
  apiOf,
  backendComponents,
  backendsOf,
  dependsOn,
  ownedBy,
  refusedBy,
  stateOf,
  worker,
} from '../backends.ts';
import { backupPath, configSets, counting, isInCeph, lasting, poolsOf, usesCeph, words } from './configuration.ts';
import { internalTenant, quotaApi, unknownTenant } from './image-cache.ts';
import { imageQuotas } from './image-quotas.ts';
import { type Backend, Cinder } from './kind.ts';
import { besideGroup, isLvm, lvmBackends, targets } from './lvm.ts';
import { driverMistakes, remarksOn, storageProblems } from './problems.ts';
import { encryptedTypes, volumeTypeApi, volumeTypes } from './volume-types.ts';

/** Volumes: an API, a scheduler, a process for each backend, and one for backups. */
export const cinder = defineService<Cinder>({
  kind: Cinder,
  offers: {
    cinderRef: {
      resources: { ...volumeTypeApi, ...quotaApi },
    },
  },
  child: { field: 'cinder', phase: 'CoreServices', description: 'Block storage.', optional: true },
  name: 'cinder',
  user: 'cinder',
  dependsOn: {
    ...dependsOn,
    cephStorageRef: { stated: usesCeph, asks: (spec) => ({ pools: poolsOf(spec) }), keeps: isInCeph },
    barbicanRef: { stated: (spec) => encryptedTypes(spec).length > 0 },
  },
  databases: [{ name: 'cinder' }],
  connections: (spec) => ({
    api: { pools: 1 },
    scheduler: { processes: 1, pools: 1 },
    volume: { processes: 2 * backendsOf(spec).length, pools: 1 },
    ...(spec.backup && { backup: { processes: 1, pools: 1 } }),
  }),
  messaging: true,
  identity: {
    users: [{ name: 'cinder', roles: ['admin', 'service'] }],
    catalogue: [entry('block-storage', 'cinder', '/v3'), entry('volumev3', 'cinderv3', '/v3/%(project_id)s')],
  },
  configures: {
    nova({ context }) {
      const { region_name: _region, ...login } = client(context);
      const cinder = { ...login, os_region_name: context.region, catalog_info: 'volumev3::internalURL' };
      return { 'nova.conf': { cinder } };
    },
  },
  resources: (context) => [...volumeTypes(context.spec), ...internalTenant(context), ...imageQuotas(context)],
  owned: ownedBy({
    enabled_backends: 'spec.backends',
    default_volume_type: 'spec.defaultBackend or spec.defaultVolumeType',
    storage_availability_zone: 'spec.availabilityZone',
    image_conversion_dir: 'spec.backends[].conversionSize',
    backup_workers: 'nothing: a second process would take what the first one does for abandoned',
  }),
  usesNodes: true,
  single: (spec) => ['volume', 'backup', ...(lvmBackends(spec).length > 0 ? ['target'] : [])],
  config: configSets,
  volumes: ({ spec: { backup } }) =>
    backup?.type === 'pvc' ? [{ suffix: 'backups', size: '10Gi', ...backup.storage }] : [],
  components: (context) => ({
    api: apiOf(words, 'cinder.wsgi.api:application', 8776),
    scheduler: worker(words, context, 'scheduler', '192Mi'),
    // Before what waits for them, whose words would be told.
    ...targets(context),
    ...backendComponents(words, servedBackends(context), (backend) => volume(context, backend)),
    ...(context.spec.backup && { backup: backup(context, context.spec.backup.type) }),
  }),
  heldBy: {
    // Of a volume with snapshots there is the volume; backups outlive theirs.
    counts: [
      { of: 'volumes', lists: ['/volumes?all_tenants=1&limit=1000'] },
      { of: 'backups', lists: ['/backups?all_tenants=1&limit=1000'] },
    ],
  },
  lasting,
  wayOut: backendWayOut,
  remembers: rememberedBackends,
  staying: (context) => stayingBackends(words, context, counting),
  migrate: () => ({
    image: 'cinder-api',
    sync: ['cinder-manage', 'db', 'sync'],
    check: ['cinder-status'],
    contract: [['cinder-manage', 'db', 'online_data_migrations']],
  }),
  schedules: (context) => [housekeeping(context)],
  findings: (context) => ({ mistakes: driverMistakes(context), remarks: remarksOn(context) }),
  problems: (context) => ({ ...refusedBy(storageProblems(context)), ...unknownTenant(context) }),
});

/** What sudo and the helpers of Cinder and os-brick need. */
const helpers: HostAccess = {
  capabilities: 'AUDIT_WRITE CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER NET_ADMIN SETGID SETPCAP SETUID SYS_ADMIN'.split(
    ' ',
  ),
  unconfined: true,
};

function volume(context: Context<Cinder>, backend: Backend): Component {
  const { rootHelpers, conversionSize: size } = backend;
  const {
    resources = { cpu: '50m', memory: '384Mi' },
    mounts = [],
    ...process
  } = worker(words, context, 'volume', '384Mi');
  const { mounts: more = [], ...asRoot } = isLvm(backend)
    ? besideGroup(context, backend, process.runs.command)
    : { host: helpers };
  return {
    ...process,
    ...(rootHelpers === true ? asRoot : {}),
    mounts: [
      ...mounts,
      ...(rootHelpers === true ? more : []),
      ...(size === undefined ? [] : [{ path: '/var/lib/cinder/conversion', scratch: true, size } as const]),
    ],
    resources: { ...resources, ...(size === undefined ? {} : { 'ephemeral-storage': size }) },
  };
}

/** It reads volumes by os-brick, which asks for the name of the initiator as root, whatever keeps them. */
function backup(context: Context<Cinder>, type: string): Component {
  const kept = type === 'pvc' ? [{ path: backupPath, claim: context.named('backups') }] : [];
  return {
    ...worker(words, context, 'backup', '384Mi'),
    ...alone('backup'),
    host: helpers,
    mounts: [...stateOf(words), ...kept],
  };
}

/** One transaction for each table: what is cut off is done the next night. */
function housekeeping(context: Context<Cinder>): Schedule {
  const { schedule, suspend = false, purgeAfterDays = 30 } = context.spec.housekeeping ?? {};
  return {
    suffix: 'db-purge',
    image: 'cinder-api',
    mounts: stateOf(words),
    runs: [{ name: 'db-purge', command: ['cinder-manage', 'db', 'purge', String(purgeAfterDays)] }],
    cron: schedule ?? nightly(context, 'db-purge'),
    suspend,
    deadlineSeconds: 3600,
  };
}

function entry(type: string, name: string, path: string): CatalogueEntry {
  return { type, name, description: 'OpenStack Block Storage', component: 'api', port: 'api', path };
}
