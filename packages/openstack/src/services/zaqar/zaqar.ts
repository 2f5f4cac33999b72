import { authtoken, logging, sections } from '../../engine/configuration/sections.ts';
import { nightly } from '../../engine/objects/schedule.ts';
import type { Component, Mount } from '../../engine/vocabulary/component.ts';
import type { ConfigFiles } from '../../engine/vocabulary/config-files.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import { dataClaim } from '../../infrastructure/data-claim.ts';
import type { Layer } from '../../oslo/layers.ts';
import { secretReference } from '../../oslo/references.ts';
import { Zaqar } from './kind.ts';

const state: readonly Mount[] = [{ path: '/var/lib/zaqar', scratch: true }];

/** Queues: an API, websockets, and a Valkey that keeps the messages; which queues there are is in the database. */
export const zaqar = defineService<Zaqar>({
  kind: Zaqar,
  offers: { zaqarRef: {} },
  child: {
    field: 'zaqar',
    phase: 'ExtendedServices',
    description: 'Queues of messages for users.',
    optional: true,
    fields: ({ own, publicDomain }) => ({
      websocketPublicHostname: own['websocketPublicHostname'] ?? `zaqar-websocket.${publicDomain}`,
    }),
  },
  name: 'zaqar',
  user: 'zaqar',
  dependsOn: { databaseRef: 'steps', cacheRef: 'steps', keystoneRef: 'start' },
  databases: [{ name: 'zaqar' }],
  connections: ({ enableWebsocket = true }) => ({
    api: { pools: 1 },
    ...(enableWebsocket && { websocket: { processes: 1, pools: 1 } }),
  }),
  identity: {
    users: [{ name: 'zaqar', roles: ['service'], owns: 'trusts of subscribers' }],
    catalogue: [
      { type: 'messaging', name: 'zaqar', description: 'OpenStack Messaging', component: 'api', port: 'api', path: '' },
    ],
  },
  owned: {
    DEFAULT: {
      auth_strategy: 'nothing: everybody would read all messages',
      unreliable: 'nothing: a Valkey promises no more',
    },
    drivers: {
      message_store: 'spec.messageStore',
      management_store: 'nothing: queues are in the database',
      transport: 'spec.enableWebsocket',
    },
    'drivers:message_store:redis': { uri: 'spec.messageStore' },
    'drivers:management_store:sqlalchemy': { uri: 'spec.databaseRef' },
    'drivers:transport:websocket': {
      bind: 'nothing: the Service connects to it',
      port: 'nothing: the Service connects to it',
    },
    signed_url: { secret_key: 'nothing: a key is generated' },
  },
  secrets: () => [
    { suffix: 'store-password', values: { password: { type: 'password', length: 32 } }, secretClass: 'credential' },
    { suffix: 'url-key', values: { key: { type: 'password', length: 32 } }, secretClass: 'credential' },
  ],
  config: (context) => ({
    main: files(context, {}),
    ...(hasWebsocket(context) && {
      websocket: files(context, {
        drivers: { transport: 'websocket' },
        'drivers:transport:websocket': { bind: '0.0.0.0', port: 9000 },
      }),
    }),
    store: { '/etc/valkey/valkey.conf': storeConf(context) },
  }),
  components: (context) => ({
    api: {
      workload: 'Deployment',
      image: 'zaqar-wsgi',
      runs: { wsgi: 'zaqar.transport.wsgi.app:application', threads: 1 },
      ports: { api: 8888 },
      health: { get: '/', port: 'api' },
      exposed: 'api',
      reachable: 'anyone',
      mounts: state,
      resources: { cpu: '50m', memory: '192Mi' },
    },
    ...(hasWebsocket(context) && { websocket: websocket(context) }),
    store: {
      workload: 'StatefulSet',
      image: 'valkey-server',
      user: 'valkey',
      config: 'store',
      runs: { command: ['valkey-server', '/etc/valkey/valkey.conf'] },
      ports: { redis: 6379 },
      clients: 'own',
      health: { tcp: 'redis' },
      mounts: [{ path: '/var/lib/valkey', claim: 'data' }],
      claims: [dataClaim(context.spec.storage, '10Gi')],
      resources: { cpu: '25m', memory: '256Mi' },
    },
  }),
  migrate: () => ({ image: 'zaqar-wsgi', mounts: state, sync: ['zaqar-sql-db-manage', 'upgrade', 'head'] }),
  schedules: (context) => [
    {
      suffix: 'gc',
      image: 'zaqar-wsgi',
      mounts: state,
      runs: [{ name: 'gc', command: ['zaqar-gc'] }],
      cron: context.spec.housekeeping?.schedule ?? nightly(context, 'gc'),
      suspend: context.spec.housekeeping?.suspend ?? false,
      deadlineSeconds: 3600,
    },
  ],
});

const hasWebsocket = ({ spec }: Context<Zaqar>): boolean => spec.enableWebsocket ?? true;

function websocket({ spec: { websocketPublicHostname: publicHostname } }: Context<Zaqar>): Component {
  return {
    workload: 'Deployment',
    image: 'zaqar-wsgi',
    config: 'websocket',
    runs: { command: ['zaqar-server'] },
    ports: { websocket: 9000 },
    health: { tcp: 'websocket' },
    reachable: 'anyone',
    ...(publicHostname === undefined ? {} : { exposed: 'websocket', publicHostname }),
    mounts: state,
    resources: { cpu: '25m', memory: '192Mi' },
  };
}

function files(context: Context<Zaqar>, more: Layer): ConfigFiles {
  const { databaseUrl, host, named } = context;
  const password = secretReference(named('store-password'), 'password', 'url');
  const oslo = sections(
    logging,
    authtoken(context),
    {
      // Without it Zaqar refuses a store that may lose the last second.
      DEFAULT: { auth_strategy: 'keystone', unreliable: true },
      drivers: { transport: 'wsgi', message_store: 'redis', management_store: 'sqlalchemy' },
      signed_url: { secret_key: secretReference(named('url-key'), 'key', 'oslo') },
    },
    more,
  );
  // Lists, because no variable can be named after these sections: so the file is a Secret.
  const stores = {
    'drivers:message_store:redis': { uri: [`redis://:${password}@${host('store')}:6379`] },
    'drivers:management_store:sqlalchemy': { uri: [databaseUrl('zaqar')] },
  };
  return { '/etc/zaqar/zaqar.conf': { oslo }, '/etc/zaqar/zaqar.conf.d/stores.conf': { oslo: stores } };
}

/** Every message is written down within a second, and none is thrown away for want of memory. */
function storeConf({ named }: Context<Zaqar>): string {
  return `bind * -::*
port 6379
dir /var/lib/valkey
requirepass ${secretReference(named('store-password'), 'password', 'url')}
appendonly yes
appendfsync everysec
save ""
maxmemory 192mb
maxmemory-policy noeviction
`;
}
