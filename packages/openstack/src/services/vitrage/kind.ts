import { database, identity, messageQueue } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { serviceRef } from '../../api/references.ts';
import { passwordRotationDays, recordsAudit } from '../../api/schedules.ts';
import { bool, int, object } from '../../api/schema.ts';
import { common, endpoints, phase } from '../../api/status.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { cacheRef, coordinationRef } from '../../infrastructure/memcached/reference.ts';
import { messageQueueRef } from '../../infrastructure/rabbitmq/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';

/** Root cause analysis. */
export const Vitrage = defineApi({
  kind: 'Vitrage',
  plural: 'vitrages',
  shortName: 'osvi',
  description: 'Root cause analysis: a graph of what a cloud is made of, its alarms, and what follows from what.',
  nameLength: nameLength.service,
  spec: object('Desired state of Vitrage.', {
    ...template({
      main: 'the API',
      components: ['api', 'graph', 'notifier', 'persistor', 'ml'],
      images: ['tls-proxy'],
      counted: { graph: 'graphReplicas' },
      single: { components: ['graph'], reason: 'each of several would have another graph' },
    }),
    graphReplicas: int('How many pods keep the graph; 0 stops it.', {
      minimum: 0,
      maximum: 1,
      fallback: 1,
    }),
    enableML: bool('Whether alarms that often come together are looked for (jaccard_correlation).', {
      fallback: false,
    }),
    ...api('vitrage'),
    release,
    region,
    databaseRef,
    messageQueueRef,
    cacheRef,
    coordinationRef,
    keystoneRef,
    novaRef: serviceRef('Nova', 'whose hosts, zones and servers are in the graph'),
    neutronRef: serviceRef('Neutron', 'whose networks and ports are in the graph'),
    cinderRef: serviceRef('Cinder', 'whose volumes are in the graph'),
    heatRef: serviceRef('Heat', 'whose stacks are in the graph'),
    aodhRef: serviceRef('Aodh', 'whose alarms are in the graph'),
    database: database('vitrage', ['vitrage']),
    messageQueue: messageQueue('vitrage'),
    identity: identity('vitrage'),
    recordsAudit,
    passwordRotationDays,
    config: config('vitrage.conf'),
    policy,
    unknownOptions,
  }),
  status: object('Observed state of Vitrage.', { ...common, phase, ...endpoints }),
  columns: [endpointColumn],
});

export type Vitrage = ObjectOf<typeof Vitrage>;
export type VitrageSpec = SpecOf<typeof Vitrage>;
export type VitrageStatus = StatusOf<typeof Vitrage>;
