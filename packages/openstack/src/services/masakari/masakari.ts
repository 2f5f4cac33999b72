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
import { cloudLabel, computeLabel } from '../../engine/names/names.ts';
import { nightly } from '../../engine/objects/schedule.ts';
import type { Component } from '../../engine/vocabulary/component.ts';
import type { DataSource } from '../../engine/vocabulary/config-files.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService, type Schedule } from '../../engine/vocabulary/service.ts';
import type { Layer } from '../../oslo/layers.ts';
import type { Nova } from '../nova/kind.ts';
import { Masakari } from './kind.ts';

const monitor = 'masakari_monitor';
const monitorConf = '/etc/masakarimonitors/masakarimonitors.conf';

/** How Masakari logs in to Nova; it reads no section of its own for it. */
const inNova = {
  os_privileged_user_auth_url: 'auth_url',
  os_privileged_user_name: 'username',
  os_privileged_user_password: 'password',
  os_privileged_user_tenant: 'project_name',
  os_user_domain_name: 'user_domain_name',
  os_project_domain_name: 'project_domain_name',
  os_region_name: 'region_name',
} as const;

/** An API for whoever has seen a failure, engines that have Nova mend it, and monitors of servers on their nodes. */
export const masakari = defineService<Masakari>({
  kind: Masakari,
  child: {
    field: 'masakari',
    phase: 'ExtendedServices',
    description: 'High availability of servers.',
    optional: true,
  },
  name: 'masakari',
  user: 'masakari',
  dependsOn: {
    databaseRef: 'steps',
    messageQueueRef: 'steps',
    cacheRef: 'steps',
    keystoneRef: 'start',
    novaRef: 'name',
  },
  databases: [{ name: 'masakari' }],
  connections: () => ({ api: { pools: 1 }, engine: { processes: 1, pools: 1 } }),
  messaging: true,
  identity: {
    users: [
      { name: 'masakari', roles: ['admin', 'service'] },
      // Whoever notifies has to be an administrator. This one's password lies on nodes: it can be replaced by itself.
      { name: monitor, roles: ['admin'] },
    ],
    catalogue: [
      {
        type: 'instance-ha',
        name: 'masakari',
        description: 'OpenStack High Availability',
        component: 'api',
        port: 'api',
        path: '/v1',
      },
    ],
  },
  usesNodes: true,
  groups: ({ reference }) => ((reference('novaRef')?.['spec'] ?? {}) as Nova['spec']).nodeGroups ?? [],
  owned: {
    DEFAULT: Object.fromEntries(
      Object.keys(inNova).map((option) => [option, 'nothing: Masakari asks Nova as its own user']),
    ),
  },
  config: (context) => ({
    main: { '/etc/masakari/masakari.conf': { oslo: configuration(context) } },
    monitor: { [monitorConf]: monitorConfiguration(context) },
  }),
  components: (context) => ({
    api: {
      workload: 'Deployment',
      image: 'masakari-api',
      runs: { wsgi: 'masakari.cmd.api:initialize_application()', threads: 1 },
      ports: { api: 15868 },
      health: { get: '/', port: 'api' },
      exposed: 'api',
      reachable: 'anyone',
      resources: { cpu: '50m', memory: '192Mi' },
    },
    engine: {
      workload: 'Deployment',
      image: 'masakari-engine',
      replicas: context.spec.engineReplicas ?? 1,
      runs: { command: ['masakari-engine', '--config-file', '/etc/masakari/masakari.conf'] },
      health: { connected: 'masakari-engine', to: [`${context.broker.host}:${context.broker.port}`] },
      resources: { cpu: '25m', memory: '192Mi' },
    },
    ...((context.spec.enableMonitors ?? true) ? { 'instance-monitor': instanceMonitor(context) } : {}),
  }),
  migrate: () => ({ image: 'masakari-api', sync: ['masakari-manage', 'db', 'sync'] }),
  schedules: (context) => [housekeeping(context)],
  skips: (context): Readonly<Record<string, { reason: 'Skipped'; message: string }>> =>
    context.mention('novaRef') === undefined && (context.spec.enableMonitors ?? true)
      ? {
          AgentsReady: {
            reason: 'Skipped',
            message:
              'monitors are started as soon as spec.novaRef, or a Nova in this namespace, says whose servers they watch',
          },
        }
      : {},
});

function configuration(context: Context<Masakari>): Layer {
  const login = client(context);
  return sections(
    logging,
    proxied,
    database(context, 'masakari'),
    messaging(context, { pthreadHeartbeat: true }),
    authtoken(context),
    {
      DEFAULT: {
        ...Object.fromEntries(Object.entries(inNova).map(([option, name]) => [option, login[name] ?? ''])),
        nova_catalog_admin_info: 'compute:nova:internalURL',
        ...trustOfApis(context, 'nova_ca_certificates_file'),
      },
      wsgi: { api_paste_config: '/etc/masakari/api-paste.ini' },
    },
  );
}

/** The monitors' own file: they are a project of their own, with options of their own. */
function monitorConfiguration(context: Context<Masakari>): DataSource {
  const { region_name: region = '', ...login } = client(context, monitor);
  return {
    format: 'ini',
    data: {
      DEFAULT: { use_stderr: true },
      api: { ...login, region, api_interface: 'internal' },
      libvirt: { connection_uri: 'qemu:///system' },
    },
    owned: { 'api.*': 'nothing: the monitors log in as a user of their own' },
  };
}

/** Hears from libvirt, by its socket that changes nothing, which servers have died; of their host, by its name. */
function instanceMonitor(context: Context<Masakari>): Component {
  return {
    workload: 'DaemonSet',
    step: 'AgentsReady',
    image: 'masakari-monitors',
    config: 'monitor',
    nodeAgent: { nodes: { [cloudLabel]: context.cloud, [computeLabel]: 'true' } },
    strategy: 'RollingUpdate',
    host: { network: true },
    runs: { command: ['masakari-instancemonitor', '--config-file', monitorConf] },
    health: { connected: 'masakari-instancemonitor', to: [] },
    mounts: [{ path: '/run/libvirt', host: 'DirectoryOrCreate', readOnly: true }],
    resources: { cpu: '10m', memory: '96Mi' },
  };
}

/** Rows that are marked as deleted. */
function housekeeping(context: Context<Masakari>): Schedule {
  const { schedule, suspend = false, purgeAfterDays = 30 } = context.spec.housekeeping ?? {};
  return {
    suffix: 'db-purge',
    image: 'masakari-api',
    runs: [{ name: 'db-purge', command: ['masakari-manage', 'db', 'purge', '--age_in_days', String(purgeAfterDays)] }],
    cron: schedule ?? nightly(context, 'db-purge'),
    suspend,
    deadlineSeconds: 3600,
  };
}
