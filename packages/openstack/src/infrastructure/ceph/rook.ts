import { apiVersionOf, defineKind, type Kind, type KubeObject } from '@openstack-operator/kube';
import { subdomain } from '../../api/names.ts';
import { labelsOf, retainedFor, retainedForLabel } from '../../engine/names/names.ts';
import type { Context } from '../../engine/vocabulary/context.ts';
import type { ForeignKind } from '../../engine/vocabulary/foreign-kinds.ts';
import type { Desired, Problem } from '../../engine/vocabulary/step.ts';
import { cephUsers, keyOfRook, monitorsOfRook, statedAddress } from './address.ts';
import type { CephClusterSpec, CephPool, CephStorage, CephStorageSpec } from './kind.ts';
import { capabilities, copiesOf, trialsOf, type Used, usersIn } from './trials.ts';

const api = 'ceph.rook.io/v1';
const CephCluster = defineKind(api, 'CephCluster', 'cephclusters');
const CephBlockPool = defineKind(api, 'CephBlockPool', 'cephblockpools');
const CephFilesystem = defineKind(api, 'CephFilesystem', 'cephfilesystems');
const CephClient = defineKind(api, 'CephClient', 'cephclients');

/** A kind of Rook whose objects are data, or what data are reached by: keys. */
const ofRook = (kind: Kind): ForeignKind => ({
  kind,
  servedBy: 'Rook (its definitions of 1.19 were checked)',
  done: { field: 'phase', value: 'Ready' },
  follows: 'Rook begins once the CephCluster of this namespace is Ready',
  holdsData: true,
});

/** The kinds of Rook. A CephCluster is reconciled anew whenever Rook starts: that it serves, the others tell, and the check. */
export const rookKinds: readonly ForeignKind[] = [
  { kind: CephCluster, servedBy: ofRook(CephCluster).servedBy, holdsData: true },
  ...[CephBlockPool, CephFilesystem, CephClient].map(ofRook),
];

/** Whether Rook runs the cluster. */
export const isOfRook = ({ mode }: Pick<CephStorageSpec, 'mode'>) => mode === 'rook';

/** Pools and filesystems, by the field of `lasting` that remembers them: users keep the rights to what is stated no more. */
export function rememberedParts(spec: CephStorageSpec): Readonly<Record<string, Part>> {
  const { pools = [], fileSystems = [] } = isOfRook(spec) ? spec : {};
  return Object.fromEntries([
    ...pools.map((one) => [`spec.pools[name=${one.name},purpose=${one.purpose}]`, one] as const),
    ...fileSystems.map((one) => [`spec.fileSystems[name=${one.name}]`, one] as const),
  ]);
}

type Part = CephPool | NonNullable<CephStorageSpec['fileSystems']>[number];

/** The pools and filesystems that are stated, and those that were once: in one order, whichever they are. */
function partsOf({ spec, surroundings }: Context<CephStorage>): Used {
  const byField = Object.entries({ ...surroundings.remembered, ...rememberedParts(spec) }) as [string, Part][];
  const all = byField.sort(([one], [other]) => (one < other ? -1 : 1)).map(([, part]) => part);
  return {
    pools: all.filter((one) => 'purpose' in one),
    fileSystems: all.filter((one) => !('purpose' in one)),
    objectGateway: spec.objectGateway === true,
  };
}

/** Secrets that Rook makes, and configuration refers to. */
export function secretsOfRook(resource: KubeObject): string[] {
  const spec = (resource['spec'] ?? {}) as CephStorageSpec;
  if (!isOfRook(spec)) return [];
  const { user } = statedAddress(resource);
  // A service may refer to one whose pools nobody has stated.
  return [monitorsOfRook.secret, ...cephUsers.map((one) => keyOfRook(user(one)))];
}

/** What Rook is asked for: the cluster, if it is to be made; pools, filesystems and users. */
export function rookObjects(context: Context<CephStorage>): Desired[] {
  const { resource, spec, name } = context;
  if (!isOfRook(spec)) return [];
  const { user } = statedAddress(resource);
  const { cluster } = spec.rook ?? {};
  const trials = trialsOf(partsOf(context));
  const pool = poolSpec(spec);
  const copies = copiesOf(spec);
  const desired = (kind: Kind, of: string, rookSpec: object) => retained(context, kind, of, rookSpec);
  return [
    ...(cluster === undefined ? [] : [desired(CephCluster, name, clusterSpec(cluster))]),
    ...[...copies].map(([one, size]) => desired(CephBlockPool, one, poolSpec(spec, size))),
    ...(spec.fileSystems ?? []).map((one) =>
      desired(CephFilesystem, one.name, {
        metadataPool: pool,
        dataPools: [{ name: 'data0', ...pool }],
        // Whatever becomes of the object, what is in it stays: what Manila keeps there, Rook does not look for.
        preserveFilesystemOnDelete: true,
        metadataServer: { activeCount: 1, activeStandby: true },
      }),
    ),
    ...usersIn(trials).map((one) =>
      desired(CephClient, user(one), { caps: capabilities(trials.filter((trial) => trial.user === one)) }),
    ),
  ];
}

