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
import type { ConfigFiles } from '../../engine/vocabulary/config-files.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import type { Layer } from '../../oslo/layers.ts';
import { secretReference } from '../../oslo/references.ts';
import { Barbican } from './kind.ts';

/** The topic on which the listener waits for Keystone's notifications. */
const topic = 'notifications_barbican';

/** Keys and secrets, encrypted by Barbican itself (`simple_crypto`) under a key that the operator generates. */
export const barbican = defineService<Barbican>({
  kind: Barbican,
  offers: { barbicanRef: {} },
  child: { field: 'barbican', phase: 'ExtendedServices', description: 'The key manager.', optional: true },
  name: 'barbican',
  user: 'barbican',
  dependsOn: { databaseRef: 'steps', messageQueueRef: 'steps', cacheRef: 'steps', keystoneRef: 'start' },
  databases: [{ name: 'barbican' }],
  connections: () => ({
    api: { pools: 1 },
    worker: { processes: 1, pools: 1 },
    'keystone-listener': { processes: 1, pools: 1 },
  }),
  messaging: true,
  // Of projects that are deleted: it deletes what these have stored.
  listens: { topic, to: ['keystone'] },
  identity: {
    users: [{ name: 'barbican', roles: ['service'] }],
    catalogue: [
      {
        type: 'key-manager',
        name: 'barbican',
        description: 'OpenStack Key Manager',
        component: 'api',
        port: 'api',
        path: '',
      },
    ],
  },
  configures: {
    cinder: ({ context }) => ({ 'cinder.conf': keyManager(context) }),
    nova: ({ context }) => ({ 'nova.conf': keyManager(context) }),
  },
  owned: {
    queue: { enable: 'nothing: orders are the affair of the component worker' },
    keystone_notifications: {
      enable: 'nothing: the component keystone-listener is there for them',
      topic: 'nothing: it is where notifications are sent to',
    },
    simple_crypto_plugin: { kek: 'spec.keyEncryptionKeySecretName' },
  },
  retainedSecrets: ['kek'],
  secrets: ({ spec, named }) =>
    spec.keyEncryptionKeySecretName === undefined
      ? [
          {
            suffix: 'kek',
            values: { kek: { type: 'fernetKey' } },
            secretClass: 'keyMaterial',
            guards: { kind: 'Job', name: named('db-sync'), data: 'the secrets stored in Barbican' },
          },
        ]
      : [],
  lasting: ({ spec, named }) => ({
    'spec.keyEncryptionKeySecretName': spec.keyEncryptionKeySecretName ?? named('kek'),
  }),
  config: (context) => ({
    main: files(context, proxied, authtoken(context), messaging(context, { pthreadHeartbeat: true }), {
      // Empty: links have the address by which a client asks, inside as outside.
      DEFAULT: { host_href: '' },
      queue: { enable: true },
      // Barbican sets it to false, and then no member may store a secret (seen live).
      oslo_policy: { enforce_new_defaults: true },
    }),
    worker: files(context, messaging(context)),
    // It listens by the URL of its RPC, and by no other (barbican.queue.get_notification_server).
    'keystone-listener': files(context, messaging(context, { vhost: context.accounts.broker.notifications }), {
      keystone_notifications: { enable: true, topic },
    }),
  }),
  components: (context) => ({
    api: {
      workload: 'Deployment',
      image: 'barbican-api',
      runs: { wsgi: 'barbican.api.app:get_api_wsgi_script()', threads: 1 },
      ports: { api: 9311 },
      health: { get: '/healthcheck', port: 'api' },
      exposed: 'api',
      reachable: 'anyone',
      resources: { cpu: '50m', memory: '256Mi' },
    },
    worker: { ...program(context, 'worker'), replicas: context.spec.workerReplicas ?? 1 },
    'keystone-listener': program(context, 'keystone-listener'),
  }),
  migrate: () => ({ image: 'barbican-api', sync: ['barbican-manage', 'db', 'upgrade'] }),
});

/** How others find the keys of volumes: as whoever asks them, and as themselves where his token has expired meanwhile. */
function keyManager(context: Context): Layer {
  const { region_name: region, ...login } = client(context);
  return {
    key_manager: { backend: 'barbican' },
    barbican: {
      auth_endpoint: context.identity.internalUrl,
      barbican_endpoint_type: 'internal',
      barbican_region_name: region ?? context.region,
      send_service_user_token: true,
      ...trustOfApis(context, 'verify_ssl_path'),
    },
    barbican_service_user: login,
  };
}

/** A program without a port. Plug-ins read the file at its usual place, whatever the command line says. */
function program({ broker }: Context<Barbican>, name: 'worker' | 'keystone-listener'): Component {
  return {
    workload: 'Deployment',
    image: `barbican-${name}`,
    config: name,
    runs: { command: [`barbican-${name}`] },
    health: { connected: `barbican-${name}`, to: [`${broker.host}:${broker.port}`] },
    resources: { cpu: '25m', memory: '192Mi' },
  };
}

/** Programs and plug-ins read `barbican.conf.d` beside the file, so that only what holds the key has to be a Secret. */
function files(context: Context<Barbican>, ...more: readonly Layer[]): ConfigFiles {
  const { spec, named } = context;
  const kek = secretReference(spec.keyEncryptionKeySecretName ?? named('kek'), 'kek', 'oslo');
  return {
    '/etc/barbican/barbican.conf': { oslo: sections(logging, database(context, 'barbican'), ...more) },
    // A list, because the option may be given many times.
    '/etc/barbican/barbican.conf.d/key.conf': { oslo: { simple_crypto_plugin: { kek: [kek] } } },
  };
}
