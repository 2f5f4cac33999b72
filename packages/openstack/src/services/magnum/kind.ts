import { database, identity, messageQueue } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { onlyOffered } from '../../api/offering.ts';
import { passwordRotationDays, recordsAudit } from '../../api/schedules.ts';
import { choice, int, object } from '../../api/schema.ts';
import { common, endpoints, phase } from '../../api/status.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { cacheRef } from '../../infrastructure/memcached/reference.ts';
import { messageQueueRef } from '../../infrastructure/rabbitmq/reference.ts';
import { barbicanRef } from '../barbican/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';

/** Clusters of Kubernetes for users. */
export const Magnum = defineApi({
  kind: 'Magnum',
  plural: 'magnums',
  shortName: 'osmg',
  description: 'Clusters of Kubernetes, made of servers of the cloud as templates describe them.',
  nameLength: nameLength.service,
  spec: object('Desired state of Magnum.', {
    ...template({
      main: 'the API',
      components: ['api', 'conductor'],
      counted: { conductor: 'conductorReplicas' },
      wsgi: ['api'],
      workers: ['conductor'],
    }),
    conductorReplicas: int('How many pods of the conductor run, which makes, changes and deletes clusters.', {
      minimum: 0,
      maximum: 100,
      fallback: 1,
    }),
    defaultCOE: choice(
      'What orchestrates the containers of clusters. Kubernetes is all that Magnum has.',
      ['kubernetes', 'swarm'],
      {
        fallback: 'kubernetes',
        rules: [onlyOffered('defaultCOE', ['kubernetes'])],
      },
    ),
    certificateStore: choice(
      'Where the certificates of clusters are kept, with their private keys: in the database, or by the key manager, as secrets of whoever makes a cluster.',
      ['database', 'barbican'],
      { default: 'database', immutable: 'database' },
    ),
    ...api('magnum'),
    release,
    region,
    databaseRef,
    messageQueueRef,
    cacheRef,
    keystoneRef,
    barbicanRef: barbicanRef('the certificates of clusters'),
    database: database('magnum', ['magnum']),
    messageQueue: messageQueue('magnum'),
    identity: identity('magnum', { users: ['magnum_domain_admin'], domains: ['magnum'] }),
    recordsAudit,
    passwordRotationDays,
    config: config('magnum.conf'),
    policy,
    unknownOptions,
  }),
  status: object('Observed state of Magnum.', { ...common, phase, ...endpoints }),
  columns: [endpointColumn],
});

export type Magnum = ObjectOf<typeof Magnum>;
export type MagnumSpec = SpecOf<typeof Magnum>;
export type MagnumStatus = StatusOf<typeof Magnum>;
