import {
  authtoken,
  client,
  database,
  logging,
  messaging,
  proxied,
  sections,
  trustByVariable,
} from '../../engine/configuration/sections.ts';
import type { Component, Mount } from '../../engine/vocabulary/component.ts';
import type { DataSource } from '../../engine/vocabulary/config-files.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService, type Job } from '../../engine/vocabulary/service.ts';
import type { Layer } from '../../oslo/layers.ts';
import { secretReference } from '../../oslo/references.ts';
import { Trove } from './kind.ts';

const state: readonly Mount[] = [{ path: '/var/lib/trove', scratch: true }];
const guestFile = '/etc/trove/trove-guestagent.conf';

/** Databases for users: an API, task managers that make servers, and a conductor that hears the agents in them. */
export const trove = defineService<Trove>({
  kind: Trove,
  offers: { troveRef: {} },
  child: { field: 'trove', phase: 'ExtendedServices', description: 'Databases for users.', optional: true },
  name: 'trove',
  user: 'trove',
  dependsOn: {
    databaseRef: 'steps',
    messageQueueRef: 'steps',
    cacheRef: 'steps',
    keystoneRef: 'start',
    glanceRef: 'cloud',
    neutronRef: 'cloud',
    novaRef: 'cloud',
    cinderRef: 'cloud',
  },
  databases: [{ name: 'trove' }],
  connections: () => ({
    api: { pools: 1 },
    taskmanager: { processes: 1, pools: 1 },
    conductor: { processes: 1, launched: true, pools: 1 },
  }),
  messaging: true,
  brokerUserGivenAway: true,
  identity: {
    users: [{ name: 'trove', roles: ['admin', 'service'], owns: 'key pairs of database servers' }],
    catalogue: [
      {
        type: 'database',
        name: 'trove',
        description: 'OpenStack Database as a Service',
        component: 'api',
        port: 'api',
        path: '/v1.0/%(project_id)s',
      },
    ],
  },
  heldBy: {
    counts: [
      {
        of: 'database instances',
        lists: ['/mgmt/instances?deleted=false&include_clustered=true'],
        items: 'instances',
      },
    ],
  },
  owned: {
    DEFAULT: {
      guest_config: 'nothing: agents are told what the broker needs',
      inst_rpc_key_encr_key: 'nothing: a key is generated',
      taskmanager_rpc_encr_key: 'nothing: a key is generated',
      management_networks: 'spec.guestNetwork.networkID',
      management_security_groups: 'spec.guestNetwork.securityGroupIDs',
    },
    service_credentials: { username: 'spec.identity.userName', password: 'spec.identity.secretName' },
  },
  retainedSecrets: ['rpc-keys'],
  secrets: ({ named }) => [
    {
      suffix: 'rpc-keys',
      values: { taskmanager: { type: 'password', length: 32 }, instances: { type: 'password', length: 32 } },
      secretClass: 'keyMaterial',
      guards: {
        kind: 'Job',
        name: named('db-sync'),
        data: 'the keys by which Trove and the agents of its servers talk',
      },
    },
  ],
  config: (context) => ({
    main: {
      '/etc/trove/trove.conf': { oslo: files(context, messaging(context, { pthreadHeartbeat: true }), proxied) },
    },
    server: {
      '/etc/trove/trove.conf': { oslo: files(context, messaging(context)) },
      [guestFile]: guestConf(context),
    },
  }),
  components: (context) => ({
    api: {
      workload: 'Deployment',
      image: 'trove-api',
      runs: { wsgi: 'trove.cmd.app_wsgi:application', threads: 1 },
      ports: { api: 8779 },
      health: { get: '/healthcheck', port: 'api' },
      exposed: 'api',
      reachable: 'anyone',
      mounts: state,
      env: trustByVariable(context),
      resources: { cpu: '50m', memory: '256Mi' },
    },
    taskmanager: worker(context, 'taskmanager', context.spec.taskManagerReplicas),
    conductor: {
      ...worker(context, 'conductor'),
      workers: { section: 'DEFAULT', option: 'trove_conductor_workers' },
    },
  }),
  migrate: () => ({ image: 'trove-api', mounts: state, sync: ['trove-manage', 'db_sync'] }),
  jobs: (context) => [datastores(context)],
  findings: ({ spec: { guestNetwork } }) =>
    guestNetwork === undefined
      ? { remarks: ['spec.guestNetwork is absent: no database server can be made, because its agent finds no broker'] }
      : {},
});

