import { database, identity, messageQueue } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { nameLength, subdomain } from '../../api/names.ts';
import { days, passwordRotationDays, recordsAudit, schedule, suspend } from '../../api/schedules.ts';
import {
  array,
  bool,
  choice,
  type Form,
  type Infer,
  int,
  map,
  object,
  required,
  rule,
  string,
  transitionRules,
} from '../../api/schema.ts';
import { common, endpoints, found, lasting, phase } from '../../api/status.ts';
import { size, storage } from '../../api/storage.ts';
import { config, policy, region, release, template, unknownOptions } from '../../api/template.ts';
import { poolName } from '../../infrastructure/ceph/kind.ts';
import { cephStorageRef } from '../../infrastructure/ceph/reference.ts';
import { backendsField, defaultBackend, isOf, onlyFor, references, single, typeRules } from '../backend-fields.ts';
import { barbicanRef } from '../barbican/reference.ts';

const text = (what: string, options: { fallback?: string; otherwise?: string; form?: Form } = {}) =>
  string(what, { maxLength: 128, minLength: 1, ...options });

/** Sections of cinder.conf whose names are names of backends, too. */
export const taken = [
  'backend',
  'barbican',
  'coordination',
  'cors',
  'database',
  'fc-zone-manager',
  'healthcheck',
  'nova',
  'privsep',
  'profiler',
  'ssl',
  'vault',
];

const nfs = object(
  'Shares of NFS in which its volumes are files, for type nfs.',
  {
    shares: required(
      array(
        'The shares. One that is removed takes its volumes out of reach.',
        string('Such as 10.0.0.20:/volumes.', {
          maxLength: 255,
          form: {
            pattern: '^([a-zA-Z0-9][-a-zA-Z0-9.]*|\\[[0-9a-fA-F:.]+\\]):/[^\\s{}]+$',
            expected: 'host:/path, with a path below the root',
          },
        }),
        { minItems: 1, maxItems: 16, unique: true },
      ),
    ),
    mountOptions: text('Options of mount, such as vers=4.2,hard (nfs(5)).', {
      form: { pattern: '^[^\\s{}]+$', expected: 'options with commas between them, without blanks' },
    }),
    qcow2: bool('Whether volumes are files of format qcow2; else raw, and sparse.', { fallback: false }),
    snapshots: bool('Whether volumes can have snapshots. It needs secureFiles: false.', { fallback: false }),
    secureFiles: bool(
      'Whether its process works on files as user cinder, and no other can open them; false: as root, and everybody can.',
      { otherwise: 'true where its process first starts without volumes' },
    ),
  },
  {
    rules: [
      rule(
        '!has(self.snapshots) || !self.snapshots || (has(self.secureFiles) && !self.secureFiles)',
        'the driver makes snapshots as root alone; set secureFiles to false',
        '.snapshots',
      ),
    ],
  },
);

/** The port at which a node serves volumes, unless a backend has another one. */
export const lvmPort = 3260;

/** Fields of type lvm. */
const lvm = {
  lvmVolumeGroup: text('Volume group of its volumes, on the node lvmNode, for type lvm.', {
    // lvm(8)
    form: { pattern: '^[a-zA-Z0-9+_.][-a-zA-Z0-9+_.]*$', expected: 'the name of a volume group' },
  }),
  lvmNode: string('Node that has the volume group (its label kubernetes.io/hostname), for type lvm.', {
    maxLength: 63,
    form: { pattern: subdomain.pattern, expected: 'the name of a node' },
  }),
  lvmThin: bool('Whether volumes take room as they are written (thin pool <group>-pool), for type lvm.', {
    fallback: true,
  }),
  lvmAddress: string('Address of that node at which others reach its volumes by iSCSI.', {
    maxLength: 45,
    otherwise: 'that of the Kubernetes node',
    rules: [rule('isIP(self)', 'expected an address such as 192.0.2.11 or 2001:db8::11, without a port')],
  }),
  lvmPort: int('Port of iSCSI: each backend of a node has its own.', {
    minimum: 1024,
    maximum: 65_535,
    fallback: lvmPort,
  }),
};

