import { authtoken, client, database, logging, messaging, sections } from '../../engine/configuration/sections.ts';
import { nightly } from '../../engine/objects/schedule.ts';
import type { Component } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService, type Schedule } from '../../engine/vocabulary/service.ts';
import type { Layer } from '../../oslo/layers.ts';
import { Watcher } from './kind.ts';

/** Audits of the cloud, and plans of actions that follow from them. */
export const watcher = defineService<Watcher>({
  kind: Watcher,
  offers: { watcherRef: {} },
  child: { field: 'watcher', phase: 'ExtendedServices', description: 'Optimization.', optional: true },
  name: 'watcher',
  user: 'watcher',
  dependsOn: {
    databaseRef: 'steps',
    messageQueueRef: 'steps',
    cacheRef: 'steps',
    keystoneRef: 'start',
    novaRef: 'cloud',
  },
  databases: [{ name: 'watcher' }],
  connections: () => ({
    api: { pools: 1 },
    'decision-engine': { processes: 1, pools: 1 },
    applier: { processes: 1, pools: 1 },
  }),
  messaging: true,
  identity: {
    users: [{ name: 'watcher', roles: ['admin', 'service'] }],
    catalogue: [
      {
        type: 'infra-optim',
        name: 'watcher',
        description: 'OpenStack Infrastructure Optimization',
        component: 'api',
        port: 'api',
        path: '',
      },
    ],
  },
  owned: { DEFAULT: { host: 'nothing: audits and action plans are recorded under the name of their pod' } },
  config: (context) => ({ main: { '/etc/watcher/watcher.conf': { oslo: options(context) } } }),
  components: (context) => ({
    api: {
      workload: 'Deployment',
      image: 'watcher-api',
      runs: { wsgi: 'watcher.api.wsgi:initialize_wsgi_app()', threads: 1 },
      ports: { api: 9322 },
      // It has no /healthcheck; the versions need no token.
      health: { get: '/', port: 'api' },
      exposed: 'api',
      reachable: 'anyone',
      resources: { cpu: '50m', memory: '256Mi' },
    },
    'decision-engine': program(context, 'decision-engine', 'watcher-engine', context.spec.decisionEngineReplicas),
    applier: program(context, 'applier', 'watcher-applier', context.spec.applierReplicas),
  }),
  migrate: () => ({ image: 'watcher-api', sync: ['watcher-db-manage', 'upgrade'] }),
  schedules: (context) => [housekeeping(context)],
});

/** What was under way in a pod is given up by the next one of its name alone, and continuous audits go on there. */
function program({ broker }: Context<Watcher>, name: string, image: string, replicas = 1): Component {
  return {
    workload: 'StatefulSet',
    image,
    replicas,
    runs: { command: [`watcher-${name}`] },
    health: { connected: `watcher-${name}`, to: [`${broker.host}:${broker.port}`] },
    resources: { cpu: '25m', memory: '256Mi' },
  };
}

function options(context: Context<Watcher>): Layer {
  const { region_name: region = context.region, ...login } = client(context);
  const internal = { endpoint_type: 'internalURL', region_name: region };
  return sections(logging, database(context, 'watcher'), authtoken(context), messaging(context), {
    watcher_clients_auth: login,
    nova_client: internal,
    placement_client: { interface: 'internal', region_name: region },
    keystone_client: { interface: 'internal', region_name: region },
    cinder_client: internal,
    glance_client: internal,
    neutron_client: internal,
    gnocchi_client: { endpoint_type: 'internal', region_name: region },
    ironic_client: internal,
    // A listener of a pool leaves the queue that Nova would send to without a reader, so that it would grow for ever.
    watcher_decision_engine: { notification_topics: '' },
    // Without notifications that is how old its picture of the cloud may be.
    'watcher_cluster_data_model_collectors.compute': { period: 300 },
  });
}

/** It asks before it deletes. */
const purge = 'echo y | watcher-db-manage purge --age-in-days "$1"\n';

function housekeeping(context: Context<Watcher>): Schedule {
  const { schedule, suspend = false, purgeAfterDays = 30 } = context.spec.housekeeping ?? {};
  return {
    suffix: 'db-purge',
    image: 'watcher-api',
    runs: [{ name: 'db-purge', script: purge, arguments: [String(purgeAfterDays)] }],
    cron: schedule ?? nightly(context, 'db-purge'),
    suspend,
    deadlineSeconds: 3600,
  };
}