function worker(context: Context<Trove>, name: 'taskmanager' | 'conductor', replicas = 1): Component {
  const { broker } = context;
  return {
    workload: 'Deployment',
    image: `trove-${name}`,
    replicas,
    config: 'server',
    runs: { command: [`trove-${name}`, '--config-file', '/etc/trove/trove.conf'] },
    health: { connected: `trove-${name}`, to: [`${broker.host}:${broker.port}`] },
    mounts: state,
    env: trustByVariable(context),
    resources: { cpu: '25m', memory: '256Mi' },
  };
}

function files(context: Context<Trove>, ...more: readonly Layer[]): Layer {
  const { spec, named, region } = context;
  // Its clients have no option for whom they trust.
  const { auth_type: _type, cafile: _authority, ...login } = client(context);
  const inside = Object.fromEntries(
    ['nova_compute', 'neutron', 'cinder', 'swift', 'glance', 'trove'].map((name) => [
      `${name}_endpoint_type`,
      'internalURL',
    ]),
  );
  const { networkID, securityGroupIDs = [] } = spec.guestNetwork ?? {};
  return sections(
    logging,
    database(context, 'trove'),
    authtoken(context),
    {
      DEFAULT: {
        control_exchange: 'trove',
        ...inside,
        // By default they are keys that everybody knows.
        taskmanager_rpc_encr_key: secretReference(named('rpc-keys'), 'taskmanager', 'oslo'),
        inst_rpc_key_encr_key: secretReference(named('rpc-keys'), 'instances', 'oslo'),
        trove_conductor_workers: 1,
        guest_config: guestFile,
        ...(networkID === undefined ? {} : { management_networks: networkID }),
        ...(securityGroupIDs.length === 0 ? {} : { management_security_groups: securityGroupIDs.join(',') }),
      },
      service_credentials: { ...login, region_name: region },
    },
    ...more,
  );
}

/** What a task manager lays into each server for its agent. */
function guestConf({ spec, accounts, identity, region }: Context<Trove>): DataSource {
  const { brokerHost: host = 'localhost', brokerPort = 5672 } = spec.guestNetwork ?? {};
  const { user, secret, vhost } = accounts.broker;
  const password = secretReference(secret, 'password', 'url');
  const address = host.includes(':') ? `[${host}]` : host;
  return {
    format: 'ini',
    data: {
      DEFAULT: {
        transport_url: `rabbit://${user}:${password}@${address}:${brokerPort}/${vhost}`,
        control_exchange: 'trove',
      },
      oslo_messaging_rabbit: { rabbit_quorum_queue: true, rabbit_transient_quorum_queue: true },
      service_credentials: { auth_url: identity.publicUrl, region_name: region },
    },
  };
}

/** Engines, then their versions, of which the last one of each is the one that users get who name none. */
function datastores({ spec }: Context<Trove>): Job {
  const { enabledDatastores = ['mysql', 'postgresql'], datastoreVersions = [] } = spec;
  const names = [...new Set([...enabledDatastores, ...datastoreVersions.map(({ datastore }) => datastore)])];
  const commands = names.flatMap((name) => {
    const versions = datastoreVersions.filter(({ datastore }) => datastore === name);
    const last = versions.at(-1);
    return [
      ['datastore_update', name, ''],
      ...versions.map(({ name: version, imageTags }) =>
        // Engine, name, manager, image, packages, active.
        ['datastore_version_update', name, version, name, '', '', '1', '--image-tags', imageTags.join(',')],
      ),
      ...(last === undefined ? [] : [['datastore_update', name, last.name]]),
    ];
  });
  return {
    suffix: 'datastores',
    step: 'DatastoresReady',
    needs: ['MigrationReady'],
    image: 'trove-api',
    mounts: state,
    runs: commands.map((words, index) => ({ name: `datastores-${index + 1}`, command: ['trove-manage', ...words] })),
  };
}
