import { database, identity, noMessageQueue } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { passwordRotationDays, recordsAudit } from '../../api/schedules.ts';
import { choice, object, rule } from '../../api/schema.ts';
import { common, endpoints, phase } from '../../api/status.ts';
import { storage } from '../../api/storage.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { cacheRef, coordinationRef } from '../../infrastructure/memcached/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';

/** Why there is one pod at most, where that is so. */
export const whySingle =
  'replicas of api is at most 1 with storageType pvc: measures lie on a ReadWriteOnce volume, which one pod at a time can use';

// What a control plane says of components is not typed: the composition looks at that (gnocchi.ts).
const single = rule(
  "!has(self.replicas) || self.replicas <= 1 || (has(self.storageType) && self.storageType == 'swift')",
  whySingle,
  '.replicas',
);

/** Where measures are kept. */
export const Gnocchi = defineApi({
  kind: 'Gnocchi',
  plural: 'gnocchis',
  shortName: 'osgn',
  description: 'Where measures are kept over time, and aggregated.',
  nameLength: nameLength.service,
  spec: object(
    'Desired state of Gnocchi.',
    {
      ...template({
        main: 'the API, each with a metricd, which aggregates what was measured,',
        components: ['api'],
        images: ['metricd'],
        wsgi: ['api'],
      }),
      ...api('gnocchi'),
      release,
      region,
      databaseRef,
      cacheRef,
      coordinationRef,
      keystoneRef,
      database: database('gnocchi', ['gnocchi']),
      messageQueue: noMessageQueue,
      identity: identity('gnocchi'),
      storageType: choice(
        'Where measures are kept: pvc on a volume, or swift in containers of the cloud.',
        ['pvc', 'swift'],
        {
          fallback: 'pvc',
          immutable: 'pvc',
        },
      ),
      storage: storage('Volume of the measures, for storageType pvc.', '10Gi'),
      recordsAudit,
      passwordRotationDays,
      config: config('gnocchi.conf'),
      policy,
      unknownOptions,
    },
    { rules: [single] },
  ),
  status: object('Observed state of Gnocchi.', { ...common, phase, ...endpoints }),
  columns: [endpointColumn],
});

export type Gnocchi = ObjectOf<typeof Gnocchi>;
export type GnocchiSpec = SpecOf<typeof Gnocchi>;
export type GnocchiStatus = StatusOf<typeof Gnocchi>;
