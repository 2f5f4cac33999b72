import { database, identity, messageQueue } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { host, port } from '../../api/references.ts';
import { passwordRotationDays, recordsAudit } from '../../api/schedules.ts';
import { array, int, object, required, string } from '../../api/schema.ts';
import { common, endpoints, phase } from '../../api/status.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { cacheRef } from '../../infrastructure/memcached/reference.ts';
import { messageQueueRef } from '../../infrastructure/rabbitmq/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';

const word = (what: string) =>
  string(what, {
    maxLength: 64,
    form: { pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$', expected: "a name of letters, digits, '.', '_' and '-'" },
  });

const identifier = (what: string) =>
  string(what, {
    maxLength: 36,
    form: {
      pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
      expected: 'the identifier (a UUID) that Neutron shows',
    },
  });

const guestNetwork = object('How the guest agents in database servers, and Trove, find each other.', {
  networkID: required(
    identifier('Network in Neutron that every database server gets a port in, from which agents reach brokerHost.'),
  ),
  securityGroupIDs: array('Security groups of these ports.', identifier('Identifier of a security group.'), {
    maxItems: 16,
    unique: true,
  }),
  brokerHost: required(host('Where agents reach the message broker from that network.')),
  brokerPort: port('Port of the message broker there.', 5672),
});

/** Databases for users. */
export const Trove = defineApi({
  kind: 'Trove',
  plural: 'troves',
  shortName: 'ostr',
  description: 'Databases for users, each in a server of the cloud with an agent in it.',
  nameLength: nameLength.service,
  spec: object('Desired state of Trove.', {
    ...template({
      main: 'the API',
      components: ['api', 'taskmanager', 'conductor'],
      counted: { taskmanager: 'taskManagerReplicas' },
      wsgi: ['api'],
      workers: ['conductor'],
    }),
    taskManagerReplicas: int(
      'How many pods of the task manager run, which makes, changes and deletes database servers.',
      {
        minimum: 0,
        maximum: 100,
        fallback: 1,
      },
    ),
    enabledDatastores: array(
      'Database engines that are offered. One that is left out later stays: delete it by the API.',
      word('Name, such as mysql.'),
      {
        minItems: 1,
        maxItems: 16,
        unique: true,
        fallback: ['mysql', 'postgresql'],
      },
    ),
    datastoreVersions: array(
      'Versions of them, each of which needs an image of a guest. One that is left out later stays.',
      object('A version of a database engine.', {
        datastore: required(word('The engine, such as mysql.')),
        name: required(word('Its name, such as 8.4.')),
        imageTags: required(
          array('Tags that images in Glance have to have: the newest one is taken.', word('A tag.'), {
            minItems: 1,
            maxItems: 8,
          }),
        ),
      }),
      { maxItems: 16, keys: ['datastore', 'name'] },
    ),
    guestNetwork,
    ...api('trove'),
    release,
    region,
    databaseRef,
    messageQueueRef,
    cacheRef,
    keystoneRef,
    database: database('trove', ['trove']),
    messageQueue: messageQueue('trove'),
    identity: identity('trove'),
    recordsAudit,
    passwordRotationDays,
    config: config('trove.conf'),
    policy,
    unknownOptions,
  }),
  status: object('Observed state of Trove.', { ...common, phase, ...endpoints }),
  columns: [endpointColumn],
});

export type Trove = ObjectOf<typeof Trove>;
export type TroveSpec = SpecOf<typeof Trove>;
export type TroveStatus = StatusOf<typeof Trove>;
