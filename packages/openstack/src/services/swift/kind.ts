import { identity } from '../../api/accounts.ts';
import { defineApi, endpointColumn, type ObjectOf, type SpecOf, type StatusOf } from '../../api/define-api.ts';
import { api } from '../../api/exposure.ts';
import { nameLength } from '../../api/names.ts';
import { recordsAudit } from '../../api/schedules.ts';
import { bool, choice, int, laterRule, object, rule, string } from '../../api/schema.ts';
import { common, endpoints, found, lasting, phase } from '../../api/status.ts';
import { storage } from '../../api/storage.ts';
import { dataConfig, region, release, template } from '../../api/template.ts';
import { cephStorageRef } from '../../infrastructure/ceph/reference.ts';
import { cacheRef } from '../../infrastructure/memcached/reference.ts';
import { keystoneRef } from '../keystone/reference.ts';
import { counts, storageGroups, volumeSize } from './groups.ts';
import { defaultIsOffered, firstPolicy, policiesFit, storagePolicies, widthOf } from './policies.ts';

/** What is said by whoever says nothing. */
export const defaults = { ...counts, replicaCount: 3, partitionPower: 12, minPartHours: 12 };

const storagePolicy = object('How accounts, containers and the objects of the storage policy Policy-0 are kept.', {
  replicaCount: int('Copies of each account, container and object, each on another device.', {
    minimum: 1,
    maximum: 9,
    fallback: defaults.replicaCount,
    immutable: defaults.replicaCount,
  }),
  partitionPower: int(
    'The rings have 2 to this power partitions: 12 are enough for a hundred devices. How many fit into a Secret follows from replicaCount and from the devices.',
    { minimum: 4, maximum: 14, fallback: defaults.partitionPower, immutable: defaults.partitionPower },
  ),
  minPartHours: int(
    'Hours for which the replicas of a partition stay where they are after one was moved: longer than replication takes.',
    { minimum: 1, maximum: 255, fallback: defaults.minPartHours },
  ),
});

const defaultStoragePolicy = string(
  `Storage policy of containers that are made without one: ${firstPolicy}, or one of storagePolicies that is not deprecated.`,
  { maxLength: 63, fallback: firstPolicy },
);

/** In CEL: a field of a spec, or what counts without it. */
const stated = (path: string, absent: number, spec = 'self') => {
  const names = path.split('.').map((_, index, all) => `has(${spec}.${all.slice(0, index + 1).join('.')})`);
  return `(${names.join(' && ')} ? ${spec}.${path} : ${absent})`;
};

const devicesOf = (spec: string) =>
  `${stated('storageNodes', defaults.storageNodes, spec)} * ${stated('devicesPerNode', defaults.devicesPerNode, spec)}`;

const devices = devicesOf('self');

/** In CEL: of groups nobody adds up how many devices they have: the operator does (ConfigReady), as a sum costs the API server too much. */
const isGrouped = 'has(self.storageGroups)';

/** Bytes of a Secret's rings and builders at most. */
export const mostRingBytes = 1_000_000;

/**
 * In CEL: whether as many rings fit into a Secret. A ring has two bytes for each replica of a partition, a builder three, and
 * three for each partition; a device has 400 in both, with the longest names. Measured with swift-ring-builder 2.35: 1.1 MB of
 * three rings at power 14, 9 replicas and 1600 devices, of which this says 1.4.
 */
const ringsFit = (count: string, replicas: string) => {
  const power = stated('storagePolicy.partitionPower', defaults.partitionPower);
  const partitions = Array.from({ length: 11 }, (_, index) => 2 ** (4 + index));
  return `${count} * ([${partitions.join(', ')}][${power} - 4] * (5 * ${replicas} + 3) + 400 * ${devices}) <= ${mostRingBytes}`;
};

/** Those of the three servers. */
const serversFit = `${isGrouped} || ${ringsFit('3', stated('storagePolicy.replicaCount', defaults.replicaCount))}`;

/** Those of further policies, each as wide as any: a sum over them would cost the API server too much. */
const policyRingsFit = `${isGrouped} || !has(self.storagePolicies) || self.storagePolicies.all(one, ${ringsFit('size(self.storagePolicies)', widthOf('one'))})`;

const volume = storage('Volume of each device, of xfs (checkDevices).', volumeSize);
const hadNodes = `${stated('storageNodes', defaults.storageNodes, 'oldSelf')} > 0`;

/** The volume of each device. After there was no storage node, new volumes may be in another StorageClass; what stayed of earlier ones is used as it is. */
const deviceVolume = {
  ...volume,
  transitions: volume.transitions.map((change) => ({
    ...change,
    allows: (next: string, previous: string) => `!(${hadNodes}) || ${change.allows(next, previous)}`,
  })),
};

