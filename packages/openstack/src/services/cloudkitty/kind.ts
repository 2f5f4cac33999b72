import { database, identity, messageQueue } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { onlyOffered } from '../../api/offering.ts';
import { passwordRotationDays, recordsAudit } from '../../api/schedules.ts';
import { choice, int, object, rule, string } from '../../api/schema.ts';
import { common, endpoints, phase } from '../../api/status.ts';
import { dataConfig, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { cacheRef, coordinationRef } from '../../infrastructure/memcached/reference.ts';
import { messageQueueRef } from '../../infrastructure/rabbitmq/reference.ts';
import { gnocchiRef } from '../gnocchi/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';

const usedOfPrometheus = rule(
  "(has(self.collector) && self.collector == 'prometheus') == has(self.prometheusURL)",
  'collector prometheus and prometheusURL are set together',
  '.prometheusURL',
);

/** Rating. */
export const CloudKitty = defineApi({
  kind: 'CloudKitty',
  plural: 'cloudkitties',
  shortName: 'osck',
  description: 'Rating: what projects have used, and what that costs by rules of the administrator.',
  nameLength: nameLength.service,
  spec: object(
    'Desired state of CloudKitty.',
    {
      ...template({
        main: 'the API',
        components: ['api', 'processor'],
        counted: { processor: 'processorReplicas' },
        wsgi: ['api'],
      }),
      processorReplicas: int(
        'How many pods of the processor run, which rates; they share projects by coordinationRef.',
        {
          minimum: 0,
          maximum: 100,
          fallback: 1,
        },
      ),
      collector: choice(
        'Where measures come from: gnocchi asks the Gnocchi of gnocchiRef, prometheus the Prometheus at prometheusURL.',
        ['ceilometer', 'prometheus', 'gnocchi'],
        { fallback: 'gnocchi', rules: [onlyOffered('collector', ['gnocchi', 'prometheus'])] },
      ),
      prometheusURL: string('API of a Prometheus, for collector prometheus.', {
        maxLength: 512,
        form: {
          pattern: '^https?://[^/ ]+/api/v1$',
          expected: 'a URL that ends with /api/v1, such as http://prometheus.monitoring.svc:9090/api/v1',
        },
      }),
      fetcher: choice(
        'Which projects are rated: keystone takes those in which the user of CloudKitty has the role rating, and asks at the public endpoint of Keystone; gnocchi takes all that Gnocchi has resources of.',
        ['keystone', 'gnocchi'],
        { fallback: 'keystone' },
      ),
      ...api('cloudkitty'),
      release,
      region,
      databaseRef,
      messageQueueRef,
      cacheRef,
      coordinationRef,
      keystoneRef,
      gnocchiRef: gnocchiRef('has the measures'),
      database: database('cloudkitty', ['cloudkitty']),
      messageQueue: messageQueue('cloudkitty'),
      identity: identity('cloudkitty'),
      recordsAudit,
      passwordRotationDays,
      config: dataConfig('metrics.yml'),
      policy,
      unknownOptions,
    },
    { rules: [usedOfPrometheus] },
  ),
  status: object('Observed state of CloudKitty.', { ...common, phase, ...endpoints }),
  columns: [endpointColumn],
});

export type CloudKitty = ObjectOf<typeof CloudKitty>;
export type CloudKittySpec = SpecOf<typeof CloudKitty>;
export type CloudKittyStatus = StatusOf<typeof CloudKitty>;
