import { client } from '../../engine/configuration/sections.ts';
import { nightly } from '../../engine/objects/schedule.ts';
import type { Component, HostAccess, Mount } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { CatalogueEntry } from '../../engine/vocabulary/identity.ts';
import { defineService, type Schedule } from '../../engine/vocabulary/service.ts';
import { backendsOf, backupPath, configSets } from './configuration.ts';
import { type Backend, Cinder } from './kind.ts';
import { lasting, removed, staying } from './lasting.ts';
import { storageProblems } from './problems.ts';
import { volumeTypeApi, volumeTypes } from './volume-types.ts';

/** Volumes: an API, a scheduler, a process for each backend, and one for backups. */
export const cinder = defineService<Cinder>({
  kind: Cinder,
  offers: {
    cinderRef: {
      resources: volumeTypeApi,
    },
  },
  child: { field: 'cinder', phase: 'CoreServices', description: 'Block storage.', optional: true },
  name: 'cinder',
  user: 'cinder',
  dependsOn: {
    databaseRef: 'steps',
    messageQueueRef: 'steps',
    cacheRef: 'steps',
    coordinationRef: 'steps',
    keystoneRef: 'start',
    cephStorageRef: 'stated',
  },
  databases: [{ name: 'cinder' }],
  connections: (spec) => ({
    api: { processes: 2, pools: 1 },
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
  resources: ({ spec }) => volumeTypes(spec),
  owned: {
    DEFAULT: {
      host: 'nothing: services are recorded under it',
      enabled_backends: 'spec.backends',
      default_volume_type: 'spec.defaultBackend or spec.defaultVolumeType',
      storage_availability_zone: 'spec.availabilityZone',
      state_path: 'nothing: volumes are mounted there',
      image_conversion_dir: 'spec.backends[].conversionSize',
      backup_workers: 'nothing: a second process would take what the first one does for abandoned',
    },
  },
  usesNodes: true,
  single: ['volume', 'backup'],
  config: configSets,
  volumes: ({ spec: { backup } }) =>
    backup?.type === 'pvc' ? [{ suffix: 'backups', size: '10Gi', ...backup.storage }] : [],
  components: (context) => ({
    api: {
      workload: 'Deployment',
      image: 'cinder-api',
      runs: { wsgi: 'cinder.wsgi.api:application', processes: 2, threads: 1 },
      ports: { api: 8776 },
      health: { get: '/healthcheck', port: 'api' },
      exposed: 'api',
      reachable: 'anyone',
      mounts: state,
      resources: { cpu: '50m', memory: '384Mi' },
    },
    scheduler: program(context, 'scheduler', '192Mi'),
    ...Object.fromEntries(
      backendsOf(context.spec).map((backend) => [`volume-${backend.name}`, volume(context, backend)]),
    ),
    ...(context.spec.backup && { backup: backup(context, context.spec.backup.type) }),
  }),
  jobs: (context) => removed(context),
  lasting,
  staying,
  migrate: () => ({
    image: 'cinder-api',
    sync: ['cinder-manage', 'db', 'sync'],
    contract: [['cinder-manage', 'db', 'online_data_migrations']],
  }),
  schedules: (context) => [housekeeping(context)],
  problems: (context) => {
    const messages = storageProblems(context);
    return messages.length === 0 ? {} : { ConfigReady: { reason: 'ConfigRefused', message: messages.join('; ') } };
  },
});

const state: readonly Mount[] = [{ path: '/var/lib/cinder', scratch: true }];

/** What sudo and the helpers of Cinder and os-brick need. */
const helpers: HostAccess = {
  capabilities: 'AUDIT_WRITE CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER NET_ADMIN SETGID SETPCAP SETUID SYS_ADMIN'.split(
    ' ',
  ),
  unconfined: true,
};

function program({ broker }: Context<Cinder>, name: string, memory: string): Component {
  return {
    workload: 'Deployment',
    image: `cinder-${name}`,
    config: name,
    runs: { command: [`cinder-${name}`, '--config-file', '/etc/cinder/cinder.conf'] },
    health: { connected: `cinder-${name}`, to: [`${broker.host}:${broker.port}`] },
    mounts: state,
    graceSeconds: 70,
    resources: { cpu: '50m', memory },
  };
}

/** Two at once would take each other's work for abandoned: the old one ends before the new one starts. */
function single(context: Context<Cinder>, name: 'volume' | 'backup'): Component {
  return { ...program(context, name, '384Mi'), variantOf: name, strategy: 'Recreate' };
}

function volume(context: Context<Cinder>, { name, rootHelpers, conversionSize: size }: Backend): Component {
  const { resources = { cpu: '50m', memory: '384Mi' }, ...common } = single(context, 'volume');
  return {
    ...common,
    config: `volume-${name}`,
    ...(rootHelpers === true ? { host: helpers } : {}),
    mounts: [
      ...state,
      ...(size === undefined ? [] : [{ path: '/var/lib/cinder/conversion', scratch: true, size } as const]),
    ],
    resources: { ...resources, ...(size === undefined ? {} : { 'ephemeral-storage': size }) },
  };
}

/** It reads volumes by os-brick, which asks for the name of the initiator as root, whatever keeps them. */
function backup(context: Context<Cinder>, type: string): Component {
  const kept = type === 'pvc' ? [{ path: backupPath, claim: context.named('backups') }] : [];
  return { ...single(context, 'backup'), host: helpers, mounts: [...state, ...kept] };
}

/** One transaction for each table: what is cut off is done the next night. */
function housekeeping(context: Context<Cinder>): Schedule {
  const { schedule, suspend = false, purgeAfterDays = 30 } = context.spec.housekeeping ?? {};
  return {
    suffix: 'db-purge',
    image: 'cinder-api',
    mounts: state,
    runs: [{ name: 'db-purge', command: ['cinder-manage', 'db', 'purge', String(purgeAfterDays)] }],
    cron: schedule ?? nightly(context, 'db-purge'),
    suspend,
    deadlineSeconds: 3600,
  };
}

function entry(type: string, name: string, path: string): CatalogueEntry {
  return { type, name, description: 'OpenStack Block Storage', component: 'api', port: 'api', path };
}