const backends = backendsField({
  description:
    'Backends: where volumes are kept. Each has a process and a volume type of its name. One that is removed keeps its process for as long as volumes lie on it.',
  named: 'its volume type',
  file: 'cinder.conf',
  taken,
  type: choice('What keeps its volumes: ceph, nfs, lvm, or custom, any driver of Cinder by its options.', [
    'custom',
    'ceph',
    'nfs',
    'lvm',
  ]),
  fields: {
    cephPoolName: poolName('Pool (RBD) of the volumes, in the cluster of cephStorageRef, for type ceph.'),
    nfs,
    ...lvm,
    availabilityZone: text('Availability zone of its volumes.', { otherwise: 'spec.availabilityZone' }),
    rootHelpers: bool(
      'Whether its process may run helpers as root, with capabilities such as SYS_ADMIN: volumes of images that are not raw and of encrypted types need it, servers that boot from a volume and are rebuilt, and drivers that mount or attach.',
      { fallback: false },
    ),
    conversionSize: size(
      'Room for images while they are downloaded and converted, on the disk of the node: the largest image, converted. A process that takes more is evicted, and its node has to have that much. If absent, there is no bound.',
    ),
    imageCache: object(
      'Volumes of images that the backend keeps: the next volume of an image is a copy of the one before. They belong to the project cinder-internal, which has no quota. If absent, images are not kept; volumes that were stay until somebody deletes them.',
      {
        maxSize: size(
          'Room for them: an image that is larger is not kept, and of the others those that were used longest ago go. Whole GiB count. If absent, there is no bound.',
        ),
        maxCount: int('How many there may be. If absent, there is no bound.', { minimum: 1, maximum: 100_000 }),
      },
      {
        rules: [
          rule(
            "!has(self.maxSize) || quantity(self.maxSize).compareTo(quantity('1Gi')) >= 0",
            'expected at least 1Gi: no volume is smaller',
            '.maxSize',
          ),
        ],
      },
    ),
  },
  fixed: {
    fields: { cephPoolName: "''", lvmVolumeGroup: "''", lvmNode: "''", lvmThin: 'true' },
    why: 'its volumes are recorded under them, or lie there',
  },
  backendHost: 'What its volumes are recorded under, as backendHost@name; state that of a cloud that is adopted.',
  rules: [
    ...isOf(['ceph'], 'cephPoolName'),
    ...isOf(['nfs'], 'nfs'),
    rule(
      "self.type != 'lvm' || (has(self.lvmVolumeGroup) && has(self.lvmNode))",
      'type lvm needs lvmVolumeGroup and lvmNode',
    ),
    onlyFor(['lvm'], ...Object.keys(lvm)),
    rule(
      "!(self.type in ['nfs', 'lvm']) || (has(self.rootHelpers) && self.rootHelpers)",
      'types nfs and lvm need rights of root; set rootHelpers to true',
    ),
  ],
});

const specs = (what: string) => map(what, string('Its value.', { maxLength: 255 }), { maxProperties: 64 });

const volumeTypes = array(
  'Types of volumes, beside those of the backends. One that is removed here stays in Cinder: volumes may be of it. Its name, and what others add to it, are left alone.',
  object('One type.', {
    name: required(text('Its name.')),
    description: text('What it is for.'),
    backend: text(
      'Name of the backend of its volumes. If absent, the scheduler takes any that has what extraSpecs ask for.',
    ),
    isPublic: bool('Whether all projects see it; else administrators say who does.', { fallback: true }),
    extraSpecs: specs('What a backend has to have, or its driver does: such as multiattach with the value <is> True.'),
    qos: object('Limits of its volumes (QoS specs of its name).', {
      consumer: choice('Who keeps them: front-end is Nova, back-end the driver.', ['front-end', 'back-end', 'both'], {
        fallback: 'back-end',
      }),
      specs: required(specs('Such as total_iops_sec.')),
    }),
    encryption: object(
      'Encryption of its volumes, by the nodes that attach them, with keys that Barbican keeps. It stays as the type was made.',
      {
        provider: choice('Format.', ['luks', 'luks2', 'plain'], { fallback: 'luks' }),
        cipher: text('Cipher and mode, as dm-crypt names them.', { fallback: 'aes-xts-plain64' }),
        keySize: int('Bits of a key.', { minimum: 128, maximum: 512, fallback: 256 }),
      },
    ),
  }),
  { maxItems: 64, keys: ['name'] },
);

