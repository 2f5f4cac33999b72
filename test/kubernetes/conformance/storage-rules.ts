import { CephStorage, Cinder, Glance, Manila, OpenStackControlPlane, Swift } from '@openstack-operator/openstack';
import { type RefusedSpec, refused } from './refused-spec.ts';

const ceph = { monitorHosts: '10.0.0.1', keyringSecretName: 'ceph' };
const backend = { name: 'fast', type: 'ceph', cephPoolName: 'volumes' };
const nfs = { shares: ['10.0.0.20:/volumes'] };
const files = { name: 'fast', type: 'nfs', nfs, rootHelpers: true };
const group = { name: 'fast', type: 'lvm', rootHelpers: true, lvmVolumeGroup: 'cinder-volumes', lvmNode: 'node-1' };
const wrongBackends: readonly (readonly [string, string, object])[] = [
  ['[0]', 'type ceph needs cephPoolName', { name: 'fast', type: 'ceph' }],
  ['[0]', 'cephPoolName can be set for type ceph only', { ...backend, type: 'custom' }],
  ['[0]', 'type lvm needs lvmVolumeGroup and lvmNode', { ...group, lvmNode: undefined }],
  ['[0]', 'can be set for type lvm only', { ...backend, lvmThin: false }],
  ['[0]', 'types nfs and lvm need rights of root', { ...group, rootHelpers: false }],
  ['[0].lvmVolumeGroup', 'expected the name of a volume group', { ...group, lvmVolumeGroup: 'a/b' }],
  ['[0].lvmNode', 'expected the name of a node', { ...group, lvmNode: 'Node_1' }],
  ['[0].lvmAddress', 'expected an address', { ...group, lvmAddress: '10.0.0.11:3260' }],
  ['[0]', 'type nfs needs nfs', { name: 'fast', type: 'nfs', rootHelpers: true }],
  ['[0]', 'nfs can be set for type nfs only', { ...backend, nfs }],
  ['[0]', 'set rootHelpers to true', { name: 'fast', type: 'nfs', nfs }],
  ['[0].nfs.shares[0]', 'expected host:/path', { ...files, nfs: { shares: ['10.0.0.20'] } }],
  ['[0].nfs.mountOptions', 'without blanks', { ...files, nfs: { ...nfs, mountOptions: '-o hard' } }],
  ['[0].nfs.snapshots', 'set secureFiles to false', { ...files, nfs: { ...nfs, snapshots: true } }],
  ['[0].name', 'cinder.conf has a section of this name already', { ...backend, name: 'nova' }],
  ['[0].imageCache.maxSize', 'expected at least 1Gi', { ...backend, imageCache: { maxSize: '512Mi' } }],
  ['[0].backendHost', "expected a name without '@' and '#'", { ...backend, backendHost: 'old@fast' }],
];
const cinderRules = [
  ...wrongBackends.map(([at, words, wrong]) =>
    refused(Cinder, `spec.backends${at}`, words, { backends: [wrong] }, { backends: [backend] }),
  ),
  refused(
    Cinder,
    'spec.defaultBackend',
    'expected the name of one of spec.backends',
    { backends: [backend], defaultBackend: 'slow' },
    { backends: [backend], defaultBackend: 'fast' },
  ),
  ...(
    [
      ['.defaultVolumeType', 'expected the name of one of spec.volumeTypes', { defaultVolumeType: 'iron' }],
      [
        '.defaultVolumeType',
        'that is public',
        { volumeTypes: [{ name: 'gold', isPublic: false }], defaultVolumeType: 'gold' },
      ],
      ['.defaultVolumeType', 'not both', { defaultVolumeType: 'gold', defaultBackend: 'fast' }],
      ['.volumeTypes', 'each backend has a type of its own name', { volumeTypes: [{ name: 'fast' }] }],
      ['.volumeTypes', 'expected as backend the name of one', { volumeTypes: [{ name: 'gold', backend: 'slow' }] }],
    ] as const
  ).map(([field, words, wrong]) => {
    const right = { backends: [backend], volumeTypes: [{ name: 'gold', backend: 'fast' }] };
    return refused(Cinder, `spec${field}`, words, { ...right, ...wrong }, { ...right, defaultVolumeType: 'gold' });
  }),
  refused(
    Cinder,
    'spec.components',
    'replicas of volume, backup, target is at most 1',
    { backends: [backend], components: { volume: { replicas: 2 } } },
    { backends: [backend], components: { volume: { replicas: 1 } } },
  ),
];

