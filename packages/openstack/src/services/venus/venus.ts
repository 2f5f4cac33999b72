import { authtoken, database, logging, sections } from '../../engine/configuration/sections.ts';
import { usualProcesses } from '../../engine/vocabulary/component.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import type { DataMap } from '../../formats/data.ts';
import { Venus } from './kind.ts';

const conf = '/etc/venus/venus.conf';
const paste = '/etc/venus/api-paste.ini';
const port = 10010;

/**
 * Logs: an API for searches, and a manager. Venus knows no rules of policy: whoever has a token of the cloud reads all logs
 * and changes all rules (venus.api.openstack.wsgi.check_policy is a comment). So nothing outside of the cloud reaches it.
 */
export const venus = defineService<Venus>({
  kind: Venus,
  child: { field: 'venus', phase: 'ExtendedServices', description: 'Logs.', optional: true },
  name: 'venus',
  user: 'venus',
  dependsOn: { databaseRef: 'steps', cacheRef: 'steps', keystoneRef: 'start' },
  databases: [{ name: 'venus' }],
  connections: () => ({ api: { pools: 1 }, manager: { processes: 1, pools: 1 } }),
  identity: {
    users: [{ name: 'venus', roles: ['service'] }],
    catalogue: [
      { type: 'LMS', name: 'venus', description: 'OpenStack Log Management', component: 'api', port: 'api', path: '' },
    ],
  },
  owned: {
    DEFAULT: {
      api_paste_config: 'nothing: it is mounted',
      auth_strategy: 'nothing: Keystone knows who asks',
      osapi_venus_listen: 'nothing: a Service leads there',
      osapi_venus_listen_port: 'nothing: a Service leads there',
      ssl_ca_file: 'nothing: probes and others of the cloud connect without TLS',
      ssl_cert_file: 'nothing: probes and others of the cloud connect without TLS',
      ssl_key_file: 'nothing: probes and others of the cloud connect without TLS',
    },
    elasticsearch: { url: 'spec.elasticsearchURL' },
  },
  config: (context) => ({
    main: {
      [conf]: {
        oslo: sections(logging, database(context, 'venus'), authtoken(context), {
          DEFAULT: { api_paste_config: paste, osapi_venus_listen_port: port, osapi_venus_workers: usualProcesses },
          elasticsearch: { url: context.spec.elasticsearchURL },
        }),
      },
      [paste]: { format: 'ini', data: pipeline, owned: { '*': 'nothing: what requests pass is fixed' } },
    },
  }),
  single: () => ['manager'],
  components: ({ spec }) => ({
    api: {
      workload: 'Deployment',
      image: 'venus-api',
      runs: { command: ['venus_api', '--config-file', conf] },
      workers: { section: 'DEFAULT', option: 'osapi_venus_workers' },
      ports: { api: port },
      // The versions need no token.
      health: { get: '/', port: 'api' },
      reachable: 'cloud',
      resources: { cpu: '50m', memory: '256Mi' },
    },
    manager: {
      workload: 'Deployment',
      image: 'venus-manager',
      replicas: spec.managerReplicas ?? 1,
      runs: { command: ['venus_manager', '--config-file', conf, 'task', 'start'] },
      // It connects to the database when it has something to do.
      health: { connected: 'venus_manager', to: [] },
      strategy: 'Recreate',
      resources: { cpu: '25m', memory: '192Mi' },
    },
  }),
  migrate: () => ({ image: 'venus-manager', sync: ['venus_manager', '--config-file', conf, 'db', 'sync'] }),
});

/** What a request passes: the file that its packages lack, without what asks for no token. */
const pipeline: DataMap = {
  'composite:osapi_venus': { use: 'call:venus.api:root_app_factory', '/': 'apiversions', '/v1': 'v1' },
  'pipeline:apiversions': { pipeline: 'faultwrap versions' },
  'pipeline:v1': { pipeline: 'request_id faultwrap sizelimit authtoken keystonecontext api' },
  'filter:request_id': { 'paste.filter_factory': 'oslo_middleware.request_id:RequestId.factory' },
  'filter:faultwrap': { 'paste.filter_factory': 'venus.api.middleware.fault:FaultWrapper.factory' },
  'filter:sizelimit': { 'paste.filter_factory': 'venus.api.middleware.sizelimit:RequestBodySizeLimiter.factory' },
  'filter:authtoken': { 'paste.filter_factory': 'keystonemiddleware.auth_token:filter_factory' },
  'filter:keystonecontext': { 'paste.filter_factory': 'venus.api.middleware.auth:VenusKeystoneContext.factory' },
  'app:versions': { 'paste.app_factory': 'venus.modules.version.versions:Versions.factory' },
  'app:api': { 'paste.app_factory': 'venus.api.v1.router:APIRouter.factory' },
};