const copiesOf = (one: string) => `(has(${one}.cephPoolName) ? ${one}.cephPoolName : 'backups')`;

const copies = object(
  'Copies of volumes in another place (component backup). If absent, there are none.',
  {
    type: required(
      choice(
        'Where copies are kept: in a pool of Ceph, on a volume of the cluster, or custom, where any driver of Cinder keeps them (S3, Swift, NFS) by its options.',
        ['ceph', 'pvc', 'custom'],
      ),
    ),
    cephPoolName: poolName('Pool (RBD) of the copies, in the cluster of cephStorageRef, for type ceph.', {
      fallback: 'backups',
    }),
    storage: storage('Volume of the copies, for type pvc.', '10Gi'),
    config: config('cinder.conf'),
  },
  {
    rules: [
      rule(
        `self.type == oldSelf.type && (self.type != 'ceph' || ${copiesOf('self')} == ${copiesOf('oldSelf')})`,
        'type and cephPoolName of backup cannot be changed: backups lie there; set them back',
      ),
    ],
  },
);

/** It comes and goes while its Cinder stays: how its volume may change is about two that are both there. */
const backup = {
  ...copies,
  schema: {
    ...copies.schema,
    'x-kubernetes-validations': [...(copies.schema['x-kubernetes-validations'] ?? []), ...transitionRules(copies)],
  },
  transitions: [],
};

/** What is done with rows that Cinder has marked as deleted. */
const housekeeping = object('Removal of rows of deleted volumes, snapshots, backups and types.', {
  schedule: schedule('every night between 1:00 and 4:59, at a time that follows from the name'),
  suspend,
  purgeAfterDays: days('Days after which rows are removed, counted from the deletion.', 30),
});

/** Block storage. */
export const Cinder = defineApi({
  kind: 'Cinder',
  plural: 'cinders',
  shortName: 'osci',
  description: 'Block storage: volumes, which outlive the servers that they are attached to.',
  nameLength: nameLength.service,
  spec: object(
    'Desired state of Cinder.',
    {
      ...template({
        main: 'the API',
        components: ['api', 'scheduler', 'volume', 'backup', 'target'],
        single: single('volume', 'backup', 'target'),
        wsgi: ['api'],
      }),
      ...api('cinder'),
      release,
      region,
      ...references,
      cephStorageRef: cephStorageRef('volumes and their copies'),
      barbicanRef: barbicanRef('keys of encrypted volumes'),
      database: database('cinder', ['cinder']),
      messageQueue: messageQueue('cinder'),
      identity: identity('cinder'),
      backends: required(backends),
      defaultBackend: defaultBackend('volumes'),
      volumeTypes,
      defaultVolumeType: text('Name of one of volumeTypes, which volumes have that ask for none.', {
        otherwise: 'that of defaultBackend',
      }),
      availabilityZone: text('Availability zone of its services and volumes.', { fallback: 'nova' }),
      backup,
      recordsAudit,
      passwordRotationDays,
      housekeeping,

      config: config('cinder.conf'),
      policy,
      unknownOptions,
    },
    {
      rules: typeRules('volumeTypes', 'defaultVolumeType', {
        rule: ' && (!has(one.isPublic) || one.isPublic)',
        words: ' that is public: whoever may not use the default makes no volume without a type',
      }),
    },
  ),
  status: object('Observed state of Cinder.', { ...common, phase, ...endpoints, found, lasting }),
  columns: [endpointColumn],
});

export type Cinder = ObjectOf<typeof Cinder>;
export type CinderSpec = SpecOf<typeof Cinder>;
export type CinderStatus = StatusOf<typeof Cinder>;
export type Backend = Infer<typeof backends>[number];
export type VolumeType = Infer<typeof volumeTypes>[number];