const fileSystem = { name: 'fast', type: 'cephfs', cephFSName: 'files' };
const wrongShares: readonly (readonly [string, string, object])[] = [
  ['[0]', 'type cephfs or nfs needs cephFSName', { name: 'fast', type: 'nfs' }],
  ['[0]', 'cephFSName can be set for type cephfs or nfs only', { ...fileSystem, type: 'generic' }],
  ['[0]', 'shareServers can be set for type netapp or custom only', { ...fileSystem, shareServers: false }],
  ['[0].name', 'manila.conf has a section of this name already', { ...fileSystem, name: 'nova' }],
  ['[0].backendHost', "expected a name without '@' and '#'", { ...fileSystem, backendHost: 'old@fast' }],
];
const manilaRules = [
  ...wrongShares.map(([at, words, wrong]) =>
    refused(Manila, `spec.backends${at}`, words, { backends: [wrong] }, { backends: [fileSystem] }),
  ),
  refused(
    Manila,
    'spec.defaultBackend',
    'expected the name of one of spec.backends',
    { backends: [fileSystem], defaultBackend: 'slow' },
    { backends: [fileSystem], defaultBackend: 'fast' },
  ),
  ...(
    [
      ['.defaultShareType', 'expected the name of one of spec.shareTypes', { defaultShareType: 'iron' }],
      ['.defaultShareType', 'not both', { defaultShareType: 'gold', defaultBackend: 'fast' }],
      ['.shareTypes', 'each backend has a type of its own name', { shareTypes: [{ name: 'fast' }] }],
      ['.shareTypes', 'expected as backend the name of one', { shareTypes: [{ name: 'gold', backend: 'slow' }] }],
      [
        '.shareTypes[0].driverHandlesShareServers',
        'follows from backend',
        { shareTypes: [{ name: 'gold', backend: 'fast', driverHandlesShareServers: false }] },
      ],
      [
        '.shareTypes[0].extraSpecs',
        'set backend of the type',
        { shareTypes: [{ name: 'gold', extraSpecs: { share_backend_name: 'fast' } }] },
      ],
      [
        '.shareTypes[0].extraSpecs',
        'driverHandlesShareServers of the type',
        { shareTypes: [{ name: 'gold', extraSpecs: { driver_handles_share_servers: 'True' } }] },
      ],
      ['.shareTypes[0].extraSpecs', 'expected keys of', { shareTypes: [{ name: 'gold', extraSpecs: { 'a b': 'c' } }] }],
    ] as const
  ).map(([field, words, wrong]) => {
    const right = { backends: [fileSystem], shareTypes: [{ name: 'gold', backend: 'fast' }] };
    return refused(Manila, `spec${field}`, words, { ...right, ...wrong }, { ...right, defaultShareType: 'gold' });
  }),
  refused(
    Manila,
    'spec.components',
    'replicas of share, data is at most 1',
    { backends: [fileSystem], components: { data: { replicas: 2 } } },
    { backends: [fileSystem], components: { data: { replicas: 1 } } },
  ),
];

const gold = { index: 1, name: 'gold', replicaCount: 2 };
const fragments = { dataFragments: 4, parityFragments: 2 };
const wrongPolicies: readonly (readonly [string, string, object[]])[] = [
  ['', 'expected a device for each copy and each fragment', [{ index: 1, name: 'ec', erasureCoding: fragments }]],
  ['', 'expected a name for each that no other has', [gold, { ...gold, index: 2 }]],
  ['[0]', 'expected replicaCount or erasureCoding', [{ ...gold, erasureCoding: fragments }]],
  ['[0].name', 'every Swift has a policy of this name', [{ ...gold, name: 'policy-0' }]],
];

