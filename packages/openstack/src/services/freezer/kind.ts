import { database, identity } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { atMost } from '../../api/offering.ts';
import { passwordRotationDays, recordsAudit } from '../../api/schedules.ts';
import { choice, int, object } from '../../api/schema.ts';
import { common, endpoints, phase } from '../../api/status.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { cacheRef } from '../../infrastructure/memcached/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';
import { swiftRef } from '../swift/reference.ts';

/** Backups. */
export const Freezer = defineApi({
  kind: 'Freezer',
  plural: 'freezers',
  shortName: 'osfr',
  description: 'Backups: which clients there are, what they have to back up and when, and what backups there are.',
  nameLength: nameLength.service,
  spec: object('Desired state of Freezer.', {
    ...template({ main: 'the API', components: ['api'], wsgi: ['api'] }),
    storageBackend: choice(
      'Where backups land. Clients write them there themselves, as each action of a job says (storage). With swift the cloud has to have a Swift; with ssh and local it needs none.',
      ['swift', 'ssh', 'local'],
      { fallback: 'swift' },
    ),
    schedulerReplicas: int('How many pods of the scheduler run: none.', {
      minimum: 0,
      maximum: 100,
      fallback: 0,
      rules: [
        atMost(
          0,
          'schedulerReplicas',
          'a scheduler runs the jobs of one user on the host that it runs on; start it where the data are',
        ),
      ],
    }),
    ...api('freezer'),
    release,
    region,
    databaseRef,
    cacheRef,
    keystoneRef,
    swiftRef: swiftRef('backups, for storageBackend swift'),
    database: database('freezer', ['freezer']),
    identity: identity('freezer'),
    recordsAudit,
    passwordRotationDays,
    config: config('freezer-api.conf'),
    policy,
    unknownOptions,
  }),
  status: object('Observed state of Freezer.', { ...common, phase, ...endpoints }),
  columns: [endpointColumn],
});

export type Freezer = ObjectOf<typeof Freezer>;
export type FreezerSpec = SpecOf<typeof Freezer>;
export type FreezerStatus = StatusOf<typeof Freezer>;
