import { database, identity, messageQueue } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api, hostname } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { secretName } from '../../api/references.ts';
import { days, passwordRotationDays, recordsAudit, schedule, suspend } from '../../api/schedules.ts';
import { int, object, transition } from '../../api/schema.ts';
import { common, endpoints, lasting, phase } from '../../api/status.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { cacheRef } from '../../infrastructure/memcached/reference.ts';
import { messageQueueRef } from '../../infrastructure/rabbitmq/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';

/** Orchestration. */
export const Heat = defineApi({
  kind: 'Heat',
  plural: 'heats',
  shortName: 'oshe',
  description: 'Orchestration: stacks, which are made, changed and deleted as templates describe them.',
  nameLength: nameLength.service,
  spec: object('Desired state of Heat.', {
    ...template({
      main: 'the API',
      components: ['api', 'cfn', 'engine'],
      counted: { engine: 'engineReplicas' },
      wsgi: ['api', 'cfn'],
      workers: ['engine'],
    }),
    engineReplicas: int(
      'How many pods of the engine run, which does the work of the APIs. Each has two workers, or components.engine.processes of them.',
      {
        minimum: 0,
        maximum: 100,
        fallback: 1,
      },
    ),
    ...api('heat'),
    cfnPublicHostname: hostname('Host name from outside of the API that servers of stacks signal to.', {
      otherwise: 'heat-cfn.<publicDomain> below a control plane; else servers outside of the cluster cannot signal',
    }),
    release,
    region,
    databaseRef,
    messageQueueRef,
    cacheRef,
    keystoneRef,
    database: database('heat', ['heat']),
    messageQueue: messageQueue('heat'),
    identity: identity('heat', { users: ['heat_domain_admin'], domains: ['heat'] }),
    authEncryptionKeySecretName: transition(
      secretName(
        'Secret with the key that encrypts credentials and hidden parameters of stacks (key key: 32 characters), such as that of a cloud that is adopted. Key material: without it no stack can be changed or deleted. If absent, <name>-auth-encryption-key is generated. It cannot be added, changed or removed later.',
      ),
      {
        absent: '""',
        allows: (next, previous) => `${next} == ${previous}`,
        message:
          'cannot be added, changed or removed after creation: what stacks need is encrypted under the former key, and encrypting it anew is not offered; set it back, or create another Heat',
      },
    ),
    recordsAudit,
    passwordRotationDays,
    housekeeping: object('Removal of rows of deleted stacks.', {
      schedule: schedule('every night between 1:00 and 4:59, at a time that follows from the name'),
      suspend,
      purgeAfterDays: days('Days after which rows are removed, counted from the deletion.', 30),
    }),
    config: config('heat.conf'),
    policy,
    unknownOptions,
  }),
  status: object('Observed state of Heat.', { ...common, phase, ...endpoints, lasting }),
  columns: [endpointColumn],
});

export type Heat = ObjectOf<typeof Heat>;
export type HeatSpec = SpecOf<typeof Heat>;
export type HeatStatus = StatusOf<typeof Heat>;
