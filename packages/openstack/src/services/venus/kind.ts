import { database, identity } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { nameLength } from '../../api/names.ts';
import { atMost } from '../../api/offering.ts';
import { passwordRotationDays, recordsAudit } from '../../api/schedules.ts';
import { int, object, required, string } from '../../api/schema.ts';
import { common, endpoints, phase } from '../../api/status.ts';
import { config, region, release, template, unknownOptions } from '../../api/template.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { cacheRef } from '../../infrastructure/memcached/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';

const reason = 'each would look for anomalies, and record each of them again';

/** Logs. */
export const Venus = defineApi({
  kind: 'Venus',
  plural: 'venuses',
  shortName: 'osve',
  description: 'Logs: searches in what an Elasticsearch or OpenSearch keeps, and rules that tell of anomalies.',
  nameLength: nameLength.service,
  spec: object('Desired state of Venus.', {
    ...template({
      main: 'the API',
      components: ['api', 'manager'],
      images: ['tls-proxy'],
      counted: { manager: 'managerReplicas' },
      single: { components: ['manager'], reason },
      workers: ['api'],
    }),
    managerReplicas: int(
      'How many pods of the manager run, which records anomalies, and deletes old indices, whosever they are: one, or none.',
      { minimum: 0, maximum: 100, fallback: 1, rules: [atMost(1, 'managerReplicas', reason)] },
    ),
    elasticsearchURL: required(
      string(
        'Where the logs are: an Elasticsearch or OpenSearch of your own, for logs alone. The operator runs none. Venus asks it without TLS, and searches without a password.',
        {
          maxLength: 512,
          form: {
            pattern: '^http://[^/@:?# ]+:[0-9]{1,5}$',
            expected: 'http:// with host and port, such as http://opensearch.logging.svc:9200',
          },
        },
      ),
    ),
    release,
    region,
    databaseRef,
    cacheRef,
    keystoneRef,
    database: database('venus', ['venus']),
    identity: identity('venus'),
    recordsAudit,
    passwordRotationDays,
    config: config('venus.conf'),
    unknownOptions,
  }),
  status: object('Observed state of Venus.', { ...common, phase, ...endpoints }),
  columns: [endpointColumn],
});

export type Venus = ObjectOf<typeof Venus>;
export type VenusSpec = SpecOf<typeof Venus>;
export type VenusStatus = StatusOf<typeof Venus>;
