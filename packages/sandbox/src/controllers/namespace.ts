import { type Condition, keyOf } from '@openstack-operator/kube';
import type { Cluster } from '../cluster/cluster.ts';
import { refusedWith } from '../cluster/cluster.ts';
import { withCondition } from '../cluster/conditions.ts';
import { ConfigMap, Namespace, Pod, ServiceAccount, type Stored } from '../cluster/kinds.ts';
import { deepEqual } from '../resources/json.ts';
import { type ControllerDefinition, type Wake, wakeBy } from './controller.ts';

const ROOT_CA = 'kube-root-ca.crt';

/** Empties namespaces that are being deleted, and lets them go (pkg/controller/namespace). */
export function namespaceController(): ControllerDefinition<Namespace> {
  const contentGone: Wake = {
    subscribe: (cluster, add) =>
      cluster.subscribeAll((_, { object, old }) => {
        const namespace = (object ?? old)?.metadata.namespace;
        if (namespace === undefined) return;
        const status = cluster.get(Namespace, namespace)?.status;
        if (status?.phase === 'Terminating') add(namespace);
      }),
  };
  return {
    name: 'namespace-controller',
    kind: Namespace,
    wakes: [contentGone],
    reconcile(namespace, name, { cluster }) {
      if (!namespace.metadata.deletionTimestamp) return;
      deleteContent(name, cluster);
      const left = contentOf(name, cluster);
      const conditions = conditionsOf(namespace, left, cluster.now());
      if (!deepEqual(conditions, namespace.status?.conditions)) {
        cluster.updateStatus(Namespace, name, {
          ...namespace.status,
          phase: 'Terminating',
          conditions,
        });
      }
      if (left.length === 0) cluster.finalize(name);
    },
  };
}

/** Pods first: they may still need what else is there to end well (KEP-5080). */
function deleteContent(namespace: string, cluster: Cluster): void {
  const pods = cluster.list(Pod, namespace);
  for (const pod of pods) if (!pod.metadata.deletionTimestamp) cluster.delete(Pod, pod);
  if (cluster.list(Pod, namespace).length > 0) return;
  for (const kind of cluster.kinds()) {
    if (!kind.namespaced) continue;
    for (const object of cluster.list(kind, namespace)) {
      if (!object.metadata.deletionTimestamp) cluster.delete(kind, object, { propagationPolicy: 'Background' });
    }
  }
}

interface Remainder {
  readonly resource: string;
  readonly objects: readonly Stored[];
}

function contentOf(namespace: string, cluster: Cluster): Remainder[] {
  return cluster.kinds().flatMap((kind) => {
    const objects = kind.namespaced ? cluster.list(kind, namespace) : [];
    // With the dot even in the core group: so the real one prints it.
    const resource = `${kind.plural}.${kind.group}`;
    return objects.length > 0 ? [{ resource, objects }] : [];
  });
}

function conditionsOf(namespace: Stored<Namespace>, left: readonly Remainder[], now: string) {
  const remaining = left.map(({ resource, objects }) => `${resource} has ${objects.length} resource instances`).sort();
  const finalizers = new Map<string, number>();
  for (const { metadata } of left.flatMap(({ objects }) => objects)) {
    for (const finalizer of metadata.finalizers ?? []) finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
  }
  const held = [...finalizers].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`).sort();
  const list: Omit<Condition, 'lastTransitionTime'>[] = [
    verdict('NamespaceDeletionDiscoveryFailure', false, 'ResourcesDiscovered', 'All resources successfully discovered'),
    verdict(
      'NamespaceDeletionGroupVersionParsingFailure',
      false,
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ),
    verdict(
      'NamespaceDeletionContentFailure',
      false,
      'ContentDeleted',
      'All content successfully deleted, may be waiting on finalization',
    ),
    remaining.length > 0
      ? verdict(
          'NamespaceContentRemaining',
          true,
          'SomeResourcesRemain',
          `Some resources are remaining: ${remaining.join(', ')}`,
        )
      : verdict('NamespaceContentRemaining', false, 'ContentRemoved', 'All content successfully removed'),
    held.length > 0
      ? verdict(
          'NamespaceFinalizersRemaining',
          true,
          'SomeFinalizersRemain',
          `Some content in the namespace has finalizers remaining: ${held.join(', ')}`,
        )
      : verdict(
          'NamespaceFinalizersRemaining',
          false,
          'ContentHasNoFinalizers',
          'All content-preserving finalizers finished',
        ),
  ];
  let conditions = (namespace.status?.conditions ?? []) as Condition[];
  for (const condition of list) conditions = withCondition(conditions, condition as Condition, now);
  return conditions;
}

function verdict(type: string, holds: boolean, reason: string, message: string): Omit<Condition, 'lastTransitionTime'> {
  return { type, status: holds ? 'True' : 'False', reason, message };
}

/** Gives every namespace its ServiceAccount `default` and the ConfigMap with the cluster's CA. */
export function namespaceDefaultsController(caCertificate: string): ControllerDefinition<Namespace> {
  const inNamespace = (name: string) => (change: { key: string }) => {
    const [namespace = '', own] = change.key.split('/');
    return own === name ? [namespace] : [];
  };
  return {
    name: 'service-account-controller',
    kind: Namespace,
    wakes: [wakeBy(ServiceAccount, inNamespace('default')), wakeBy(ConfigMap, inNamespace(ROOT_CA))],
    reconcile(namespace, name, { cluster }) {
      if (namespace.metadata.deletionTimestamp) return;
      const account = {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'default', namespace: name },
      } as const;
      if (!cluster.get(ServiceAccount, keyOf(account))) cluster.create(ServiceAccount, account);
      const live = cluster.get(ConfigMap, `${name}/${ROOT_CA}`);
      if (live?.data?.['ca.crt'] === caCertificate) return;
      try {
        if (live) {
          cluster.update(ConfigMap, keyOf(live), (draft) => {
            draft.data = { 'ca.crt': caCertificate };
          });
        } else {
          const annotations = {
            'kubernetes.io/description':
              'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.',
          };
          cluster.create(ConfigMap, {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { name: ROOT_CA, namespace: name, annotations },
            data: { 'ca.crt': caCertificate },
          });
        }
      } catch (error) {
        if (!refusedWith(error, 403)) throw error;
      }
    },
  };
}
