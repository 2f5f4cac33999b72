import { database, identity, messageQueue } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { days, passwordRotationDays, recordsAudit, schedule, suspend } from '../../api/schedules.ts';
import { int, object } from '../../api/schema.ts';
import { common, endpoints, phase } from '../../api/status.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { cacheRef } from '../../infrastructure/memcached/reference.ts';
import { messageQueueRef } from '../../infrastructure/rabbitmq/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';

const pods = (what: string) => int(`How many pods of ${what} run.`, { minimum: 0, maximum: 100, fallback: 1 });

/** Optimization. */
export const Watcher = defineApi({
  kind: 'Watcher',
  plural: 'watchers',
  shortName: 'oswt',
  description: 'Optimization: audits of the cloud for a goal, and action plans that reach it.',
  nameLength: nameLength.service,
  spec: object('Desired state of Watcher.', {
    ...template({
      main: 'the API',
      components: ['api', 'decision-engine', 'applier'],
      counted: { 'decision-engine': 'decisionEngineReplicas', applier: 'applierReplicas' },
      wsgi: ['api'],
    }),
    decisionEngineReplicas: pods('the decision engine, which runs audits and writes action plans'),
    applierReplicas: pods('the applier, which carries out action plans'),
    ...api('watcher'),
    release,
    region,
    databaseRef,
    messageQueueRef,
    cacheRef,
    keystoneRef,
    database: database('watcher', ['watcher']),
    messageQueue: messageQueue('watcher'),
    identity: identity('watcher'),
    recordsAudit,
    passwordRotationDays,
    housekeeping: object('Removal of rows of deleted audits and action plans.', {
      schedule: schedule('every night between 1:00 and 4:59, at a time that follows from the name'),
      suspend,
      purgeAfterDays: days('Days after which rows are removed, counted from the deletion.', 30),
    }),
    config: config('watcher.conf'),
    policy,
    unknownOptions,
  }),
  status: object('Observed state of Watcher.', { ...common, phase, ...endpoints }),
  columns: [endpointColumn],
});

export type Watcher = ObjectOf<typeof Watcher>;
export type WatcherSpec = SpecOf<typeof Watcher>;
export type WatcherStatus = StatusOf<typeof Watcher>;