const disks = { name: 'disks', zone: 1, nodeSelector: { disks: 'yes' }, hostPath: { devices: ['sdb'] } };
const wrongGroups: readonly (readonly [string, string, object])[] = [
  ['.nodeSelector', 'hostPath needs nodeSelector', { ...disks, nodeSelector: {} }],
  ['.hostPath', 'with hostPath nodes and devices are what', { ...disks, storageNodes: 2 }],
];
const swiftRules = [
  ...wrongGroups.map(([at, words, wrong]) =>
    refused(Swift, `spec.storageGroups[0]${at}`, words, { storageGroups: [wrong] }, { storageGroups: [disks] }),
  ),
  refused(
    Swift,
    'spec.storageNodes',
    'expected a device for each replica',
    { storageNodes: 0 },
    { storageNodes: 0, storageGroups: [disks] },
  ),
  refused(
    Swift,
    'spec.proxyReplicas',
    'proxyReplicas is another name of replicas: state one of them',
    { proxyReplicas: 2, replicas: 2 },
    { proxyReplicas: 2 },
  ),
  refused(Swift, 'spec.storageNodes', 'expected a device for each replica', { storageNodes: 2 }, { storageNodes: 4 }),
  refused(
    Swift,
    'spec.storageNodes',
    'expected a device for each replica',
    { storageNodes: 2, storagePolicy: { replicaCount: 5 }, devicesPerNode: 2 },
    { storageNodes: 2, storagePolicy: { replicaCount: 4 }, devicesPerNode: 2 },
  ),
  refused(
    Swift,
    'spec.storageNodes',
    'the rings would not fit into a Secret',
    { storageNodes: 100, devicesPerNode: 16, storagePolicy: { partitionPower: 14 } },
    { storageNodes: 10, devicesPerNode: 4 },
  ),
  refused(
    Swift,
    'spec.storagePolicies',
    'the rings would not fit into a Secret',
    {
      storageNodes: 50,
      storagePolicy: { partitionPower: 14 },
      storagePolicies: [1, 2, 3, 4].map((index) => ({ index, name: `gold-${index}` })),
    },
    { storageNodes: 50, storagePolicies: [{ index: 1, name: 'gold' }] },
  ),
  ...wrongPolicies.map(([at, words, wrong]) =>
    refused(Swift, `spec.storagePolicies${at}`, words, { storagePolicies: wrong }, { storagePolicies: [gold] }),
  ),
  refused(
    Swift,
    'spec.defaultStoragePolicy',
    'expected Policy-0 or the name of one',
    { storagePolicies: [{ ...gold, deprecated: true }], defaultStoragePolicy: 'gold' },
    { storagePolicies: [gold], defaultStoragePolicy: 'gold' },
  ),
  refused(
    OpenStackControlPlane,
    'spec.glance.nodeNetworks[0]',
    'expected a network',
    { glance: { nodeNetworks: ['10.0.0.0/33'] } },
    { glance: { nodeNetworks: ['10.0.0.0/16'] } },
  ),
  ...[{ storageNodes: 3 }, { storagePolicy: {} }].map((stated) =>
    refused(Swift, 'spec.mode', 'can be set for mode native only', { mode: 'ceph-rgw', ...stated }, stated),
  ),
  refused(
    Swift,
    'spec.components',
    'replicas cannot be set for storage: state spec.storageNodes',
    { components: { storage: { replicas: 4 } } },
    { components: { proxy: { replicas: 4 } } },
  ),
];

const store = { name: 'fast', type: 'ceph', cephPoolName: 'fast-images' };
const s3 = { endpoint: 'https://s3.example.com', bucket: 'images', secretName: 's3' };
const remote = { name: 'remote', type: 's3', s3 };
const wrongStores: readonly (readonly [string, string, object[]])[] = [
  ['[0]', 'type ceph needs cephPoolName', [{ name: 'fast', type: 'ceph' }]],
  ['[0]', 'cephPoolName can be set for type ceph only', [{ ...store, type: 'swift' }]],
  ['[0]', 'volumeType can be set for type cinder only', [{ ...store, volumeType: 'images' }]],
  ['[0]', 'type s3 needs s3', [{ name: 'fast', type: 's3' }]],
  ['[0]', 's3 can be set for type s3 only', [{ ...store, s3 }]],
  ['[0].name', 'a store that storageType makes, or a section of glance-api.conf', [{ ...store, name: 'local' }]],
  ['[0].s3.endpoint', 'expected a URL', [{ ...remote, s3: { ...s3, endpoint: 's3.example.com' } }]],
  ['[0].s3.endpoint', 'expected a URL', [{ ...remote, s3: { ...s3, endpoint: 'https://s3.example.com/path' } }]],
  ['[0].description', 'expected one line', [{ ...store, description: 'two\nlines' }]],
  ['', 'a pool or a bucket that no other one has', [store, { ...store, name: 'other' }]],
  ['', 'a pool or a bucket that no other one has', [remote, { ...remote, name: 'other' }]],
  ['', 's3 cannot stand beside ceph', [store, remote]],
];
const glanceRules = [
  refused(
    Glance,
    'spec.defaultStore',
    'expected the name of one of additionalStores',
    { storageType: 'ceph', defaultStore: 'local', additionalStores: [store] },
    { storageType: 'ceph', defaultStore: 'ceph', additionalStores: [store] },
  ),
  refused(
    Glance,
    'spec.defaultStore',
    'local for pvc',
    { defaultStore: 'fast' },
    { additionalStores: [store], defaultStore: 'fast' },
  ),
  refused(
    Glance,
    'spec.imageCache',
    'of no use with storageType pvc',
    { imageCache: { maxSize: '10Gi' } },
    { storageType: 'swift', imageCache: { maxSize: '10Gi' } },
  ),
  ...['imageSizeTotal', 'imageStageTotal'].flatMap((name) =>
    ['2Pi', '1M'].map((size) =>
      refused(
        Glance,
        `spec.registeredLimits.${name}`,
        'expected 0, or from 1Mi to less than 2Pi',
        { registeredLimits: { [name]: size } },
        { registeredLimits: { [name]: size === '1M' ? '0' : '1Pi' } },
      ),
    ),
  ),
  ...wrongStores.map(([at, words, wrong]) =>
    refused(Glance, `spec.additionalStores${at}`, words, { additionalStores: wrong }, { additionalStores: [store] }),
  ),
  refused(
    Glance,
    'spec.additionalStores',
    's3 cannot stand beside ceph',
    { storageType: 'ceph', additionalStores: [remote] },
    { storageType: 'swift', additionalStores: [remote] },
  ),
  refused(
    Glance,
    'spec.additionalStores',
    'expected other pools than spec.cephPoolName',
    { storageType: 'ceph', additionalStores: [{ ...store, cephPoolName: 'glance-images' }] },
    { storageType: 'ceph', cephPoolName: 'images', additionalStores: [{ ...store, cephPoolName: 'glance-images' }] },
  ),
];

