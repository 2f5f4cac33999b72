import {
  authtoken,
  client,
  coordination,
  database,
  logging,
  messaging,
  proxied,
  sections,
} from '../../engine/configuration/sections.ts';
import type { Component } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import type { ReferenceField } from '../../engine/vocabulary/surroundings.ts';
import type { Layer } from '../../oslo/layers.ts';
import { Vitrage } from './kind.ts';

/** Where other services send what happens. */
const topic = 'vitrage_notifications';

/** What Vitrage asks of each service, by the field that refers to it. */
const asked: Readonly<Record<ReferenceField, readonly string[]>> = {
  novaRef: ['nova.host', 'nova.instance', 'nova.zone'],
  neutronRef: ['neutron.network', 'neutron.port'],
  cinderRef: ['cinder.volume'],
  heatRef: ['heat.stack'],
  aodhRef: ['aodh'],
};

/** Root causes: one program keeps the graph and answers all questions, an API, and two that read what becomes of it. */
export const vitrage = defineService<Vitrage>({
  kind: Vitrage,
  child: { field: 'vitrage', phase: 'ExtendedServices', description: 'Root cause analysis.', optional: true },
  name: 'vitrage',
  user: 'vitrage',
  dependsOn: {
    databaseRef: 'steps',
    messageQueueRef: 'steps',
    cacheRef: 'steps',
    coordinationRef: 'steps',
    keystoneRef: 'start',
    novaRef: 'name',
    neutronRef: 'name',
    cinderRef: 'name',
    heatRef: 'name',
    aodhRef: 'name',
  },
  databases: [{ name: 'vitrage' }],
  // The API has three processes; what keeps the graph has one for templates and two for requests.
  connections: () => ({
    api: { processes: 3, pools: 1 },
    graph: { processes: 4, pools: 1 },
    notifier: { processes: 2, pools: 1 },
    persistor: { processes: 2, pools: 1 },
  }),
  messaging: true,
  listens: { topic, to: ['nova', 'neutron', 'cinder', 'heat', 'aodh'] },
  identity: {
    users: [{ name: 'vitrage', roles: ['admin', 'service'] }],
    catalogue: [
      { type: 'rca', name: 'vitrage', description: 'OpenStack RCA', component: 'api', port: 'api', path: '' },
    ],
  },
  owned: {
    DEFAULT: { use_nova_versioned_notifications: 'nothing: Nova sends the other ones' },
    api: {
      auth_mode: 'nothing: Keystone knows who asks',
      host: 'nothing: a Service leads there',
      port: 'nothing: a Service leads there',
    },
    datasources: { notification_topics: 'nothing: other services send there' },
    coordination: { backend_url: 'spec.coordinationRef' },
    machine_learning: { plugins: 'spec.enableML' },
  },
  config: (context) => ({ main: { '/etc/vitrage/vitrage.conf': { oslo: options(context) } } }),
  single: () => ['graph'],
  components: (context) => ({
    api: {
      workload: 'Deployment',
      image: 'vitrage-api',
      // It runs uwsgi with a file of its package, which reads the options before it loads the application.
      runs: { command: ['vitrage-api', '--config-file', '/etc/vitrage/vitrage.conf'] },
      ports: { api: 8999 },
      health: { get: '/healthcheck', port: 'api' },
      exposed: 'api',
      reachable: 'anyone',
      resources: { cpu: '50m', memory: '256Mi' },
    },
    graph: {
      ...program(context, 'graph', '256Mi'),
      replicas: context.spec.graphReplicas ?? 1,
      strategy: 'Recreate',
      // The worker that evaluates templates connects when it has an action to tell of, and not before.
      health: { connected: 'vitrage-graph', to: [] },
    },
    notifier: program(context, 'notifier', '96Mi'),
    persistor: program(context, 'persistor', '96Mi'),
    ...(context.spec.enableML === true ? { ml: program(context, 'ml', '96Mi') } : {}),
  }),
  migrate: () => ({ image: 'vitrage-api', sync: ['vitrage-dbsync'] }),
});

/** A program without a port. */
function program({ broker }: Context<Vitrage>, name: string, memory: string): Component {
  return {
    workload: 'Deployment',
    image: `vitrage-${name}`,
    runs: { command: [`vitrage-${name}`] },
    health: { connected: `vitrage-${name}`, to: [`${broker.host}:${broker.port}`] },
    resources: { cpu: '25m', memory },
  };
}

function options(context: Context<Vitrage>): Layer {
  const { accounts, mention, spec, transportUrl } = context;
  const types = (Object.entries(asked) as [ReferenceField, readonly string[]][]).flatMap(([field, types]) =>
    mention(field) === undefined ? [] : types,
  );
  const hasNova = mention('novaRef') !== undefined;
  return sections(
    logging,
    proxied,
    database(context, 'vitrage'),
    messaging(context, { pthreadHeartbeat: true }),
    authtoken(context),
    coordination(context),
    {
      // Of what happens here and elsewhere it reads in one place.
      oslo_messaging_notifications: { transport_url: transportUrl(accounts.broker.notifications) },
      DEFAULT: {
        notifiers: hasNova ? 'webhook,nova' : 'webhook',
        use_nova_versioned_notifications: false,
      },
      // Processes are half as many again, each with so many threads.
      api: { auth_mode: 'keystone', host: '0.0.0.0', port: 8999, workers: 2 },
      datasources: { types: types.join(','), notification_topics: topic },
      service_credentials: client(context),
      ...(spec.enableML === true ? { machine_learning: { plugins: 'jaccard_correlation' } } : {}),
    },
  );
}