const tooLarge = (count: string) =>
  `the rings would not fit into a Secret (1 MiB): expected 2^partitionPower * (5 * replicaCount + 3) + 400 * devices, ${count}, to be ${mostRingBytes} or less`;

/** In CEL: whether a spec is of mode ceph-rgw. */
const isGateway = "has(self.mode) && self.mode == 'ceph-rgw'";

/** What says how Swift keeps objects: Ceph says that by itself. */
const nativeFields = [
  'storagePolicy',
  'storagePolicies',
  'defaultStoragePolicy',
  'storageNodes',
  'devicesPerNode',
  'storage',
  'storageGroups',
];

/** Object storage. */
export const Swift = defineApi({
  kind: 'Swift',
  plural: 'swifts',
  shortName: 'ossw',
  description: 'Object storage: accounts, containers and objects, by the APIs of Swift and of S3.',
  nameLength: nameLength.service,
  spec: object(
    'Desired state of Swift.',
    {
      ...template({
        main: 'the proxy',
        components: ['proxy', 'storage'],
        images: ['tls-proxy'],
        counted: { storage: 'storageNodes' },
      }),
      ...api('swift'),
      release,
      region,
      cacheRef,
      keystoneRef,
      identity: identity('swift'),
      mode: choice(
        'Who keeps the objects: native, servers of Swift on volumes of the cluster; ceph-rgw, the Ceph cluster of cephStorageRef, by its object gateway (radosgw).',
        ['native', 'ceph-rgw'],
        { fallback: 'native', immutable: 'native' },
      ),
      cephStorageRef: cephStorageRef('objects, for mode ceph-rgw'),
      proxyReplicas: int('The same as replicas, by another name.', { minimum: 0, maximum: 100, otherwise: 'replicas' }),
      storagePolicy,
      storagePolicies,
      defaultStoragePolicy,
      storageNodes: int(
        'Storage nodes: pods with volumes of their own; 0 where storageGroups has all. Of fewer, the last ones run until everything has moved away from them (RemovedNodesEmpty); their volumes stay.',
        { minimum: 0, maximum: 100, fallback: defaults.storageNodes },
      ),
      devicesPerNode: int('Devices of each storage node: volumes d1, d2 and so on.', {
        minimum: 1,
        maximum: 16,
        fallback: defaults.devicesPerNode,
        immutable: defaults.devicesPerNode,
      }),
      storage: deviceVolume,
      storageGroups,
      checkDevices: bool(
        'Storage nodes with a new device whose file system takes no 8 KiB of extended attributes, such as ext4, do not start (StorageNodesReady): it would refuse objects with more metadata. Devices in use are not looked at.',
        { fallback: true },
      ),
      recordsAudit,
      config: dataConfig('proxy-server.conf'),
    },
    {
      rules: [
        rule(
          '!(has(self.replicas) && has(self.proxyReplicas))',
          'proxyReplicas is another name of replicas: state one of them',
          '.proxyReplicas',
        ),
        rule(
          `!(${isGateway}) || !(${nativeFields.map((field) => `has(self.${field})`).join(' || ')})`,
          `${nativeFields.join(', ')} can be set for mode native only`,
          '.mode',
        ),
        rule(
          `${isGrouped} || ${devices} >= ${stated('storagePolicy.replicaCount', defaults.replicaCount)}`,
          `expected a device for each replica: storageNodes times devicesPerNode has to be storagePolicy.replicaCount (default ${defaults.replicaCount}) or more`,
          '.storageNodes',
        ),
        rule(
          `${isGrouped} || ${policiesFit(devices)}`,
          'expected a device for each copy and each fragment of a policy: storageNodes times devicesPerNode has to be as many',
          '.storagePolicies',
        ),
        rule(
          defaultIsOffered,
          'expected Policy-0 or the name of one of storagePolicies that is not deprecated',
          '.defaultStoragePolicy',
        ),
        laterRule(
          serversFit,
          `${devices} <= ${devicesOf('old')}`,
          `${tooLarge('three times')}; state fewer and larger devices, or, before the first rollout, a lower storagePolicy.partitionPower`,
          '.storageNodes',
        ),
        rule(
          policyRingsFit,
          `${tooLarge('once for each of storagePolicies, as many copies or fragments as the widest has')}; state fewer and larger devices, or fewer policies`,
          '.storagePolicies',
        ),
      ],
    },
  ),
  status: object('Observed state of Swift.', { ...common, phase, ...endpoints, found, lasting }),
  columns: [
    { name: 'Mode', type: 'string', jsonPath: '.spec.mode', description: 'Who keeps the objects, if stated' },
    endpointColumn,
  ],
});

export type Swift = ObjectOf<typeof Swift>;
export type SwiftSpec = SpecOf<typeof Swift>;
export type SwiftStatus = StatusOf<typeof Swift>;
