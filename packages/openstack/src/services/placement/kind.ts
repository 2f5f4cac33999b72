import { database, identity } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { passwordRotationDays, recordsAudit } from '../../api/schedules.ts';
import { object } from '../../api/schema.ts';
import { common, endpoints, phase } from '../../api/status.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { cacheRef } from '../../infrastructure/memcached/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';

/** The service that counts what hosts have and what is used of it. */
export const Placement = defineApi({
  kind: 'Placement',
  plural: 'placements',
  shortName: 'ospl',
  description: 'The placement service, which records the resources of every host and their use.',
  nameLength: nameLength.service,
  spec: object('Desired state of Placement.', {
    ...template({ main: 'the API', components: ['api'], wsgi: ['api'], threads: ['api'] }),
    ...api('placement'),
    release,
    region,
    databaseRef,
    cacheRef,
    keystoneRef,
    database: database('placement', ['placement']),
    identity: identity('placement'),
    recordsAudit,
    passwordRotationDays,
    config: config('placement.conf'),
    policy,
    unknownOptions,
  }),
  status: object('Observed state of Placement.', { ...common, phase, ...endpoints }),
  columns: [endpointColumn],
});

export type Placement = ObjectOf<typeof Placement>;
export type PlacementSpec = SpecOf<typeof Placement>;
export type PlacementStatus = StatusOf<typeof Placement>;
