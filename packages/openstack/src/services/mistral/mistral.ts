import {
  authtoken,
  database,
  logging,
  messaging,
  proxied,
  sections,
  trustByVariable,
  trustOfApis,
} from '../../engine/configuration/sections.ts';
import type { Component } from '../../engine/vocabulary/component.ts';
import type { DataSource } from '../../engine/vocabulary/config-files.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { CatalogueEntry } from '../../engine/vocabulary/identity.ts';
import { defineService } from '../../engine/vocabulary/service.ts';
import type { Layer } from '../../oslo/layers.ts';
import { Mistral } from './kind.ts';

/** What lies there comes over what users say. */
const policies = '/etc/mistral/policy.d';

/** Mistral lets every project add code in Python, and runs it where the passwords of its accounts are: administrators alone may. */
const codePolicy: DataSource = {
  format: 'yaml',
  data: Object.fromEntries(
    ['code_sources', 'dynamic_actions'].flatMap((what) =>
      ['create', 'update'].map((verb) => [`${what}:${verb}`, 'role:admin']),
    ),
  ),
};

/** Workflows: an API, engines that decide what comes next, executors that do it, and what waits for events. */
export const mistral = defineService<Mistral>({
  kind: Mistral,
  offers: { mistralRef: {} },
  child: { field: 'mistral', phase: 'ExtendedServices', description: 'Workflows.', optional: true },
  name: 'mistral',
  user: 'mistral',
  dependsOn: { databaseRef: 'steps', messageQueueRef: 'steps', cacheRef: 'steps', keystoneRef: 'start' },
  databases: [{ name: 'mistral' }],
  connections: () => ({
    api: { pools: 1 },
    engine: { processes: 1, pools: 1 },
    executor: { processes: 1, pools: 1 },
    'event-engine': { processes: 1, pools: 1 },
  }),
  messaging: true,
  identity: {
    // What runs at a time or after an event does so by a trust: with the rights of who asked for it.
    users: [{ name: 'mistral', roles: ['service'], owns: 'trusts of owners of triggers' }],
    // The first is the official type, the second what the client of Mistral looks for.
    catalogue: [entry('workflow', 'mistral'), entry('workflowv2', 'mistralv2')],
  },
  owned: {
    executor: { type: 'nothing: actions are the affair of the component executor' },
    notifier: { type: 'nothing: engines send notifications themselves' },
    oslo_policy: { policy_dirs: 'nothing: who may add code runs it in the pods of Mistral' },
    execution_expiration_policy: {
      evaluation_interval: 'spec.housekeeping.purgeAfterDays',
      older_than: 'spec.housekeeping.purgeAfterDays',
    },
  },
  config: (context) => {
    const common = sections(logging, database(context, 'mistral'), authtoken(context), {
      // Trusts are made, and actions log in, at this address.
      keystone_authtoken: { www_authenticate_uri: context.identity.internalUrl },
      ...(context.identity.trust && { keystone: trustOfApis(context) }),
      executor: { type: 'remote' },
      notifier: { type: 'local' },
      ...expiry(context),
    });
    const api = messaging(context, { pthreadHeartbeat: true });
    const own = { healthcheck: { enabled: true }, oslo_policy: { policy_dirs: policies } };
    return {
      main: {
        '/etc/mistral/mistral.conf': { oslo: sections(common, api, proxied, own) },
        [`${policies}/code.yaml`]: codePolicy,
      },
      server: { '/etc/mistral/mistral.conf': { oslo: sections(common, messaging(context)) } },
    };
  },
  components: (context) => ({
    api: {
      workload: 'Deployment',
      image: 'mistral-api',
      runs: { wsgi: 'mistral.api.app:init_wsgi()', threads: 1 },
      ports: { api: 8989 },
      health: { get: '/healthcheck', port: 'api' },
      exposed: 'api',
      reachable: 'anyone',
      // Who makes trusts has no option for it.
      env: trustByVariable(context),
      resources: { cpu: '50m', memory: '256Mi' },
    },
    engine: server(context, 'engine', context.spec.engineReplicas),
    executor: server(context, 'executor', context.spec.executorReplicas),
    'event-engine': server(context, 'event-engine'),
  }),
  migrate: () => ({ image: 'mistral-api', sync: ['mistral-db-manage', 'upgrade', 'head'] }),
  jobs: () => [
    {
      // Actions and workflows that come with Mistral: they are made, or brought to what this release has.
      suffix: 'db-populate',
      step: 'ActionsReady',
      needs: ['MigrationReady'],
      image: 'mistral-api',
      runs: [{ name: 'db-populate', command: ['mistral-db-manage', 'populate'] }],
    },
  ],
  needs: { DeploymentReady: ['ActionsReady'] },
});

function entry(type: string, name: string): CatalogueEntry {
  return { type, name, description: 'OpenStack Workflow', component: 'api', port: 'api', path: '/v2' };
}

/** Engines remove executions, once an hour, some at a time. */
function expiry({ spec }: Context<Mistral>): Layer {
  const { purgeAfterDays } = spec.housekeeping ?? {};
  if (purgeAfterDays === undefined) return {};
  const minutes = purgeAfterDays * 24 * 60;
  return { execution_expiration_policy: { evaluation_interval: 60, older_than: minutes, batch_size: 100 } };
}

function server(context: Context<Mistral>, name: 'engine' | 'executor' | 'event-engine', replicas = 1): Component {
  const { broker } = context;
  return {
    workload: 'Deployment',
    image: `mistral-${name}`,
    replicas,
    config: 'server',
    runs: { command: ['mistral-server', '--server', name] },
    health: { connected: 'mistral-server', to: [`${broker.host}:${broker.port}`] },
    // Executors make no trusts, and send the requests of workflows to whatever server these name.
    ...(name === 'executor' ? {} : { env: trustByVariable(context) }),
    // What has begun is brought to its end (graceful_shutdown_timeout), or another one does it again.
    graceSeconds: 70,
    resources: { cpu: '25m', memory: '256Mi' },
  };
}
