import { database, identity } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api, hostname } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { onlyOffered } from '../../api/offering.ts';
import { passwordRotationDays, recordsAudit, schedule, suspend } from '../../api/schedules.ts';
import { bool, choice, object } from '../../api/schema.ts';
import { common, endpoints, phase } from '../../api/status.ts';
import { storage } from '../../api/storage.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { cacheRef } from '../../infrastructure/memcached/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';

/** Messages between the programs of users. */
export const Zaqar = defineApi({
  kind: 'Zaqar',
  plural: 'zaqars',
  shortName: 'oszq',
  description: 'Queues of messages between the programs of users.',
  nameLength: nameLength.service,
  spec: object('Desired state of Zaqar.', {
    ...template({
      main: 'the API',
      components: ['api', 'websocket', 'store'],
      wsgi: ['api'],
      single: { components: ['store'], reason: 'each of several stores would have other messages' },
    }),
    messageStore: choice(
      'What keeps messages. redis is a Valkey that belongs to this Zaqar.',
      ['mongodb', 'redis', 'swift'],
      {
        fallback: 'redis',
        rules: [onlyOffered('messageStore', ['redis'])],
      },
    ),
    storage: storage('Volume of the store of messages.', '10Gi'),
    enableWebsocket: bool('Whether Zaqar is spoken to by websockets as well.', { fallback: true }),
    websocketPublicHostname: hostname('Host name from outside of the websockets.', {
      otherwise: 'zaqar-websocket.<publicDomain> below a control plane; else they are reached inside alone',
    }),
    ...api('zaqar'),
    release,
    region,
    databaseRef,
    cacheRef,
    keystoneRef,
    database: database('zaqar', ['zaqar']),
    identity: identity('zaqar'),
    recordsAudit,
    passwordRotationDays,
    housekeeping: object('Removal of what expired messages leave in the store.', {
      schedule: schedule('every night between 1:00 and 4:59, at a time that follows from the name'),
      suspend,
    }),
    config: config('zaqar.conf'),
    policy,
    unknownOptions,
  }),
  status: object('Observed state of Zaqar.', { ...common, phase, ...endpoints }),
  columns: [endpointColumn],
});

export type Zaqar = ObjectOf<typeof Zaqar>;
export type ZaqarSpec = SpecOf<typeof Zaqar>;
export type ZaqarStatus = StatusOf<typeof Zaqar>;
