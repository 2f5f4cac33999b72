import { cloudLabel, computeLabel } from '../../engine/names/names.ts';
import type { Component } from '../../engine/vocabulary/component.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import { configSets, topic } from './configuration.ts';
import { Ceilometer } from './kind.ts';

type Spec = Partial<Ceilometer['spec']>;

const inGnocchi = ({ metricsBackend }: Spec): boolean => metricsBackend === 'gnocchi';

const centralAgents = ({ centralAgentReplicas, replicas }: Spec): number => centralAgentReplicas ?? replicas ?? 1;

/** Measures and events of a cloud: an agent that asks APIs, one that reads notifications, and one beside the servers. */
export const ceilometer = defineService<Ceilometer>({
  kind: Ceilometer,
  offers: { ceilometerRef: {} },
  child: { field: 'ceilometer', phase: 'ExtendedServices', description: 'Telemetry.', optional: true },
  name: 'ceilometer',
  user: 'ceilometer',
  dependsOn: {
    messageQueueRef: 'steps',
    cacheRef: 'steps',
    keystoneRef: 'start',
    // One agent alone asks nobody: what it coordinates by may be restarted, and it would look at nothing any more.
    coordinationRef: { stated: (spec) => centralAgents(spec) > 1 },
    gnocchiRef: { stated: inGnocchi },
  },
  messaging: true,
  listens: { topic, to: 'all' },
  // It has no API.
  identity: {
    users: [{ name: 'ceilometer', roles: ['admin', 'service'], owns: 'resources and metrics in Gnocchi' }],
    catalogue: [],
  },
  owned: {
    DEFAULT: { host: 'nothing: an agent is named after its node' },
    oslo_messaging_notifications: { topics: 'nothing: other services send there' },
    coordination: { backend_url: 'spec.coordinationRef' },
    polling: {
      enable_notifications: 'spec.metricsBackend',
      enable_prometheus_exporter: 'spec.metricsBackend',
      prometheus_listen_addresses: 'nothing: the Service connects to it',
    },
    publisher: { telemetry_secret: 'nothing: it is generated' },
  },
  secrets: () => [
    {
      suffix: 'telemetry-secret',
      values: { password: { type: 'password', length: 32 } },
      secretClass: 'credential',
    },
  ],
  // Its agents are beside the servers.
  usesNodes: true,
  config: (context) =>
    configSets(context, { gnocchi: inGnocchi(context.spec), shares: centralAgents(context.spec) > 1 }),
  components: (context) => ({
    central: polling(context, {
      workload: 'Deployment',
      image: 'ceilometer-central',
      replicas: centralAgents(context.spec),
      runs: { command: ['ceilometer-polling', '--polling-namespaces', 'central'] },
    }),
    notification: {
      workload: 'Deployment',
      image: 'ceilometer-notification',
      replicas: context.spec.notificationAgentReplicas ?? 1,
      config: 'notification',
      runs: { command: ['ceilometer-agent-notification'] },
      health: { connected: 'ceilometer-agent-notification', to: [`${context.broker.host}:${context.broker.port}`] },
      resources: { cpu: '50m', memory: '256Mi' },
    },
    ...(context.spec.enableComputeAgent === false ? {} : { compute: computeAgent(context) }),
  }),
  jobs: ({ spec }) =>
    inGnocchi(spec)
      ? [
          {
            suffix: 'upgrade',
            step: 'ResourceTypesReady',
            needs: ['ConfigReady'],
            asks: ['gnocchiRef'],
            image: 'ceilometer-notification',
            config: 'notification',
            runs: [{ name: 'upgrade', command: ['ceilometer-upgrade'] }],
          },
        ]
      : [],
  // A notification agent that finds no Gnocchi when it starts sends nothing there for as long as it runs.
  needs: { DeploymentReady: ['ResourceTypesReady'], AgentsReady: ['ResourceTypesReady'] },
});

/** An agent that looks at things now and then. Its connections come and go with that. */
function polling(
  { spec }: Context<Ceilometer>,
  component: Pick<Component, 'workload' | 'image' | 'runs'> & Partial<Component>,
): Component {
  return {
    health: { connected: 'ceilometer-polling', to: [] },
    ...(inGnocchi(spec) ? {} : { ports: { metrics: 9101 }, clients: 'own', monitored: ['metrics'] }),
    resources: { cpu: '25m', memory: '192Mi' },
    ...component,
  };
}

/** It asks libvirt of its node, by the socket that only reads, which is open to everybody there. */
function computeAgent(context: Context<Ceilometer>): Component {
  return polling(context, {
    workload: 'DaemonSet',
    step: 'AgentsReady',
    image: 'ceilometer-compute',
    config: 'compute',
    nodeAgent: { nodes: { [cloudLabel]: context.cloud, [computeLabel]: 'true' } },
    runs: { command: ['ceilometer-polling', '--polling-namespaces', 'compute'] },
    env: { OS_DEFAULT__HOST: { field: 'spec.nodeName' } },
    mounts: [{ path: '/run/libvirt', host: 'DirectoryOrCreate', readOnly: true }],
    strategy: 'RollingUpdate',
  });
}
