import { PriorityClass } from '@openstack-operator/kube';
import type { Cluster } from './cluster.ts';
import { Namespace, Service, StorageClass } from './kinds.ts';

/** The StorageClass that claims get which name none. */
export const DEFAULT_STORAGE_CLASS = 'standard';

/** Creates what every cluster has from the beginning. */
export function bootstrap(cluster: Cluster): void {
  for (const name of ['default', 'kube-node-lease', 'kube-public', 'kube-system']) {
    if (cluster.get(Namespace, name)) continue;
    const labels = { 'kubernetes.io/metadata.name': name };
    cluster.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
  }
  for (const [name, value] of Object.entries({ 'system-cluster-critical': 2e9, 'system-node-critical': 2e9 + 1000 })) {
    cluster.create(PriorityClass, {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name },
      value,
      description:
        'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
    });
  }
  cluster.create(StorageClass, {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: {
      name: DEFAULT_STORAGE_CLASS,
      annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
    },
    provisioner: 'sandbox.local/disk',
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'WaitForFirstConsumer',
    allowVolumeExpansion: true,
  });
  cluster.create(Service, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: 'kubernetes',
      namespace: 'default',
      labels: { component: 'apiserver', provider: 'kubernetes' },
    },
    spec: {
      clusterIP: '10.96.0.1',
      ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6443 }],
    },
  });
  cluster.create(Service, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'kube-dns', namespace: 'kube-system', labels: { 'k8s-app': 'kube-dns' } },
    spec: {
      clusterIP: '10.96.0.10',
      ports: [
        { name: 'dns', port: 53, protocol: 'UDP', targetPort: 53 },
        { name: 'dns-tcp', port: 53, protocol: 'TCP', targetPort: 53 },
      ],
    },
  });
}
