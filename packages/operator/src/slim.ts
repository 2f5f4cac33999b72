import type { StoredObject } from '@openstack-operator/kube';

interface PodSpec {
  readonly nodeName?: string;
  readonly volumes?: readonly { readonly configMap?: object }[];
}
type Workload = { readonly template?: { readonly spec?: PodSpec } };

/**
 * What is ever looked at of pods, ReplicaSets and revisions: what became of them, where they run, and which ConfigMaps
 * they mount. Images, environment and mounts, the greater part of them, need not lie in memory.
 */
export function slim(object: StoredObject): StoredObject {
  switch (object.kind) {
    case 'Pod':
      return { ...object, spec: podSpec(object['spec'] as PodSpec | undefined) };
    case 'ReplicaSet':
      return { ...object, spec: workload(object['spec'] as Workload | undefined) };
    case 'ControllerRevision':
      return { ...object, data: { spec: workload((object['data'] as { spec?: Workload } | undefined)?.spec) } };
    default:
      return object;
  }
}

function podSpec({ nodeName, volumes = [] }: PodSpec = {}): PodSpec {
  const configMaps = volumes.flatMap(({ configMap }) => (configMap === undefined ? [] : [{ configMap }]));
  return { ...(nodeName === undefined ? {} : { nodeName }), volumes: configMaps };
}

function workload({ template }: Workload = {}): Workload {
  return { template: { spec: podSpec(template?.spec) } };
}
