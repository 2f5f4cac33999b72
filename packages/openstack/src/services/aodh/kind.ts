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

/** Alarms. */
export const Aodh = defineApi({
  kind: 'Aodh',
  plural: 'aodhs',
  shortName: 'osao',
  description: 'Alarms: what is done when an event happens, or when a measure passes a threshold.',
  nameLength: nameLength.service,
  spec: object('Desired state of Aodh.', {
    ...template({
      main: 'the API',
      components: ['api', 'evaluator', 'notifier', 'listener'],
      counted: { evaluator: 'evaluatorReplicas', notifier: 'notifierReplicas' },
      wsgi: ['api'],
    }),
    evaluatorReplicas: pods('the evaluator, which compares measures with thresholds; pods share the alarms'),
    notifierReplicas: pods('the notifier, which does what alarms ask for'),
    ...api('aodh'),
    release,
    region,
    databaseRef,
    messageQueueRef,
    cacheRef,
    keystoneRef,
    database: database('aodh', ['aodh']),
    messageQueue: messageQueue('aodh'),
    identity: identity('aodh'),
    recordsAudit,
    passwordRotationDays,
    housekeeping: object('Removal of the history of alarms.', {
      schedule: schedule('every night between 1:00 and 4:59, at a time that follows from the name'),
      suspend,
      purgeAfterDays: days('Days after which changes of alarms are removed from their history.', 30),
    }),
    config: config('aodh.conf'),
    policy,
    unknownOptions,
  }),
  status: object('Observed state of Aodh.', { ...common, phase, ...endpoints }),
  columns: [endpointColumn],
});

export type Aodh = ObjectOf<typeof Aodh>;
export type AodhSpec = SpecOf<typeof Aodh>;
export type AodhStatus = StatusOf<typeof Aodh>;
