import type { StoredObject } from '@openstack-operator/kube';
import { cloudLabel, conditionOf, prefix } from '@openstack-operator/openstack';

interface PodSpec {
  readonly nodeName?: string;
  readonly hostNetwork?: boolean;
  readonly affinity?: unknown;
  readonly containers?: readonly { readonly env?: unknown }[];
  readonly volumes?: readonly { readonly name?: string; readonly configMap?: object; readonly secret?: object }[];
}
type Workload = { readonly template?: { readonly spec?: PodSpec } };

/** What of a pod's status is read. */
interface PodStatus {
  readonly phase?: string;
  readonly conditions?: unknown;
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly containerStatuses?: readonly ContainerStatus[];
}
interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly state?: unknown;
  readonly lastState?: unknown;
}

/**
 * What is ever looked at of pods, ReplicaSets and revisions: what became of them, where they run, and which ConfigMaps and
 * Secrets they mount; of node agents also what settings they apply, and which node one is made for that has none yet. Images,
 * environment, mounts and addresses, the greater part of them, need not lie in memory.
 */
export function slim(object: StoredObject): StoredObject {
  switch (object.kind) {
    case 'Pod':
      return {
        ...object,
        spec: podSpec(object['spec'] as PodSpec | undefined),
        status: podStatus(object['status'] as PodStatus | undefined),
      };
    case 'ReplicaSet':
      return { ...object, spec: workload(object['spec'] as Workload | undefined) };
    case 'ControllerRevision':
      return { ...object, data: { spec: workload((object['data'] as { spec?: Workload } | undefined)?.spec) } };
    default:
      return object;
  }
}

function podSpec({ nodeName, hostNetwork, affinity, containers = [], volumes = [] }: PodSpec = {}): PodSpec {
  const mounted = volumes.flatMap(({ name, configMap, secret }): NonNullable<PodSpec['volumes']> => {
    if (configMap !== undefined) return [{ configMap }];
    return secret === undefined ? [] : [{ ...(name !== undefined && { name }), secret }];
  });
  return {
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(hostNetwork === true && nodeName === undefined && affinity !== undefined ? { affinity } : {}),
    ...(hostNetwork === true ? { hostNetwork, containers: containers.map(({ env = [] }) => ({ env })) } : {}),
    volumes: mounted,
  };
}

function podStatus({ phase, conditions, initContainerStatuses, containerStatuses }: PodStatus = {}): PodStatus {
  const read = ({ name, ready, restartCount, state, lastState }: ContainerStatus) => ({
    name,
    ready,
    restartCount,
    state,
    lastState,
  });
  return {
    ...(phase === undefined ? {} : { phase }),
    ...(conditions === undefined ? {} : { conditions }),
    ...(initContainerStatuses === undefined ? {} : { initContainerStatuses: initContainerStatuses.map(read) }),
    ...(containerStatuses === undefined ? {} : { containerStatuses: containerStatuses.map(read) }),
  };
}

function workload({ template }: Workload = {}): Workload {
  return { template: { spec: podSpec(template?.spec) } };
}

/**
 * What is read of a node: whose it is, whether it can be used, its addresses and its size. The rest, its images first of
 * all, is many times as long.
 */
export function slimNode(node: StoredObject): StoredObject {
  const { unschedulable, taints } = (node['spec'] ?? {}) as { unschedulable?: boolean; taints?: unknown };
  const status = (node['status'] ?? {}) as Record<string, unknown>;
  const { addresses, capacity, allocatable } = status;
  const ready = conditionOf(node, 'Ready');
  return {
    ...node,
    spec: { ...(unschedulable === undefined ? {} : { unschedulable }), ...(taints === undefined ? {} : { taints }) },
    status: {
      ...(addresses === undefined ? {} : { addresses }),
      ...(capacity === undefined ? {} : { capacity }),
      ...(allocatable === undefined ? {} : { allocatable }),
      conditions: ready === undefined ? [] : [ready],
    },
  };
}

/**
 * What of a node concerns a cloud. Of one that is claimed only our own labels and annotations do, besides whether it can
 * be used; a free one is chosen by any of its labels. Heartbeats concern nobody.
 */
export function nodeFacts(node: StoredObject): unknown {
  const { labels = {}, annotations = {}, deletionTimestamp } = node.metadata;
  const { addresses, capacity, allocatable } = (node['status'] ?? {}) as Record<string, unknown>;
  const ours = (texts: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(texts).filter(([name]) => name.startsWith(`${prefix}/`)));
  return [
    labels[cloudLabel] === undefined ? labels : ours(labels),
    ours(annotations),
    deletionTimestamp,
    node['spec'],
    conditionOf(node, 'Ready')?.status,
    [addresses, capacity, allocatable],
  ];
}

/** What is read of a StorageClass: that it exists, whether it is the default one, and whether its volumes may grow. */
export function slimStorageClass({ apiVersion, kind, metadata, ...more }: StoredObject): StoredObject {
  return { apiVersion, kind, metadata, allowVolumeExpansion: more['allowVolumeExpansion'] };
}

/** What of a StorageClass concerns those who have volumes. */
export function storageClassFacts({ metadata, ...more }: StoredObject): unknown {
  return [metadata.annotations, more['allowVolumeExpansion']];
}
