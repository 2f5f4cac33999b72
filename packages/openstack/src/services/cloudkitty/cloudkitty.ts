import {
  authtoken,
  database,
  locks,
  logging,
  messaging,
  proxied,
  sections,
  trustOfApis,
} from '../../engine/configuration/sections.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import { type DataMap, isMap } from '../../formats/data.ts';
import type { Layer } from '../../oslo/layers.ts';
import { CloudKitty } from './kind.ts';
import { measuredInGnocchi } from './metrics.ts';

type Spec = Partial<CloudKitty['spec']>;

const fromPrometheus = ({ collector }: Spec): boolean => collector === 'prometheus';

const paste = '/etc/cloudkitty/api_paste.ini';

/** Rating: an API, and processors, which look at what projects have used, and write down what it costs. */
export const cloudkitty = defineService<CloudKitty>({
  kind: CloudKitty,
  child: {
    field: 'cloudKitty',
    suffix: 'cloudkitty',
    phase: 'ExtendedServices',
    description: 'Rating.',
    optional: true,
  },
  name: 'cloudkitty',
  user: 'cloudkitty',
  dependsOn: {
    databaseRef: 'steps',
    messageQueueRef: 'steps',
    cacheRef: 'steps',
    coordinationRef: 'steps',
    keystoneRef: 'start',
    gnocchiRef: { stated: (spec) => !fromPrometheus(spec) || spec.fetcher === 'gnocchi' },
  },
  databases: [{ name: 'cloudkitty' }],
  // A processor has two workers: one rates, the other one rates again what it is asked to.
  connections: () => ({ api: { pools: 1 }, processor: { processes: 3, pools: 1 } }),
  messaging: true,
  identity: {
    users: [{ name: 'cloudkitty', roles: ['admin', 'service'], owns: 'the role rating on projects' }],
    roles: ['rating'],
    catalogue: [
      { type: 'rating', name: 'cloudkitty', description: 'OpenStack Rating', component: 'api', port: 'api', path: '' },
    ],
  },
  owned: {
    DEFAULT: { auth_strategy: 'nothing: Keystone knows who asks', api_paste_config: 'nothing: it is mounted' },
    collect: { collector: 'spec.collector', metrics_conf: 'metrics.yml of spec.config' },
    collector_prometheus: { prometheus_url: 'spec.prometheusURL' },
    fetcher: { backend: 'spec.fetcher' },
    orchestrator: { coordination_url: 'spec.coordinationRef' },
  },
  config: (context) => ({
    main: {
      '/etc/cloudkitty/cloudkitty.conf': { oslo: options(context) },
      [paste]: { format: 'ini', data: pipeline, owned: { '*': 'nothing: what requests pass is fixed' } },
      '/etc/cloudkitty/metrics.yml': {
        format: 'yaml',
        data: { metrics: fromPrometheus(context.spec) ? {} : measuredInGnocchi },
      },
    },
  }),
  components: ({ broker, spec }) => ({
    api: {
      workload: 'Deployment',
      image: 'cloudkitty-api',
      runs: { wsgi: 'cloudkitty.api.app:build_wsgi_app()', threads: 1 },
      ports: { api: 8889 },
      health: { get: '/healthcheck', port: 'api' },
      exposed: 'api',
      reachable: 'anyone',
      resources: { cpu: '50m', memory: '256Mi' },
    },
    processor: {
      workload: 'Deployment',
      image: 'cloudkitty-processor',
      replicas: spec.processorReplicas ?? 1,
      runs: { command: ['cloudkitty-processor'] },
      health: { connected: 'cloudkitty-processor', to: [`${broker.host}:${broker.port}`] },
      resources: { cpu: '25m', memory: '256Mi' },
    },
  }),
  migrate: () => ({ image: 'cloudkitty-api', sync: ['cloudkitty-dbsync', 'upgrade'] }),
  // Users may say that another storage keeps what was rated: each has to be made ready.
  jobs: () => [
    {
      suffix: 'storage-init',
      step: 'StorageReady',
      needs: ['MigrationReady'],
      image: 'cloudkitty-api',
      config: 'main',
      runs: [{ name: 'storage-init', command: ['cloudkitty-storage-init'] }],
    },
  ],
  needs: { DeploymentReady: ['StorageReady'] },
  problems: ({ spec }) =>
    fromPrometheus(spec) && !statesMetrics(spec)
      ? {
          ConfigReady: {
            reason: 'ConfigRefused',
            message:
              'spec.config: collector prometheus knows no metrics by itself; state metrics.yml with the key metrics',
          },
        }
      : {},
});

function statesMetrics({ config }: Spec): boolean {
  const file = config?.['metrics.yml'];
  return isMap(file) && isMap(file['metrics']);
}

/** What a request passes; without a token who asks learns the versions, and whether it serves. */
const pipeline: DataMap = {
  'pipeline:cloudkitty+keystone': { pipeline: 'cors healthcheck http_proxy_to_wsgi request_id authtoken rating' },
  'app:rating': { 'paste.app_factory': 'cloudkitty.api.app:app_factory' },
  'filter:authtoken': {
    'paste.filter_factory': 'cloudkitty.api.middleware:AuthTokenMiddleware.factory',
    acl_public_routes: '/, /v1, /v2, /healthcheck',
  },
  'filter:request_id': { 'paste.filter_factory': 'oslo_middleware:RequestId.factory' },
  'filter:cors': {
    'paste.filter_factory': 'oslo_middleware.cors:filter_factory',
    oslo_config_project: 'cloudkitty',
  },
  'filter:healthcheck': { 'paste.filter_factory': 'oslo_middleware:Healthcheck.factory' },
  'filter:http_proxy_to_wsgi': {
    'paste.filter_factory': 'oslo_middleware.http_proxy_to_wsgi:HTTPProxyToWSGI.factory',
    oslo_config_project: 'cloudkitty',
  },
};

function options(context: Context<CloudKitty>): Layer {
  const { collector = 'gnocchi', fetcher = 'keystone', prometheusURL } = context.spec;
  const login = { auth_section: 'keystone_authtoken', ...trustOfApis(context) };
  const metric = { ...login, interface: 'internalURL', region_name: context.region };
  return sections(
    logging,
    proxied,
    locks('cloudkitty'),
    database(context, 'cloudkitty'),
    messaging(context, { pthreadHeartbeat: true }),
    authtoken(context),
    {
      DEFAULT: { auth_strategy: 'keystone', api_paste_config: paste },
      collect: { collector, metrics_conf: '/etc/cloudkitty/metrics.yml' },
      fetcher: { backend: fetcher },
      fetcher_keystone: { ...login, keystone_version: '3', ignore_disabled_tenants: true },
      ...(fetcher === 'gnocchi' && { fetcher_gnocchi: metric }),
      ...(collector === 'gnocchi' && { collector_gnocchi: metric }),
      ...(prometheusURL !== undefined && { collector_prometheus: { prometheus_url: prometheusURL } }),
      // The second version of the storage needs InfluxDB, OpenSearch or Elasticsearch.
      storage: { backend: 'sqlalchemy', version: 1 },
      orchestrator: {
        coordination_url: context.coordination ?? null,
        // More of them: more pods. By default there is one a processor of the node.
        max_workers: 1,
        max_workers_reprocessing: 1,
        max_threads: 5,
      },
    },
  );
}