const rookCluster = { cephImage: 'ceph:19', storageDeviceFilter: '^sdb$' };
/** Wrong specs of a CephCluster, where the mistake is, and how it is told. */
const wrongClusters = [
  ['', 'exactly one of storageDeviceFilter and osds has to be set', { cephImage: 'ceph:19' }],
  ['', 'exactly one of storageDeviceFilter and osds has to be set', { ...rookCluster, osds: { size: '1Ti' } }],
  ['.monCount', 'expected an odd number', { ...rookCluster, monCount: 2 }],
  ['.dataDirHostPath', 'expected an absolute path', { ...rookCluster, dataDirHostPath: 'rook' }],
  ['.osds.size', 'expected a size', { cephImage: 'ceph:19', osds: { size: '1TB' } }],
] as const;

/** A spec of a CephStorage in place of the minimal one, which is of mode external. */
const atRook = (rook?: object) => ({ external: undefined, mode: 'rook', ...(rook && { rook }) });

const cephRules: readonly RefusedSpec[] = [
  refused(
    CephStorage,
    'spec.external',
    'external is required for mode external',
    { external: undefined },
    { external: ceph },
  ),
  refused(CephStorage, 'spec.external', 'external is for mode external: remove it', { mode: 'rook' }, atRook()),
  refused(
    CephStorage,
    'spec.external.keyringSecretName',
    'keyringSecretName is required without admin',
    { external: { monitorHosts: '10.0.0.1' } },
    { external: { monitorHosts: '10.0.0.1', admin: { keyringSecretName: 'ceph-admin' } } },
  ),
  refused(
    CephStorage,
    'spec.external.admin.user',
    'expected the name without client.',
    { external: { ...ceph, admin: { keyringSecretName: 'ceph-admin', user: 'client.admin' } } },
    { external: { ...ceph, admin: { keyringSecretName: 'ceph-admin', user: 'maker' } } },
  ),
  refused(CephStorage, 'spec.rook', 'rook is for mode rook: remove it', { rook: {} }, atRook({})),
  refused(
    CephStorage,
    'spec.rook.failureDomain',
    'expected a type of the CRUSH map',
    atRook({ failureDomain: 'Host 1' }),
    atRook({ failureDomain: 'host' }),
  ),
  ...wrongClusters.map(([at, words, cluster]) =>
    refused(CephStorage, `spec.rook.cluster${at}`, words, atRook({ cluster }), atRook({ cluster: rookCluster })),
  ),
];

/** Specs of services that store something, and of the Ceph that they use. */
export const storageRules: readonly RefusedSpec[] = [
  ...cephRules,
  ...['cinder', 'cinderBackup', 'glance', 'manila', 'nova', 'swift'].map((user) =>
    refused(
      CephStorage,
      `spec.users.${user}`,
      'expected the name without client.',
      { external: ceph, users: { [user]: 'client.some' } },
      { external: ceph, users: { [user]: 'cinder' } },
    ),
  ),
  ...['cinder', 'manila'].map((field) =>
    refused(
      OpenStackControlPlane,
      `spec.${field}.backends`,
      'backends is required, unless enabled is false',
      { [field]: {} },
      { [field]: { enabled: false } },
    ),
  ),
  refused(
    OpenStackControlPlane,
    'spec.cephStorage.external',
    'external is required for mode external',
    { cephStorage: {} },
    { cephStorage: { enabled: false } },
  ),
  ...cinderRules,
  ...glanceRules,
  ...manilaRules,
  ...swiftRules,
];