/** An object of Rook, which outlives its resource as volumes do. */
function retained(
  { resource, namespace, name, spec }: Context<CephStorage>,
  kind: Kind,
  of: string,
  rookSpec: object,
): Desired {
  const stays = spec.deletionPolicy !== 'Delete';
  const labels = {
    ...labelsOf('ceph-storage', name),
    ...(stays ? { [retainedForLabel]: retainedFor(resource) } : {}),
  };
  return {
    verb: 'apply',
    object: {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: { name: of, namespace, labels },
      spec: rookSpec,
    },
    ...(stays ? { retained: true } : {}),
  };
}

/** How a pool keeps what it holds. Rook refuses one copy unless it is told that this is meant. */
function poolSpec({ rook: { replicaCount = 3, failureDomain = 'host' } = {} }: CephStorageSpec, size = replicaCount) {
  return { failureDomain, replicated: { size, requireSafeReplicaSize: size > 1 } };
}

function clusterSpec(cluster: CephClusterSpec): object {
  const { cephImage: image, dataDirHostPath = '/var/lib/rook', monCount = 3, nodeSelector = {} } = cluster;
  const matchExpressions = Object.entries(nodeSelector).map(([key, value]) => ({
    key,
    operator: 'In',
    values: [value],
  }));
  const required = { nodeSelectorTerms: [{ matchExpressions }] };
  return {
    cephVersion: { image },
    dataDirHostPath,
    mon: { count: monCount, allowMultiplePerNode: false },
    mgr: { count: Math.min(2, monCount), allowMultiplePerNode: false },
    storage: storageOf(cluster),
    ...(matchExpressions.length === 0
      ? {}
      : { placement: { all: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } } }),
  };
}

/** Where OSDs are: on devices of nodes, or on volumes. */
function storageOf({ storageDeviceFilter: deviceFilter, osds }: CephClusterSpec): object {
  if (osds === undefined) return { useAllNodes: true, useAllDevices: false, deviceFilter };
  const { count = 3, size, storageClassName } = osds;
  const spec = {
    accessModes: ['ReadWriteOnce'],
    volumeMode: 'Block',
    ...(storageClassName === undefined ? {} : { storageClassName }),
    resources: { requests: { storage: size } },
  };
  const set = { name: 'osds', count, portable: true, volumeClaimTemplates: [{ metadata: { name: 'data' }, spec }] };
  return { useAllNodes: false, useAllDevices: false, storageClassDeviceSets: [set] };
}

/** Users that Ceph and Rook have for themselves, such as those of Rook's CSI drivers: a CephClient would change their rights. */
const usersOfRook =
  /^(admin|ceph-exporter|crash|healthchecker|(bootstrap-|csi-|mds\.|mgr\.|mon\.|osd\.|rbd-mirror|rgw).*)$/u;

/** Names that Ceph takes, and Kubernetes does not; and users that are somebody else's. */
export function nameProblem(context: Context<CephStorage>): Problem | undefined {
  const { resource, spec } = context;
  if (!isOfRook(spec)) return undefined;
  const { user } = statedAddress(resource);
  const valid = new RegExp(subdomain.pattern);
  const { pools = [], fileSystems = [] } = spec;
  const named = [
    ...pools.map(({ name }) => ['spec.pools', name] as const),
    ...fileSystems.map(({ name }) => ['spec.fileSystems', name] as const),
    ...usersIn(trialsOf(spec)).map((one) => [`spec.users.${one}`, user(one)] as const),
  ];
  const taken = usersIn(trialsOf(spec)).filter((one) => usersOfRook.test(user(one)));
  if (taken.length > 0) {
    const message = `${taken.map((one) => `spec.users.${one}: ${user(one)}`).join('; ')}: Ceph or Rook has this user for itself, and its rights would be changed; choose another name`;
    return { reason: 'SpecRefused', message };
  }
  const messages = named.flatMap(([field, name]) => (valid.test(name) ? [] : [`${field}: ${name}`]));
  if (messages.length === 0) return undefined;
  const way =
    "an object of Rook has this name, of a-z, 0-9, '-' and '.' alone: choose another one, or use mode external";
  return { reason: 'SpecRefused', message: `${[...new Set(messages)].join('; ')}: ${way}` };
}
