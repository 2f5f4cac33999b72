import {
  ControllerRevision,
  Job,
  type Kind,
  type KubeObject,
  keyOf,
  Pod,
  ReplicaSet,
  type StoredObject,
} from '@openstack-operator/kube';
import { type Composition, conditionOf, kindOf } from '@openstack-operator/openstack';
import type { Pass } from './pass.ts';

/**
 * Kinds that we have ever composed: what of them is ours and no longer wanted goes. The list only grows, so that an
 * upgrade cleans up after every version before it. Volumes and generated Secrets are never pruned: not in the list, or
 * without an owner reference.
 */
export const prunedKinds: readonly Pick<KubeObject, 'apiVersion' | 'kind'>[] = [
  { apiVersion: 'v1', kind: 'ConfigMap' },
  { apiVersion: 'v1', kind: 'Service' },
  { apiVersion: 'apps/v1', kind: 'Deployment' },
  { apiVersion: 'apps/v1', kind: 'StatefulSet' },
  { apiVersion: 'apps/v1', kind: 'DaemonSet' },
  { apiVersion: 'batch/v1', kind: 'Job' },
  { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' },
  { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
  { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute' },
  { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'MariaDB' },
  { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'RabbitMQ' },
  { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'Memcached' },
  { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'OVNNetwork' },
  { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'Keystone' },
  { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'Glance' },
  { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'Placement' },
  { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'Neutron' },
  { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'Nova' },
];

/** Deletes what the resource owns and no step wants any more. Only for complete compositions. */
export async function prune(pass: Pass, composition: Composition): Promise<void> {
  if (!composition.complete) return;
  const wanted = new Set(
    composition.steps.flatMap(({ objects }) =>
      objects.flatMap((desired) => ('object' in desired ? [idOf(desired.object)] : [])),
    ),
  );
  for (const type of prunedKinds) {
    const kind = kindOf(type);
    if (!pass.cache.has(kind) || !pass.cache.synced(kind) || !pass.cache.served(kind)) continue;
    for (const object of pass.cache.byIndex(kind, 'controller', pass.object.metadata.uid)) {
      if (wanted.has(idOf(object)) || object.metadata.deletionTimestamp !== undefined) continue;
      if (kind.kind === 'ConfigMap' && isMounted(pass, object)) continue;
      await pass.remove(object);
    }
  }
}

/** Whether anything that may still start a container mounts the ConfigMap: an old revision can be rolled back to. */
function isMounted(pass: Pass, configMap: StoredObject): boolean {
  const { namespace = '', name, labels } = configMap.metadata;
  const labelSelector = { matchLabels: { [instance]: labels?.[instance] ?? '' } };
  const kinds: readonly Kind[] = [Pod, ReplicaSet, ControllerRevision, Job];
  return kinds.some((kind) =>
    pass.cache
      .list(kind, { namespace, labelSelector })
      .some((user) => !hasEnded(user) && mountedConfigMaps(user).includes(name)),
  );
}

/** A Job or pod that has run to its end starts no container any more. */
function hasEnded(user: KubeObject): boolean {
  const { phase } = (user['status'] ?? {}) as { phase?: string };
  return ['Succeeded', 'Failed'].includes(phase ?? '') || conditionOf(user, 'Complete')?.status === 'True';
}

const instance = 'app.kubernetes.io/instance';

/** Names of the ConfigMaps that an object's pod template mounts. */
function mountedConfigMaps(object: KubeObject): string[] {
  const carrier = object.kind === 'ControllerRevision' ? object['data'] : object;
  const { spec } = (carrier ?? {}) as { spec?: PodTemplate & { template?: { spec?: PodTemplate } } };
  const volumes = (object.kind === 'Pod' ? spec?.volumes : spec?.template?.spec?.volumes) ?? [];
  return volumes.flatMap(({ configMap }) => configMap?.name ?? []);
}

interface PodTemplate {
  readonly volumes?: readonly { readonly configMap?: { readonly name?: string } }[];
}

function idOf(object: KubeObject): string {
  return `${object.apiVersion} ${object.kind} ${keyOf(object)}`;
}
