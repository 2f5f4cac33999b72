import { authtoken, database, logging, proxied, sections } from '../../engine/configuration/sections.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import type { DataMap } from '../../formats/data.ts';
import { Freezer } from './kind.ts';

const paste = '/etc/freezer/freezer-paste.ini';

/**
 * `freezer-manage` ends with status 0 whatever happens: an error is what it prints, and of success it prints nothing
 * (freezer_api.cmd.manage). Its log would be printed as well unless it goes to standard error.
 */
const sync = `said=$(OS_DEFAULT__USE_STDERR=true freezer-manage db sync)
if [ -n "$said" ]; then
  echo "$said" >&2
  exit 1
fi`;

/** Backups: an API, which schedulers of users ask for jobs, on the hosts where the data are. */
export const freezer = defineService<Freezer>({
  kind: Freezer,
  child: { field: 'freezer', phase: 'ExtendedServices', description: 'Backups.', optional: true },
  name: 'freezer',
  facts: 'freezer-api',
  user: 'freezer',
  dependsOn: {
    databaseRef: 'steps',
    cacheRef: 'steps',
    keystoneRef: 'start',
    swiftRef: { stated: ({ storageBackend = 'swift' }) => storageBackend === 'swift' },
  },
  databases: [{ name: 'freezer' }],
  connections: () => ({ api: { pools: 1 } }),
  identity: {
    users: [{ name: 'freezer', roles: ['service'] }],
    catalogue: [
      { type: 'backup', name: 'freezer', description: 'OpenStack Backup', component: 'api', port: 'api', path: '' },
    ],
  },
  owned: {
    DEFAULT: { enable_v1_api: 'nothing: version 1 knows no projects' },
    storage: { backend: 'nothing: it is in the database', driver: 'nothing: it is in the database' },
    paste_deploy: { config_file: 'nothing: it is mounted' },
  },
  config: (context) => ({
    main: {
      '/etc/freezer/freezer-api.conf': {
        oslo: sections(logging, proxied, database(context, 'freezer'), authtoken(context), {
          storage: { backend: 'sqlalchemy', driver: 'sqlalchemy' },
          paste_deploy: { config_file: paste },
        }),
      },
      [paste]: { format: 'ini', data: pipeline, owned: { '*': 'nothing: what requests pass is fixed' } },
    },
  }),
  components: () => ({
    api: {
      workload: 'Deployment',
      image: 'freezer-api',
      runs: { wsgi: 'freezer_api.service:initialize_app()', threads: 1 },
      ports: { api: 9090 },
      health: { get: '/healthcheck', port: 'api' },
      exposed: 'api',
      reachable: 'anyone',
      resources: { cpu: '50m', memory: '256Mi' },
    },
  }),
  migrate: () => ({ image: 'freezer-api', sync: ['sh', '-euc', sync] }),
});

/** What a request passes; without a token who asks learns the versions, and whether it serves. */
const pipeline: DataMap = {
  'pipeline:main': { pipeline: 'healthcheck http_proxy_to_wsgi versions authtoken context api' },
  'filter:healthcheck': { 'paste.filter_factory': 'oslo_middleware:Healthcheck.factory' },
  'filter:http_proxy_to_wsgi': { 'paste.filter_factory': 'oslo_middleware:HTTPProxyToWSGI.factory' },
  'filter:versions': { 'paste.filter_factory': 'freezer_api.api.versions:VersionNegotiator.factory' },
  'filter:authtoken': { 'paste.filter_factory': 'keystonemiddleware.auth_token:filter_factory' },
  'filter:context': { 'paste.filter_factory': 'freezer_api.api.common.middleware:ContextMiddleware.factory' },
  'composite:api': {
    'paste.composite_factory': 'freezer_api.service:root_app_factory',
    '/': 'versions_app',
    // It takes the version out that is not served, and fails where that is not named.
    '/v1': 'v1',
    '/v2': 'v2',
  },
  'app:versions_app': { 'paste.app_factory': 'freezer_api.api.versions:api_versions' },
  'app:v1': { 'paste.app_factory': 'freezer_api.service:freezer_appv1_factory' },
  'app:v2': { 'paste.app_factory': 'freezer_api.service:freezer_appv2_factory' },
};
