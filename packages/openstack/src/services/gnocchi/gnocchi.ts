import { authtoken, client, database, sections, trustOfApis } from '../../engine/configuration/sections.ts';
import type { ConfigFiles } from '../../engine/vocabulary/config-files.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import type { Layer } from '../../oslo/layers.ts';
import { Gnocchi, whySingle } from './kind.ts';

const inSwift = ({ storageType }: Partial<Gnocchi['spec']>): boolean => storageType === 'swift';

const home = '/var/lib/gnocchi';

/**
 * Measures, over time. The API takes them and metricd aggregates them, in one pod, because both write where they are kept:
 * a volume that one pod at a time can use, or Swift.
 */
export const gnocchi = defineService<Gnocchi>({
  kind: Gnocchi,
  offers: { gnocchiRef: {} },
  child: { field: 'gnocchi', phase: 'ExtendedServices', description: 'Where measures are kept.', optional: true },
  name: 'gnocchi',
  user: 'gnocchi',
  dependsOn: { databaseRef: 'steps', cacheRef: 'steps', coordinationRef: 'steps', keystoneRef: 'start' },
  databases: [{ name: 'gnocchi' }],
  // Beside the API, of metricd two workers and the one that removes what was deleted.
  connections: () => ({ api: { others: 3, pools: 1 } }),
  identity: {
    // As an administrator it has containers in Swift.
    users: [{ name: 'gnocchi', roles: ['admin', 'service'] }],
    catalogue: [
      { type: 'metric', name: 'gnocchi', description: 'OpenStack Metric', component: 'api', port: 'api', path: '' },
    ],
  },
  owned: {
    DEFAULT: { coordination_url: 'spec.coordinationRef' },
    api: { auth_mode: 'nothing: users are those of Keystone' },
    indexer: { url: 'spec.databaseRef' },
    storage: { driver: 'spec.storageType', file_basepath: 'spec.storage' },
    metricd: { metric_reporting_delay: 'nothing: a worker that only reports has no connection that tells of it' },
  },
  config: (context) => ({ main: files(context) }),
  volumes: ({ spec }) => (inSwift(spec) ? [] : [{ suffix: 'measures', size: '10Gi', ...spec.storage }]),
  single: (spec) => (inSwift(spec) ? [] : ['api']),
  components: ({ spec, named }) => ({
    api: {
      workload: 'Deployment',
      image: 'gnocchi-api',
      // What measures are kept in is made where it is mounted. Swift's containers are made once, by whoever comes first.
      init: [
        {
          name: 'storage',
          runs: { command: ['gnocchi-upgrade', '--skip-index', '--skip-archive-policies-creation'] },
        },
      ],
      runs: { wsgi: 'gnocchi.rest.wsgi:application', threads: 1 },
      sidecars: [
        {
          name: 'metricd',
          image: 'gnocchi-metricd',
          runs: { command: ['gnocchi-metricd'] },
          // Its connections come and go with what there is to do.
          health: { connected: 'gnocchi-metricd', to: [] },
          resources: { cpu: '50m', memory: '256Mi' },
        },
      ],
      ports: { api: 8041 },
      health: { get: '/healthcheck', port: 'api' },
      exposed: 'api',
      reachable: 'anyone',
      ...(inSwift(spec) ? {} : { strategy: 'Recreate' }),
      mounts: [{ path: home, ...(inSwift(spec) ? { scratch: true } : { claim: named('measures') }) }],
      // metricd ends what it has begun.
      graceSeconds: 60,
      resources: { cpu: '50m', memory: '256Mi' },
    },
  }),
  migrate: () => ({ image: 'gnocchi-api', sync: ['gnocchi-upgrade', '--skip-storage', '--skip-incoming'] }),
  problems: ({ spec }) => {
    const { replicas = 1 } = spec.components?.['api'] ?? {};
    if (inSwift(spec) || replicas <= 1) return {};
    return { ConfigReady: { reason: 'ConfigRefused', message: `spec.components.api.replicas: ${whySingle}` } };
  },
});

function files(context: Context<Gnocchi>): ConfigFiles {
  return {
    '/etc/gnocchi/gnocchi.conf': {
      oslo: sections(database(context, 'gnocchi'), authtoken(context), {
        DEFAULT: { coordination_url: context.coordination ?? null },
        // It takes the URL of the indexer.
        database: { connection: null },
        indexer: { url: context.databaseUrl('gnocchi') },
        api: { auth_mode: 'keystone', enable_proxy_headers_parsing: true },
        storage: inSwift(context.spec) ? swift(context) : { driver: 'file', file_basepath: home },
        metricd: { workers: 2, metric_reporting_delay: -1 },
      }),
    },
  };
}

/** It logs in by itself, with options of its own. */
function swift(context: Context<Gnocchi>): Layer[string] {
  const { auth_url: url, username, password, project_name: project } = client(context);
  return {
    driver: 'swift',
    swift_auth_version: 3,
    swift_authurl: url ?? null,
    swift_user: username ?? null,
    swift_key: password ?? null,
    swift_project_name: project ?? null,
    swift_region: context.region,
    swift_endpoint_type: 'internalURL',
    ...trustOfApis(context, 'swift_cacert'),
  };
}
