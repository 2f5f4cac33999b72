import { database, identity, messageQueue } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { onlyOffered } from '../../api/offering.ts';
import { serviceRef } from '../../api/references.ts';
import { days, passwordRotationDays, recordsAudit, schedule, suspend } from '../../api/schedules.ts';
import { bool, choice, int, object } from '../../api/schema.ts';
import { claimedNodes, cloud, common, endpoints, phase } from '../../api/status.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { cacheRef } from '../../infrastructure/memcached/reference.ts';
import { messageQueueRef } from '../../infrastructure/rabbitmq/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';

/** High availability of servers. */
export const Masakari = defineApi({
  kind: 'Masakari',
  plural: 'masakaris',
  shortName: 'osmk',
  description:
    'High availability of servers: those that died are started again, those of a host that failed on others.',
  nameLength: nameLength.service,
  spec: object('Desired state of Masakari.', {
    ...template({
      main: 'the API',
      components: ['api', 'engine', 'instance-monitor'],
      counted: { engine: 'engineReplicas' },
      nodeAgents: ['instance-monitor'],
      wsgi: ['api'],
    }),
    engineReplicas: int('How many pods of the engine run, which does what a notification asks for.', {
      minimum: 0,
      maximum: 100,
      fallback: 1,
    }),
    ...api('masakari'),
    release,
    region,
    databaseRef,
    messageQueueRef,
    cacheRef,
    keystoneRef,
    novaRef: serviceRef('Nova', 'whose servers it watches over'),
    database: database('masakari', ['masakari']),
    messageQueue: messageQueue('masakari'),
    identity: identity('masakari', { users: ['masakari_monitor'] }),
    enableMonitors: bool(
      'Whether a monitor on each node with guests tells of servers that died. That a whole host has failed, somebody else has to tell.',
      { fallback: true },
    ),
    recoveryMethod: choice(
      'What happens to servers of a failed host: evacuate starts them on other hosts. migrate is not offered: nothing migrates from a host that has failed.',
      ['evacuate', 'migrate'],
      { fallback: 'evacuate', rules: [onlyOffered('recoveryMethod', ['evacuate'])] },
    ),
    recordsAudit,
    passwordRotationDays,
    housekeeping: object('Removal of rows of deleted segments, hosts and notifications.', {
      schedule: schedule('every night between 1:00 and 4:59, at a time that follows from the name'),
      suspend,
      purgeAfterDays: days('Days after which rows are removed, counted from the deletion.', 30),
    }),
    config: config('masakari.conf'),
    policy,
    unknownOptions,
  }),
  status: object('Observed state of Masakari.', { ...common, phase, ...endpoints, cloud, ...claimedNodes }),
  columns: [endpointColumn],
});

export type Masakari = ObjectOf<typeof Masakari>;
export type MasakariSpec = SpecOf<typeof Masakari>;
export type MasakariStatus = StatusOf<typeof Masakari>;
