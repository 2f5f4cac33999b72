import { database, identity, noMessageQueue } from './accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from './define-api.ts';
import { api } from './exposure.ts';
import { nameLength } from './names.ts';
import { onlyOffered } from './offering.ts';
import { cacheRef, databaseRef, keystoneRef } from './references.ts';
import { glanceHousekeeping, recordsAudit } from './schedules.ts';
import { choice, object, string } from './schema.ts';
import { common, endpoints, phase } from './status.ts';
import { storage } from './storage.ts';
import { config, region, release, template } from './template.ts';

const single = {
  components: ['api'],
  reason: 'images lie on a ReadWriteOnce volume, which one pod at a time can use',
} as const;

/** The image service. */
export const Glance = defineApi({
  kind: 'Glance',
  plural: 'glances',
  shortName: 'osgl',
  description: 'The image service: what servers boot from.',
  nameLength: nameLength.service,
  spec: object('What the image service should be.', {
    ...template({ main: 'the API', components: ['api'], single }),
    ...api('glance'),
    release,
    region,
    databaseRef,
    cacheRef,
    keystoneRef,
    database: database('glance', ['glance']),
    messageQueue: noMessageQueue,
    identity: identity('glance'),
    storageType: choice(
      'Where images are kept: pvc on a volume. ceph and swift are not offered yet.',
      ['pvc', 'ceph', 'swift'],
      {
        default: 'pvc',
        rules: [onlyOffered('storageType', ['pvc'])],
      },
    ),
    storage: storage('Volume of the images, for storageType pvc.', '10Gi'),
    cephPoolName: string('RADOS pool of the images, for storageType ceph.', {
      maxLength: 128,
      fallback: 'glance-images',
    }),
    recordsAudit,
    housekeeping: glanceHousekeeping,
    config: config('glance-api.conf'),
  }),
  status: object('What the operator found.', { ...common, phase, ...endpoints }),
  columns: [endpointColumn],
});

export type Glance = ObjectOf<typeof Glance>;
export type GlanceSpec = SpecOf<typeof Glance>;
export type GlanceStatus = StatusOf<typeof Glance>;
