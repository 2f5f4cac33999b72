import { authtoken, client, database, logging, messaging, sections } from '../../engine/configuration/sections.ts';
import { cloudLabel, computeLabel } from '../../engine/names/names.ts';
import type { Component } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import type { Layer } from '../../oslo/layers.ts';
import type { Nova } from '../nova/kind.ts';
import { Cyborg } from './kind.ts';

const conf = '/etc/cyborg/cyborg.conf';

/** Devices of nodes: an API, a conductor that tells Placement of them, and agents that find them. */
export const cyborg = defineService<Cyborg>({
  kind: Cyborg,
  offers: { cyborgRef: {} },
  child: { field: 'cyborg', phase: 'ExtendedServices', description: 'Accelerators.', optional: true },
  name: 'cyborg',
  user: 'cyborg',
  dependsOn: {
    databaseRef: 'steps',
    messageQueueRef: 'steps',
    cacheRef: 'steps',
    keystoneRef: 'start',
    novaRef: 'steps',
  },
  databases: [{ name: 'cyborg' }],
  connections: () => ({ api: { pools: 1 }, conductor: { processes: 1, pools: 1 } }),
  messaging: true,
  identity: {
    users: [{ name: 'cyborg', roles: ['admin', 'service'] }],
    catalogue: [
      {
        type: 'accelerator',
        name: 'cyborg',
        description: 'OpenStack Accelerator',
        component: 'api',
        port: 'api',
        path: '/v2',
      },
    ],
  },
  usesNodes: true,
  groups: ({ reference }) => ((reference('novaRef')?.['spec'] ?? {}) as Nova['spec']).nodeGroups ?? [],
  owned: {
    DEFAULT: { host: 'nothing: a host is named after its node, as that of Nova is' },
    agent: { enabled_drivers: 'spec.enabledDrivers' },
  },
  config: (context) => ({
    main: { [conf]: { oslo: controlOptions(context) } },
    // An agent asks the conductor for everything.
    agent: {
      [conf]: {
        oslo: sections(logging, messaging(context), {
          agent: { enabled_drivers: (context.spec.enabledDrivers ?? []).join(',') },
        }),
      },
    },
  }),
  components: (context): Record<string, Component> => ({
    api: {
      workload: 'Deployment',
      image: 'cyborg-api',
      runs: { wsgi: 'cyborg.api.wsgi_app:init_application()', threads: 1 },
      ports: { api: 6666 },
      // It has no /healthcheck; the versions need no token.
      health: { get: '/', port: 'api' },
      exposed: 'api',
      reachable: 'anyone',
      resources: { cpu: '50m', memory: '256Mi' },
    },
    conductor: {
      workload: 'Deployment',
      image: 'cyborg-conductor',
      replicas: context.spec.conductorReplicas ?? 1,
      runs: { command: ['cyborg-conductor'] },
      health: { connected: 'cyborg-conductor', to: [`${context.broker.host}:${context.broker.port}`] },
      resources: { cpu: '25m', memory: '192Mi' },
    },
    ...(hasAgents(context) ? { agent: agent(context) } : {}),
  }),
  migrate: () => ({ image: 'cyborg-api', sync: ['cyborg-dbsync', 'upgrade'] }),
});

function hasAgents({ spec: { enableAgent = true, enabledDrivers } }: Context<Cyborg>): boolean {
  return enableAgent && enabledDrivers !== undefined;
}

/** It touches no guest: it reports devices every minute, and is replaced by itself. */
function agent({ broker, cloud, spec }: Context<Cyborg>): Component {
  const isFake = spec.enabledDrivers?.every((name) => name === 'fake_driver') === true;
  return {
    workload: 'DaemonSet',
    step: 'AgentsReady',
    image: 'cyborg-agent',
    config: 'agent',
    nodeAgent: { nodes: { [cloudLabel]: cloud, [computeLabel]: 'true' } },
    strategy: 'RollingUpdate',
    runs: { command: ['cyborg-agent'] },
    health: { connected: 'cyborg-agent', to: [`${broker.host}:${broker.port}`] },
    env: { OS_DEFAULT__HOST: { field: 'spec.nodeName' } },
    resources: { cpu: '25m', memory: '192Mi' },
    ...(isFake
      ? { host: { network: true } }
      : {
          user: 'root',
          host: { network: true, privileged: true },
          mounts: [{ path: '/dev', host: 'Directory' }],
        }),
  };
}

function controlOptions(context: Context<Cyborg>): Layer {
  const { region_name: _region, ...unregional } = client(context);
  const internal = { ...client(context), valid_interfaces: 'internal' };
  return sections(
    logging,
    database(context, 'cyborg'),
    authtoken(context),
    messaging(context, { pthreadHeartbeat: true }),
    {
      api: { api_paste_config: '/etc/cyborg/api-paste.ini' },
      placement: internal,
      nova: internal,
      // Its section knows no region.
      service_user: { send_service_user_token: true, ...unregional },
    },
  );
}
