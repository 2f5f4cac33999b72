import { database, identity, messageQueue } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { atMost } from '../../api/offering.ts';
import { serviceRef } from '../../api/references.ts';
import { passwordRotationDays, recordsAudit } from '../../api/schedules.ts';
import { array, choice, int, object } from '../../api/schema.ts';
import { common, endpoints, phase } from '../../api/status.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { cacheRef } from '../../infrastructure/memcached/reference.ts';
import { messageQueueRef } from '../../infrastructure/rabbitmq/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';

const reason = 'two managers would begin and end the same leases';

/** Reservations. */
export const Blazar = defineApi({
  kind: 'Blazar',
  plural: 'blazars',
  shortName: 'osbz',
  description: 'Reservations: leases of hosts, servers and floating addresses, from one time to another.',
  nameLength: nameLength.service,
  spec: object('Desired state of Blazar.', {
    ...template({
      main: 'the API',
      components: ['api', 'manager'],
      counted: { manager: 'managerReplicas' },
      single: { components: ['manager'], reason },
      wsgi: ['api'],
    }),
    managerReplicas: int('How many pods of the manager run, which begins and ends leases: one, or none.', {
      minimum: 0,
      maximum: 100,
      fallback: 1,
      rules: [atMost(1, 'managerReplicas', reason)],
    }),
    ...api('blazar'),
    release,
    region,
    databaseRef,
    messageQueueRef,
    cacheRef,
    keystoneRef,
    novaRef: serviceRef('Nova', 'whose hosts are reserved'),
    database: database('blazar', ['blazar']),
    messageQueue: messageQueue('blazar'),
    identity: identity('blazar'),
    enabledPlugins: array(
      'What can be reserved.',
      choice('A plug-in.', [
        'physical.host.plugin',
        'virtual.instance.plugin',
        'flavor.instance.plugin',
        'virtual.floatingip.plugin',
      ]),
      { minItems: 1, maxItems: 4, unique: true, fallback: ['physical.host.plugin', 'virtual.instance.plugin'] },
    ),
    recordsAudit,
    passwordRotationDays,
    config: config('blazar.conf'),
    policy,
    unknownOptions,
  }),
  status: object('Observed state of Blazar.', { ...common, phase, ...endpoints }),
  columns: [endpointColumn],
});

export type Blazar = ObjectOf<typeof Blazar>;
export type BlazarSpec = SpecOf<typeof Blazar>;
export type BlazarStatus = StatusOf<typeof Blazar>;
