import {
  authtoken,
  client,
  database,
  logging,
  messaging,
  proxied,
  sections,
} from '../../engine/configuration/sections.ts';
import { nightly } from '../../engine/objects/schedule.ts';
import type { Component } from '../../engine/vocabulary/component.ts';
import type { ConfigFiles } from '../../engine/vocabulary/config-files.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import { defineService, type Schedule } from '../../engine/vocabulary/service.ts';
import { Aodh } from './kind.ts';

/** The topic of events that alarms may be about. */
const topic = 'alarm.all';

/** Alarms on events and on measures: an API, and three programs that find out and act. */
export const aodh = defineService<Aodh>({
  kind: Aodh,
  offers: { aodhRef: {} },
  child: { field: 'aodh', phase: 'ExtendedServices', description: 'Alarms.', optional: true },
  name: 'aodh',
  user: 'aodh',
  dependsOn: { databaseRef: 'steps', messageQueueRef: 'steps', cacheRef: 'steps', keystoneRef: 'start' },
  databases: [{ name: 'aodh' }],
  connections: () => ({
    api: { pools: 1 },
    evaluator: { processes: 1, pools: 1 },
    listener: { processes: 1, pools: 1 },
  }),
  messaging: true,
  // Ceilometer makes events of notifications; what services send themselves is none.
  listens: { topic, to: ['ceilometer'] },
  identity: {
    users: [{ name: 'aodh', roles: ['admin', 'service'], owns: 'trusts of owners of alarms' }],
    catalogue: [
      {
        type: 'alarming',
        name: 'aodh',
        description: 'OpenStack Alarming',
        component: 'api',
        port: 'api',
        path: '',
      },
    ],
  },
  owned: {
    listener: { event_alarm_topic: 'nothing: it is where events are sent to' },
    database: { alarm_history_time_to_live: 'spec.housekeeping.purgeAfterDays' },
  },
  config: (context) => ({ main: files(context) }),
  components: (context) => {
    const { broker, database, spec } = context;
    const { evaluatorReplicas = 1, notifierReplicas = 1 } = spec;
    return {
      api: {
        workload: 'Deployment',
        image: 'aodh-api',
        runs: { wsgi: 'aodh.api.app:build_wsgi_app()', threads: 1 },
        ports: { api: 8042 },
        health: { get: '/healthcheck', port: 'api' },
        exposed: 'api',
        reachable: 'anyone',
        resources: { cpu: '50m', memory: '256Mi' },
      },
      // Without a backend of coordination each takes an alarm in the database, so that one of them evaluates it.
      evaluator: { ...program('evaluator', database), replicas: evaluatorReplicas },
      notifier: { ...program('notifier', broker), replicas: notifierReplicas },
      listener: program('listener', broker),
    };
  },
  migrate: () => ({ image: 'aodh-api', sync: ['aodh-dbsync'] }),
  schedules: (context) => [housekeeping(context)],
});

/** A program without a port, which holds a connection to what it works with. */
function program(name: string, { host, port }: { host: string; port: number }): Component {
  return {
    workload: 'Deployment',
    image: `aodh-${name}`,
    runs: { command: [`aodh-${name}`] },
    health: { connected: `aodh-${name}`, to: [`${host}:${port}`] },
    resources: { cpu: '25m', memory: '192Mi' },
  };
}

const day = 86_400;

function files(context: Context<Aodh>): ConfigFiles {
  const { accounts, spec } = context;
  const { purgeAfterDays = 30 } = spec.housekeeping ?? {};
  return {
    '/etc/aodh/aodh.conf': {
      oslo: sections(
        logging,
        proxied,
        database(context, 'aodh'),
        authtoken(context),
        // All of its programs talk where notifications are, also to each other (aodh.messaging.get_transport).
        messaging(context, { pthreadHeartbeat: true, vhost: accounts.broker.notifications }),
        {
          database: { alarm_history_time_to_live: purgeAfterDays * day },
          listener: { event_alarm_topic: topic },
          service_credentials: { ...client(context), interface: 'internal' },
          // Aodh looks in its package for it.
          oslo_policy: { policy_file: '/etc/aodh/policy.yaml' },
        },
      ),
    },
  };
}

/** Changes of alarms, a hundred a transaction. */
function housekeeping(context: Context<Aodh>): Schedule {
  const { schedule, suspend = false } = context.spec.housekeeping ?? {};
  return {
    suffix: 'db-purge',
    image: 'aodh-api',
    runs: [{ name: 'db-purge', command: ['aodh-expirer'] }],
    cron: schedule ?? nightly(context, 'db-purge'),
    suspend,
    deadlineSeconds: 3600,
  };
}
