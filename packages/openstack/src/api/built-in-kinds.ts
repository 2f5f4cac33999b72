import { defineKind } from '@openstack-operator/kube';

/** The kinds of Kubernetes, and of optional APIs, that compose states or refers to. */
export const builtInKinds = [
  defineKind('v1', 'ConfigMap', 'configmaps'),
  defineKind('v1', 'Namespace', 'namespaces', { namespaced: false }),
  defineKind('v1', 'Node', 'nodes', { namespaced: false }),
  defineKind('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims'),
  defineKind('v1', 'Pod', 'pods'),
  defineKind('v1', 'Secret', 'secrets'),
  defineKind('v1', 'Service', 'services'),
  defineKind('v1', 'ServiceAccount', 'serviceaccounts'),
  defineKind('apps/v1', 'ControllerRevision', 'controllerrevisions'),
  defineKind('apps/v1', 'DaemonSet', 'daemonsets'),
  defineKind('apps/v1', 'Deployment', 'deployments'),
  defineKind('apps/v1', 'ReplicaSet', 'replicasets'),
  defineKind('apps/v1', 'StatefulSet', 'statefulsets'),
  defineKind('batch/v1', 'CronJob', 'cronjobs'),
  defineKind('batch/v1', 'Job', 'jobs'),
  defineKind('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies'),
  defineKind('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets'),
  defineKind('rbac.authorization.k8s.io/v1', 'Role', 'roles'),
  defineKind('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings'),
  defineKind('storage.k8s.io/v1', 'StorageClass', 'storageclasses', { namespaced: false }),
  defineKind('gateway.networking.k8s.io/v1', 'Gateway', 'gateways'),
  defineKind('gateway.networking.k8s.io/v1', 'HTTPRoute', 'httproutes'),
] as const;
