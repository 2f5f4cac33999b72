import { growingList } from '../../api/growing-list.ts';
import { label } from '../../api/names.ts';
import { secretName } from '../../api/references.ts';
import { choice, type Infer, object, type Rule, required, rule, string } from '../../api/schema.ts';
import { poolName } from '../../infrastructure/ceph/kind.ts';
import { isOf, onlyFor } from '../backend-fields.ts';

/** Names of stores that storageType makes, and sections that glance-api.conf has for something else. */
const taken = [
  'barbican',
  'ceph',
  'cors',
  'database',
  'default',
  'healthcheck',
  'local',
  'profiler',
  'swift',
  'task',
  'vault',
  'wsgi',
];

const stays =
  'a store can neither be taken away nor get another type, pool, endpoint or bucket: its images would not be found; set it back, and add another one';

const s3 = object('A bucket of S3, for type s3.', {
  endpoint: required(
    string('URL of the server.', {
      maxLength: 255,
      form: { pattern: '^https?://[^/@:?# ]+(:[0-9]{1,5})?$', expected: 'a URL such as https://s3.example.com' },
    }),
  ),
  bucket: required(
    string('Its name. It has to be there.', {
      maxLength: 63,
      form: {
        pattern: '^[a-z0-9][a-z0-9.-]+[a-z0-9]$',
        expected: 'a name of at least three lower-case letters, digits, dots and hyphens',
      },
    }),
  ),
  region: string('Region that requests are signed for.', {
    maxLength: 63,
    form: { pattern: '^[A-Za-z0-9_-]+$', expected: 'a name such as us-east-1' },
    otherwise: 'none is stated, and the client takes that of the endpoint',
  }),
  secretName: required(
    secretName(
      'Secret with the keys accessKey and secretKey, neither of which may hold any of : @ ? #. They stand in the location of each image, in the database of Glance: an image is read with those that it was stored with.',
    ),
  ),
});

const place = (one: string) => `(has(${one}.cephPoolName) ? ${one}.cephPoolName : '')`;
const bucket = (one: string) => `(has(${one}.s3) ? ${one}.s3.endpoint + '/' + ${one}.s3.bucket : '')`;

/** Stores beside that of storageType. */
export const additionalStores = growingList(
  'Further stores, beside that of storageType. Users name one when they upload or import an image (--store), and administrators copy images between them (import method copy-image). None can be taken away.',
  object(
    'One store.',
    {
      name: required(
        string('What users choose it by; recorded with each image. Cannot be changed.', {
          maxLength: 63,
          form: label,
        }),
      ),
      type: required(
        choice(
          'What keeps its images: a pool of cephStorageRef, swiftRef (in the container glance-<name>), volumes of cinderRef, which lie in Ceph, or a bucket of S3, which cannot stand beside ceph or cinder.',
          ['ceph', 'swift', 's3', 'cinder'],
        ),
      ),
      description: string('What users are told of it.', {
        maxLength: 255,
        form: { pattern: '^[^\\x00-\\x1f\\x7f-\\x9f]+$', expected: 'one line of text' },
      }),
      cephPoolName: poolName('Pool (RBD) of its images, for type ceph: one that no other store has.'),
      s3,
      volumeType: string('Type of the volumes, for type cinder.', {
        maxLength: 128,
        minLength: 1,
        otherwise: 'the default type of the Cinder',
      }),
    },
    {
      rules: [
        rule(
          `!(self.name in ${JSON.stringify(taken)})`,
          'a store that storageType makes, or a section of glance-api.conf, has this name; choose another name',
          '.name',
        ),
        ...isOf(['ceph'], 'cephPoolName'),
        ...isOf(['s3'], 's3'),
        onlyFor(['cinder'], 'volumeType'),
      ],
    },
  ),
  {
    maxItems: 8,
    key: 'name',
    fixed: [(one) => `${one}.type`, place, bucket],
    message: stays,
    rules: [
      rule(
        `self.all(one, one.type in ['swift', 'cinder'] || self.exists_one(other, other.type == one.type && ${place('other')} == ${place('one')} && ${bucket('other')} == ${bucket('one')}))`,
        'expected for each store a pool or a bucket that no other one has',
      ),
    ],
  },
);

/** A store beside that of storageType. */
export type AdditionalStore = Infer<typeof additionalStores>[number];

const exists = (type: string) => `self.additionalStores.exists(one, one.type == '${type}')`;
const isCeph = "has(self.storageType) && self.storageType == 'ceph'";

/** Where images go that nobody names a store for. */
export const defaultStore = string(
  'Store of new images that nobody names one for: one of additionalStores, or local, ceph or swift, as storageType makes it. Images stay where they are.',
  { maxLength: 63, otherwise: 'that of storageType' },
);

/** Rules of a spec that has them; `pool`: that of the images where none is stated. */
export const storeRules = (pool: string): Rule[] => [
  rule(
    "!has(self.defaultStore) || self.defaultStore == (has(self.storageType) && self.storageType != 'pvc' ? self.storageType : 'local') || (has(self.additionalStores) && self.additionalStores.exists(one, one.name == self.defaultStore))",
    'expected the name of one of additionalStores, or of the store of storageType: local for pvc, ceph or swift',
    '.defaultStore',
  ),
  rule(
    `!has(self.additionalStores) || !(${isCeph}) || self.additionalStores.all(one, ${place('one')} != (has(self.cephPoolName) ? self.cephPoolName : '${pool}'))`,
    'expected other pools than spec.cephPoolName, which the store ceph has',
    '.additionalStores',
  ),
  rule(
    `!has(self.additionalStores) || !${exists('s3')} || !(${isCeph} || ${exists('ceph')} || ${exists('cinder')})`,
    's3 cannot stand beside ceph or cinder: the API that shows Cinder and Nova where images lie would show them the keys of S3',
    '.additionalStores',
  ),
];
