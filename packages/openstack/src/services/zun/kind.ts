import { database, identity, messageQueue } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api, hostname } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { atMost } from '../../api/offering.ts';
import { passwordRotationDays, recordsAudit } from '../../api/schedules.ts';
import { bool, int, object } from '../../api/schema.ts';
import { common, endpoints, phase } from '../../api/status.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { cacheRef } from '../../infrastructure/memcached/reference.ts';
import { messageQueueRef } from '../../infrastructure/rabbitmq/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';

/** Containers. */
export const Zun = defineApi({
  kind: 'Zun',
  plural: 'zuns',
  shortName: 'oszu',
  description: 'Containers of users, on hosts with Docker outside of the cluster.',
  nameLength: nameLength.service,
  spec: object('Desired state of Zun.', {
    ...template({ main: 'the API', components: ['api', 'wsproxy'], wsgi: ['api'] }),
    computeReplicas: int(
      'How many pods of zun-compute run: none. Hosts outside of the cluster run it, each with a Docker of its own.',
      {
        minimum: 0,
        maximum: 100,
        fallback: 0,
        rules: [
          atMost(
            0,
            'computeReplicas',
            'zun-compute needs a Docker with kuryr-libnetwork, which nodes of a cluster do not have; start it on hosts outside',
          ),
        ],
      },
    ),
    enableWebsocketProxy: bool('Whether users reach consoles of containers, by a proxy of websockets.', {
      fallback: true,
    }),
    websocketPublicHostname: hostname('Host name from outside of that proxy.', {
      otherwise: 'zun-websocket.<publicDomain> below a control plane; else consoles are reached inside alone',
    }),
    ...api('zun'),
    release,
    region,
    databaseRef,
    messageQueueRef,
    cacheRef,
    keystoneRef,
    database: database('zun', ['zun']),
    messageQueue: messageQueue('zun'),
    identity: identity('zun'),
    recordsAudit,
    passwordRotationDays,
    config: config('zun.conf'),
    policy,
    unknownOptions,
  }),
  status: object('Observed state of Zun.', { ...common, phase, ...endpoints }),
  columns: [endpointColumn],
});

export type Zun = ObjectOf<typeof Zun>;
export type ZunSpec = SpecOf<typeof Zun>;
export type ZunStatus = StatusOf<typeof Zun>;
