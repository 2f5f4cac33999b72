import { defineApi, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { nameLength, subdomain } from '../../api/names.ts';
import { requiringRule } from '../../api/needed-fields.ts';
import { notOffered } from '../../api/offering.ts';
import { secretName } from '../../api/references.ts';
import { schedule, suspend } from '../../api/schedules.ts';
import { nodeSelector } from '../../api/scheduling.ts';
import {
  array,
  bool,
  choice,
  type Infer,
  int,
  nameOf,
  object,
  type Rule,
  required,
  rule,
  string,
  transition,
} from '../../api/schema.ts';
import { common, found, lasting, phase } from '../../api/status.ts';
import { size } from '../../api/storage.ts';
import {
  deletionPolicy,
  image,
  imagePullPolicy,
  imagePullSecrets,
  imageRegistry,
  imageTag,
  podPriority,
  podTolerations,
} from '../../api/template.ts';

const cephName = (
  what: string,
  options: { readonly fallback?: string; readonly immutable?: string; readonly rules?: readonly Rule[] } = {},
) =>
  string(what, {
    maxLength: 128,
    form: {
      pattern: '^[A-Za-z0-9_][-A-Za-z0-9._]*$',
      expected: "a name of letters, digits, '-', '_' and '.'",
    },
    ...options,
  });

/** Name of a pool of block devices (RBD). */
export const poolName = cephName;

/** Name of a filesystem (CephFS). */
export const fileSystemName = cephName;

/**
 * Name of a user; libvirt knows the key of those that have attached volumes by it. An earlier version took names with
 * `client.`, by which no keyring is found: that is taken off.
 */
const userName = (what: string, name: string) =>
  transition(
    cephName(`${what} Cannot be changed later.`, {
      fallback: name,
      rules: [rule("!self.startsWith('client.')", 'expected the name without client.')],
    }),
    {
      absent: JSON.stringify(name),
      allows: (next, previous) => `${next} == ${previous} || 'client.' + ${next} == ${previous}`,
      message: 'cannot be changed after creation; set it back, or create another object',
    },
  );

/** Who may make what is missing in a cluster that exists already. */
const admin = object(
  'A user of the cluster with whose key a Job makes what is missing, before everything is tried: pools, filesystems, users and their rights. What is there stays, and nothing is taken away. If absent, nothing is made.',
  {
    keyringSecretName: required(
      secretName(
        'Secret with the keyring of this user, under the key ceph.client.<user>.keyring. Pods of that Job alone have it.',
      ),
    ),
    user: cephName("Its name, without client. It needs mon 'allow *', osd 'allow *', mgr 'allow *'.", {
      fallback: 'admin',
      rules: [rule("!self.startsWith('client.')", 'expected the name without client.')],
    }),
  },
);

/** A cluster that exists already. */
const external = object(
  'A cluster that this operator does not run, for mode external.',
  {
    monitorHosts: required(
      string('Addresses of the monitors, with commas between them: host, or host:port.', {
        maxLength: 2048,
        form: {
          pattern: '^[A-Za-z0-9.:/\\[\\]-]+(,[A-Za-z0-9.:/\\[\\]-]+)*$',
          expected:
            'hosts with commas between them, such as 10.0.0.1,10.0.0.2:6789 or [v2:10.0.0.1:3300/0,v1:10.0.0.1:6789/0]',
        },
      }),
    ),
    fsid: string(
      'Id of the cluster, as `ceph fsid` prints it. Once a cluster has answered the check of pools it stays that one, whether its id is stated here or not: status.lasting remembers it, and services are told of other monitors only when these have answered with the same id.',
      {
        maxLength: 36,
        form: {
          pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
          expected: 'a UUID in lower case',
        },
      },
    ),
    keyringSecretName: secretName(
      'Secret with the keyring of each user, under the key ceph.client.<user>.keyring, as `ceph auth get client.<user>` prints it. The bare key will do as well. Cannot be left out later.',
      'with admin, the Secret <name>-cephx-keys with keys that the operator makes',
    ),
    admin,
    cephConfSecretName: secretName(
      'Secret with a ceph.conf of your own (key ceph.conf), in place of the one that names the monitors.',
    ),
  },
  {
    rules: [
      requiringRule(
        'has(self.keyringSecretName) || has(self.admin)',
        'keyringSecretName is required without admin; of keys that the operator has made it is <name>-cephx-keys',
        '.keyringSecretName',
      ),
      // In its place would come keys that the cluster does not know, and all services would have them at once.
      rule(
        '!has(oldSelf.keyringSecretName) || has(self.keyringSecretName)',
        'keyringSecretName cannot be left out after creation: the cluster knows no other keys of these users; set it back',
        '.keyringSecretName',
      ),
    ],
  },
);

/** CEL: where monitors of a cluster keep their data. */
const dataOf = (root: string) => `(has(${root}.dataDirHostPath) ? ${root}.dataDirHostPath : '/var/lib/rook')`;

/** The cluster that Rook makes. */
const cluster = object(
  'A CephCluster that the operator creates, named as this resource. If absent, the CephCluster of the namespace is used, whoever has created it, and never changed. Once created it stays when this is left out.',
  {
    cephImage: required(image('Full reference of the image that Rook runs Ceph from, of a version that it supports.')),
    dataDirHostPath: string('Directory of the nodes where monitors keep their data. Cannot be changed later.', {
      maxLength: 1024,
      form: { pattern: '^/[^\\s]+$', expected: 'an absolute path, such as /var/lib/rook' },
      fallback: '/var/lib/rook',
    }),
    monCount: int(
      'Number of monitors, each on a node of its own. Rook tolerates the loss of fewer than half of them.',
      {
        minimum: 1,
        maximum: 9,
        fallback: 3,
        rules: [rule('self % 2 == 1', 'expected an odd number: monitors decide by majority')],
      },
    ),
    storageDeviceFilter: string(
      'Regular expression (RE2) of the names of devices, such as ^nvme[1-9]n1$: on each node, Rook makes an OSD of each empty one, and takes it for good.',
      { maxLength: 256, minLength: 1 },
    ),
    osds: object('OSDs on volumes of the cluster, in place of devices of nodes.', {
      count: int('How many.', { minimum: 1, maximum: 1000, fallback: 3 }),
      size: required(size('Size of the raw volume (volumeMode Block) of each.')),
      storageClassName: nameOf(
        'StorageClass',
        string('StorageClass of the volumes.', {
          maxLength: 253,
          form: subdomain,
          otherwise: "the cluster's default StorageClass",
        }),
      ),
    }),
    nodeSelector: nodeSelector('Node labels that the pods of Ceph require.'),
  },
  {
    rules: [
      rule(
        'has(self.storageDeviceFilter) != has(self.osds)',
        'exactly one of storageDeviceFilter and osds has to be set',
      ),
      rule(
        `${dataOf('self')} == ${dataOf('oldSelf')}`,
        'cannot be changed: monitors have their data there; set it back',
        '.dataDirHostPath',
      ),
    ],
  },
);

/** A cluster of Rook. */
const rook = object(
  'A cluster that Rook runs, for mode rook: pools, filesystems and users are objects of Rook in the namespace of this resource, where its CephCluster has to be. Monitors and keys are read from the Secrets that Rook makes there.',
  {
    replicaCount: int(
      'Copies that pools and filesystems keep of everything. With 1, a device that fails takes data along.',
      {
        minimum: 1,
        maximum: 10,
        fallback: 3,
      },
    ),
    failureDomain: string('What holds one copy at most, as CRUSH calls it: osd, host, rack, zone.', {
      maxLength: 63,
      form: { pattern: '^[a-z][-a-z0-9]*$', expected: 'a type of the CRUSH map, such as host' },
      fallback: 'host',
    }),
    cluster,
    namespace: string('Namespace of the cluster. Not offered: it is that of this resource.', {
      maxLength: 63,
      rules: [
        notOffered(
          'namespace',
          'the CephCluster is in the namespace of this resource, where Rook has to serve as well',
        ),
      ],
    }),
    monCount: int('Number of monitors. Not offered: state cluster.monCount.', {
      minimum: 1,
      maximum: 9,
      rules: [notOffered('monCount', 'state cluster.monCount')],
    }),
    osdCount: int('Number of OSDs. Not offered: state cluster.osds.count.', {
      minimum: 1,
      maximum: 1000,
      rules: [
        notOffered(
          'osdCount',
          'state cluster.osds.count for OSDs on volumes; of devices, cluster.storageDeviceFilter makes an OSD each',
        ),
      ],
    }),
    storageDeviceFilter: string('Devices of OSDs. Not offered: state cluster.storageDeviceFilter.', {
      maxLength: 256,
      rules: [notOffered('storageDeviceFilter', 'state cluster.storageDeviceFilter')],
    }),
  },
);

/** CEL: whether a spec is of mode rook. */
const isRook = "(has(self.mode) && self.mode == 'rook')";

/** As whom services log in, without `client.`. */
const users = object('Names of the users that services log in as, without client.', {
  cinder: userName('Of volumes.', 'cinder'),
  cinderBackup: userName('Of copies of volumes.', 'cinder-backup'),
  glance: userName('Of images.', 'glance'),
  manila: userName('Of shares.', 'manila'),
  nova: userName('Of ephemeral disks.', 'nova'),
  swift: userName('Of object gateways.', 'swift'),
});

/** Pools that services have to be able to use. */
const pools = array(
  'Pools (RBD) that services use. Each is tried with the keys of the users that need it; what one of them may not do is told by name (condition PoolsReady). Below a control plane, those of its services are added by themselves.',
  object('One pool.', {
    name: required(poolName('Its name.')),
    replicaCount: int(
      'Copies that it keeps of everything. With external.admin it is of pools that the Job makes: one that is there keeps what it has.',
      { minimum: 1, maximum: 10, otherwise: 'rook.replicaCount, or what the external cluster gives to new pools' },
    ),
    purpose: required(
      choice('What it holds: it decides which users have to be able to read it, and to write to it.', [
        'cinder-volumes',
        'cinder-backups',
        'glance-images',
        'nova-ephemeral',
      ]),
    ),
  }),
  { maxItems: 128, keys: ['name', 'purpose'] },
);

/** Filesystems that services have to be able to use. */
const fileSystems = array(
  'Filesystems (CephFS) that keep shares. In each the user of shares makes a group of subvolumes, and removes it; what it may not do is told by name (condition PoolsReady).',
  object('One filesystem.', { name: required(fileSystemName('Its name.')) }),
  { maxItems: 16, keys: ['name'] },
);

/** Whether object gateways use the cluster. */
const objectGateway = bool(
  'Whether object gateways (Swift with mode ceph-rgw) keep objects in the cluster. Their user, spec.users.swift, is tried: it makes the pool .rgw.root, as gateways do, and writes there (condition PoolsReady). Below a control plane it follows from its Swift.',
  { fallback: false },
);

/** How often all of it is tried again. */
const healthCheck = object(
  'Schedule on which everything is tried again with the keys of its users, and status.health, capacity, pools and fileSystems are read; when three runs in a row fail, the resource is not Ready (ScheduleFailing).',
  { schedule: schedule('every five minutes, at minutes that follow from the name'), suspend },
);

/** Figures are rounded to three digits, so that a status stays as it is while a cluster does. */
const bytes = (what: string) =>
  string(`${what} A quantity of bytes with three digits, such as 1.23Gi.`, { maxLength: 16 });

const holds = {
  stored: bytes('What clients have stored.'),
  used: bytes('What that takes on devices, with all copies.'),
  available: bytes('How much more clients may store. A quota is not looked at.'),
};

/** What the last check has read. */
const usage = {
  health: object('How the cluster is. Absent while it gives no answer.', {
    status: required(choice('What it calls itself.', ['HEALTH_OK', 'HEALTH_WARN', 'HEALTH_ERR'])),
    message: string('What is wrong, in its words.', { maxLength: 4096 }),
  }),
  capacity: object('What its devices hold, of everything that is in the cluster.', {
    total: bytes('Size of all devices.'),
    used: bytes('What is taken of it.'),
    available: bytes('What is left of it, for all copies of what is stored.'),
  }),
  pools: array(
    'Pools of spec.pools, as far as they are there: the first ones, where there are dozens.',
    object('One pool.', {
      name: required(string('Its name.', { maxLength: 128 })),
      purposes: array('What it holds.', string('Purpose, as in spec.pools.', { maxLength: 32 }), { maxItems: 16 }),
      ...holds,
    }),
    { maxItems: 128, keys: ['name'] },
  ),
  fileSystems: array(
    'Filesystems of spec.fileSystems: what is in their data pools.',
    object('One filesystem.', { name: required(string('Its name.', { maxLength: 128 })), ...holds }),
    { maxItems: 16, keys: ['name'] },
  ),
};

/** A Ceph cluster. */
export const CephStorage = defineApi({
  kind: 'CephStorage',
  plural: 'cephstorages',
  shortName: 'osceph',
  description: 'A Ceph cluster that keeps volumes, images, disks of servers and shares.',
  nameLength: nameLength.service,
  spec: object(
    'Desired state of CephStorage.',
    {
      mode: choice(
        'Whether Rook runs the cluster, by a CephCluster in the namespace of this resource, or it is reached by what external says.',
        ['rook', 'external'],
        { default: 'external' },
      ),
      external,
      rook,
      users,
      pools,
      fileSystems,
      objectGateway,
      healthCheck,
      image: image('Full reference of the image with the programs ceph, rados and rbd.', 'the image of the release'),
      imageRegistry,
      imageTag,
      imagePullSecrets,
      imagePullPolicy,
      nodeSelector: nodeSelector('Node labels that the pods of its Jobs require.'),
      tolerations: podTolerations,
      priorityClassName: podPriority,
      deletionPolicy,
    },
    {
      rules: [
        requiringRule(`${isRook} || has(self.external)`, 'external is required for mode external', '.external'),
        rule(`!${isRook} || !has(self.external)`, 'external is for mode external: remove it', '.external'),
        rule(`${isRook} || !has(self.rook)`, 'rook is for mode rook: remove it', '.rook'),
      ],
    },
  ),
  status: object('Observed state of CephStorage.', { ...common, phase, found, lasting, ...usage }),
  columns: [
    { name: 'Mode', description: 'Who makes the cluster.', type: 'string', jsonPath: '.spec.mode' },
    { name: 'Health', description: 'How the cluster says it is.', type: 'string', jsonPath: '.status.health.status' },
    { name: 'Used', description: 'What is taken of its devices.', type: 'string', jsonPath: '.status.capacity.used' },
    { name: 'Available', description: 'What is left.', type: 'string', jsonPath: '.status.capacity.available' },
  ],
});

export type CephStorage = ObjectOf<typeof CephStorage>;
export type CephStorageSpec = SpecOf<typeof CephStorage>;
export type CephStorageStatus = StatusOf<typeof CephStorage>;
/** What services log in as. */
export type CephUser = keyof Required<Infer<typeof users>>;
export type CephPool = Infer<typeof pools>[number];
/** The CephCluster of a spec. */
export type CephClusterSpec = Infer<typeof cluster>;
