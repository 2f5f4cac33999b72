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
import type { Component } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import type { DataMap } from '../../formats/data.ts';
import type { Layer } from '../../oslo/layers.ts';
import { secretReference } from '../../oslo/references.ts';
import { Zun } from './kind.ts';

const conf = '/etc/zun/zun.conf';
const paste = '/etc/zun/api-paste.ini';
const proxyPort = 6784;

/** Containers: an API, which chooses a host by Placement, and a proxy of consoles. What runs them is outside of the cluster. */
export const zun = defineService<Zun>({
  kind: Zun,
  child: {
    field: 'zun',
    phase: 'ExtendedServices',
    description: 'Containers.',
    optional: true,
    fields: ({ own, publicDomain }) => ({
      websocketPublicHostname: own['websocketPublicHostname'] ?? `zun-websocket.${publicDomain}`,
    }),
  },
  name: 'zun',
  user: 'zun',
  dependsOn: {
    databaseRef: 'steps',
    messageQueueRef: 'steps',
    cacheRef: 'steps',
    keystoneRef: 'start',
    placementRef: 'cloud',
    neutronRef: 'cloud',
  },
  databases: [{ name: 'zun' }],
  connections: ({ enableWebsocketProxy = true }) => ({
    api: { pools: 1 },
    ...(enableWebsocketProxy && { wsproxy: { processes: 1, pools: 1 } }),
  }),
  messaging: true,
  identity: {
    // Placement lets administrators alone claim what a container takes.
    users: [{ name: 'zun', roles: ['admin', 'service'] }],
    catalogue: [
      {
        type: 'container',
        name: 'zun',
        description: 'OpenStack Containers',
        component: 'api',
        port: 'api',
        path: '/v1',
      },
    ],
  },
  heldBy: { counts: [{ of: 'containers', lists: ['/containers?all_projects=true&limit=1000'] }] },
  owned: {
    DEFAULT: { auth_encryption_key: 'nothing: a key is generated' },
    api: { api_paste_config: 'nothing: it is mounted' },
    websocket_proxy: {
      base_url: 'spec.websocketPublicHostname',
      cert: 'nothing: the gateway ends TLS',
      key: 'nothing: the gateway ends TLS',
      ssl_only: 'nothing: the gateway ends TLS',
      wsproxy_host: 'nothing: a Service leads there',
      wsproxy_port: 'nothing: a Service leads there',
    },
  },
  retainedSecrets: ['auth-encryption-key'],
  secrets: ({ named }) => [
    {
      suffix: 'auth-encryption-key',
      values: { key: { type: 'password', length: 32 } },
      secretClass: 'keyMaterial',
      guards: { kind: 'Job', name: named('db-sync'), data: 'the passwords of registries' },
    },
  ],
  config: (context) => ({
    main: {
      [conf]: { oslo: options(context) },
      [paste]: { format: 'ini', data: pipeline, owned: { '*': 'nothing: what requests pass is fixed' } },
    },
  }),
  components: (context) => ({
    api: {
      workload: 'Deployment',
      image: 'zun-api',
      runs: { wsgi: 'zun.api.wsgi:init_application()', threads: 1 },
      ports: { api: 9517 },
      // The versions need no token.
      health: { get: '/', port: 'api' },
      exposed: 'api',
      reachable: 'anyone',
      resources: { cpu: '50m', memory: '256Mi' },
    },
    ...((context.spec.enableWebsocketProxy ?? true) && { wsproxy: proxy(context) }),
  }),
  migrate: () => ({ image: 'zun-api', sync: ['zun-db-manage', '--config-file', conf, 'upgrade'] }),
});

function proxy({ spec: { websocketPublicHostname: publicHostname } }: Context<Zun>): Component {
  return {
    workload: 'Deployment',
    image: 'zun-wsproxy',
    runs: { command: ['zun-wsproxy', '--config-file', conf] },
    ports: { websocket: proxyPort },
    // It answers nothing but websockets.
    health: { tcp: 'websocket' },
    reachable: 'anyone',
    ...(publicHostname === undefined ? {} : { exposed: 'websocket', publicHostname }),
    resources: { cpu: '25m', memory: '256Mi' },
  };
}

function options(context: Context<Zun>): Layer {
  const { named, region } = context;
  const { region_name: _region, ...login } = client(context);
  const inside = Object.fromEntries(
    ['cinder', 'glance', 'neutron', 'placement', 'zun'].map((name) => [
      `${name}_client`,
      { region_name: region, endpoint_type: 'internalURL', ...trustOfApis(context, 'ca_file') },
    ]),
  );
  const consoles = context.publicUrl('wsproxy', proxy(context)) ?? `http://${context.host('wsproxy')}:${proxyPort}`;
  return sections(
    logging,
    proxied,
    database(context, 'zun'),
    messaging(context, { pthreadHeartbeat: true }),
    authtoken(context),
    {
      // The default is a key that everybody knows.
      DEFAULT: { auth_encryption_key: secretReference(named('auth-encryption-key'), 'key', 'oslo') },
      api: { api_paste_config: paste },
      keystone_auth: login,
      // What users are told of a console is this with a token behind it.
      websocket_proxy: {
        base_url: `${consoles.replace(/^http/, 'ws')}/`,
        wsproxy_host: '0.0.0.0',
        wsproxy_port: proxyPort,
      },
      ...inside,
    },
  );
}

/** What a request passes; without a token who asks learns the versions, and nothing else. */
const pipeline: DataMap = {
  'pipeline:main': { pipeline: 'http_proxy_to_wsgi cors request_id authtoken api_v1' },
  'filter:http_proxy_to_wsgi': {
    'paste.filter_factory': 'oslo_middleware.http_proxy_to_wsgi:HTTPProxyToWSGI.factory',
    oslo_config_project: 'zun',
  },
  'filter:cors': { 'paste.filter_factory': 'oslo_middleware.cors:filter_factory', oslo_config_project: 'zun' },
  'filter:request_id': { 'paste.filter_factory': 'oslo_middleware:RequestId.factory' },
  'filter:authtoken': {
    'paste.filter_factory': 'zun.api.middleware.auth_token:AuthTokenMiddleware.factory',
    acl_public_routes: '/, /v1',
  },
  'app:api_v1': { 'paste.app_factory': 'zun.api.app:app_factory' },
};
