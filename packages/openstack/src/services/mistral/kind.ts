import { database, identity, messageQueue } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { passwordRotationDays, recordsAudit } from '../../api/schedules.ts';
import { int, object } from '../../api/schema.ts';
import { common, endpoints, phase } from '../../api/status.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { cacheRef } from '../../infrastructure/memcached/reference.ts';
import { messageQueueRef } from '../../infrastructure/rabbitmq/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';

const pods = (what: string) => int(`How many pods of ${what} run.`, { minimum: 0, maximum: 100, fallback: 1 });

/** Workflows. */
export const Mistral = defineApi({
  kind: 'Mistral',
  plural: 'mistrals',
  shortName: 'osmi',
  description: 'Workflows: tasks that are run one after the other, on request and at times.',
  nameLength: nameLength.service,
  spec: object('Desired state of Mistral.', {
    ...template({
      main: 'the API',
      components: ['api', 'engine', 'executor', 'event-engine'],
      counted: { engine: 'engineReplicas', executor: 'executorReplicas' },
      wsgi: ['api'],
    }),
    engineReplicas: pods('the engine, which decides what comes next in a workflow'),
    executorReplicas: pods('the executor, which runs the actions of workflows'),
    ...api('mistral'),
    release,
    region,
    databaseRef,
    messageQueueRef,
    cacheRef,
    keystoneRef,
    database: database('mistral', ['mistral']),
    messageQueue: messageQueue('mistral'),
    identity: identity('mistral'),
    recordsAudit,
    passwordRotationDays,
    housekeeping: object('Removal of executions that have ended.', {
      purgeAfterDays: int('Days after its end when an execution is removed, whether it succeeded or not.', {
        minimum: 1,
        maximum: 3650,
        otherwise: 'executions stay until users delete them',
      }),
    }),
    config: config('mistral.conf'),
    policy,
    unknownOptions,
  }),
  status: object('Observed state of Mistral.', { ...common, phase, ...endpoints }),
  columns: [endpointColumn],
});

export type Mistral = ObjectOf<typeof Mistral>;
export type MistralSpec = SpecOf<typeof Mistral>;
export type MistralStatus = StatusOf<typeof Mistral>;
