import { database, identity, notificationQueue } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { days, passwordRotationDays, recordsAudit, schedule, suspend } from '../../api/schedules.ts';
import { choice, int, object, required, rule } from '../../api/schema.ts';
import { common, endpoints, found, lasting, phase } from '../../api/status.ts';
import { size, storage } from '../../api/storage.ts';
import { config, nodeNetworks, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { poolName } from '../../infrastructure/ceph/kind.ts';
import { cephStorageRef } from '../../infrastructure/ceph/reference.ts';
import { databaseRef } from '../../infrastructure/mariadb/reference.ts';
import { cacheRef } from '../../infrastructure/memcached/reference.ts';
import { notifiedRef } from '../../infrastructure/rabbitmq/reference.ts';
import { cinderRef } from '../cinder/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';
import { swiftRef } from '../swift/reference.ts';
import { additionalStores, defaultStore, storeRules } from './additional-stores.ts';

/** Why there is one pod of the API at most, where that is so. */
export const whySingle = `replicas of api is at most 1 with storageType pvc: images lie on a ReadWriteOnce volume, which one pod at a time can use`;

// What a control plane says of components is not typed: the composition looks at that (glance.ts).
const single = rule(
  "!has(self.replicas) || self.replicas <= 1 || (has(self.storageType) && self.storageType in ['ceph', 'swift'])",
  whySingle,
);

const cached = rule(
  "!has(self.imageCache) || (has(self.storageType) && self.storageType != 'pvc')",
  'of no use with storageType pvc: images lie on a volume of the pod already; leave it out',
  '.imageCache',
);

/** Pool of the images in Ceph where none is stated. */
export const standardPool = 'glance-images';

/** What is done with images that are imported. */
const imageImport = object('What is done with images that users import, rather than upload.', {
  convertTo: choice(
    'Format that they are converted to, on the disk of the node. An image of another format than it claims is refused then. If absent, they stay as they are.',
    ['raw', 'qcow2', 'vmdk'],
  ),
});

/** Copies of images that pods keep. */
const imageCache = object(
  'Copies of images that each pod keeps on the disk of its node, once they were downloaded: the next download does not ask the store. If absent, there are none.',
  {
    maxSize: required(
      size(
        'Room for copies, in each pod: what was used longest ago is removed every five minutes until it fits. In between there may be more.',
      ),
    ),
  },
);

const inMebibytes = (name: string) =>
  rule(
    `!has(self.${name}) || quantity(self.${name}).compareTo(quantity('2Pi')) < 0 && (sign(quantity(self.${name})) == 0 || quantity(self.${name}).compareTo(quantity('1Mi')) >= 0)`,
    'expected 0, or from 1Mi to less than 2Pi: Keystone keeps it in MiB, and no larger number of them',
    `.${name}`,
  );

const count = (what: string, fallback: number) => int(what, { minimum: 0, maximum: 1_000_000, fallback });

/** What projects may have. */
const registeredLimits = object(
  'What each project may have that has no limit of its own (openstack limit create). What is beyond is refused with 413. If absent, limits of Keystone are not asked for.',
  {
    imageSizeTotal: size(
      'Size of its images: beyond that it cannot upload or import any more. Whole MiB count.',
      '100Gi',
    ),
    imageStageTotal: size('Size of what it has uploaded for imports that are not done. Whole MiB count.', '10Gi'),
    imageCountTotal: count('Number of its images.', 100),
    imageCountUploading: count('Number of images that it uploads and imports at a time.', 10),
  },
  { rules: [inMebibytes('imageSizeTotal'), inMebibytes('imageStageTotal')] },
);

/** What is done with rows that Glance has marked as deleted. */
const housekeeping = object(
  'Removal of rows of deleted images: their properties, members, tags and locations. The rows of the images themselves are kept, so that no other image can get the identifier of a deleted one (OSSN-0075).',
  {
    schedule: schedule('every night between 1:00 and 4:59, at a time that follows from the name'),
    suspend,
    purgeAfterDays: days('Days after which rows of deleted images are removed.', 30),
  },
);

/** The image service. */
export const Glance = defineApi({
  kind: 'Glance',
  plural: 'glances',
  shortName: 'osgl',
  description: 'The image service, which stores the images that servers boot from.',
  nameLength: nameLength.service,
  spec: object(
    'Desired state of Glance.',
    {
      ...template({ main: 'the API', components: ['api'], images: ['tls-proxy'], workers: ['api'] }),
      ...api('glance'),
      nodeNetworks,
      release,
      region,
      databaseRef,
      messageQueueRef: notifiedRef,
      cacheRef,
      keystoneRef,
      database: database('glance', ['glance']),
      messageQueue: notificationQueue('glance'),
      identity: identity('glance'),
      storageType: choice(
        'Where images are kept: pvc on a volume, ceph in a pool of cephStorageRef, or swift as objects of swiftRef.',
        ['pvc', 'ceph', 'swift'],
        { default: 'pvc', immutable: 'pvc' },
      ),
      storage: storage('Volume of the images, for storageType pvc.', '10Gi'),
      cephStorageRef: cephStorageRef('images'),
      swiftRef: swiftRef('images, for stores of type swift'),
      cinderRef: cinderRef('images as volumes, for stores of type cinder'),
      cephPoolName: poolName('Pool (RBD) of the images, for storageType ceph.', { fallback: standardPool }),
      additionalStores,
      defaultStore,
      imageImport,
      imageCache,
      registeredLimits,
      recordsAudit,
      passwordRotationDays,
      housekeeping,
      config: config('glance-api.conf'),
      policy,
      unknownOptions,
    },
    { rules: [single, cached, ...storeRules(standardPool)] },
  ),
  status: object('Observed state of Glance.', { ...common, phase, ...endpoints, found, lasting }),
  columns: [endpointColumn],
});

export type Glance = ObjectOf<typeof Glance>;
export type GlanceSpec = SpecOf<typeof Glance>;
export type GlanceStatus = StatusOf<typeof Glance>;
