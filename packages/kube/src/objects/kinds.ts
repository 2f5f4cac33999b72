import type { IGateway, IHTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1';
import type {
  IValidatingAdmissionPolicy,
  IValidatingAdmissionPolicyBinding,
} from 'kubernetes-models/admissionregistration.k8s.io/v1';
import type { ICustomResourceDefinition } from 'kubernetes-models/apiextensions.k8s.io/v1';
import type {
  IControllerRevision,
  IDaemonSet,
  IDeployment,
  IReplicaSet,
  IStatefulSet,
} from 'kubernetes-models/apps/v1';
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import type { ICronJob, IJob } from 'kubernetes-models/batch/v1';
import type { ILease } from 'kubernetes-models/coordination.k8s.io/v1';
import type { IEndpointSlice } from 'kubernetes-models/discovery.k8s.io/v1';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1';
import type {
  IClusterRole,
  IClusterRoleBinding,
  IRole,
  IRoleBinding,
} from 'kubernetes-models/rbac.authorization.k8s.io/v1';
import type { IPriorityClass } from 'kubernetes-models/scheduling.k8s.io/v1';
import type { IStorageClass } from 'kubernetes-models/storage.k8s.io/v1';
import type {
  IConfigMap,
  IEndpoints,
  IEvent,
  INamespace,
  INode,
  IPersistentVolume,
  IPersistentVolumeClaim,
  IPod,
  ISecret,
  IService,
  IServiceAccount,
} from 'kubernetes-models/v1';
import { defineKind, type KubeObject, type ObjectMeta } from './objects.ts';

/**
 * The kinds of Kubernetes itself (and of Gateway API) that the operator uses: each name is the `Kind` value and the type
 * of its objects. The fields' types are those of kubernetes-models, which is needed to compile only.
 */

/** An object's type from its model: our own metadata, unknown fields allowed. */
type ObjectOf<Model extends { apiVersion: string; kind: string }> = KubeObject & {
  [Field in keyof Model as Field extends 'metadata' ? never : Field]: Model[Field];
} & { metadata: ObjectMeta };

export type Namespace = ObjectOf<INamespace>;
export const Namespace = defineKind<Namespace>('v1', 'Namespace', 'namespaces', { namespaced: false });

export type Node = ObjectOf<INode>;
export const Node = defineKind<Node>('v1', 'Node', 'nodes', { namespaced: false });

export type Pod = ObjectOf<IPod>;
export const Pod = defineKind<Pod>('v1', 'Pod', 'pods');

export type Service = ObjectOf<IService>;
export const Service = defineKind<Service>('v1', 'Service', 'services');

export type Secret = ObjectOf<ISecret>;
export const Secret = defineKind<Secret>('v1', 'Secret', 'secrets');

export type ConfigMap = ObjectOf<IConfigMap>;
export const ConfigMap = defineKind<ConfigMap>('v1', 'ConfigMap', 'configmaps');

export type PersistentVolumeClaim = ObjectOf<IPersistentVolumeClaim>;
export const PersistentVolumeClaim = defineKind<PersistentVolumeClaim>(
  'v1',
  'PersistentVolumeClaim',
  'persistentvolumeclaims',
);

export type PersistentVolume = ObjectOf<IPersistentVolume>;
export const PersistentVolume = defineKind<PersistentVolume>('v1', 'PersistentVolume', 'persistentvolumes', {
  namespaced: false,
});

export type ServiceAccount = ObjectOf<IServiceAccount>;
export const ServiceAccount = defineKind<ServiceAccount>('v1', 'ServiceAccount', 'serviceaccounts');

export type Event = ObjectOf<IEvent>;
export const Event = defineKind<Event>('v1', 'Event', 'events');

export type Endpoints = ObjectOf<IEndpoints>;
export const Endpoints = defineKind<Endpoints>('v1', 'Endpoints', 'endpoints');

export type EndpointSlice = ObjectOf<IEndpointSlice>;
export const EndpointSlice = defineKind<EndpointSlice>('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices');

export type Deployment = ObjectOf<IDeployment>;
export const Deployment = defineKind<Deployment>('apps/v1', 'Deployment', 'deployments');

export type StatefulSet = ObjectOf<IStatefulSet>;
export const StatefulSet = defineKind<StatefulSet>('apps/v1', 'StatefulSet', 'statefulsets');

export type DaemonSet = ObjectOf<IDaemonSet>;
export const DaemonSet = defineKind<DaemonSet>('apps/v1', 'DaemonSet', 'daemonsets');

export type ReplicaSet = ObjectOf<IReplicaSet>;
export const ReplicaSet = defineKind<ReplicaSet>('apps/v1', 'ReplicaSet', 'replicasets');

export type ControllerRevision = ObjectOf<IControllerRevision>;
export const ControllerRevision = defineKind<ControllerRevision>(
  'apps/v1',
  'ControllerRevision',
  'controllerrevisions',
);

export type Job = ObjectOf<IJob>;
export const Job = defineKind<Job>('batch/v1', 'Job', 'jobs');

export type CronJob = ObjectOf<ICronJob>;
export const CronJob = defineKind<CronJob>('batch/v1', 'CronJob', 'cronjobs');

export type HorizontalPodAutoscaler = ObjectOf<IHorizontalPodAutoscaler>;
export const HorizontalPodAutoscaler = defineKind<HorizontalPodAutoscaler>(
  'autoscaling/v2',
  'HorizontalPodAutoscaler',
  'horizontalpodautoscalers',
);

export type PodDisruptionBudget = ObjectOf<IPodDisruptionBudget>;
export const PodDisruptionBudget = defineKind<PodDisruptionBudget>(
  'policy/v1',
  'PodDisruptionBudget',
  'poddisruptionbudgets',
);

export type NetworkPolicy = ObjectOf<INetworkPolicy>;
export const NetworkPolicy = defineKind<NetworkPolicy>('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies');

export type Role = ObjectOf<IRole>;
export const Role = defineKind<Role>('rbac.authorization.k8s.io/v1', 'Role', 'roles');

export type RoleBinding = ObjectOf<IRoleBinding>;
export const RoleBinding = defineKind<RoleBinding>('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings');

export type ClusterRole = ObjectOf<IClusterRole>;
export const ClusterRole = defineKind<ClusterRole>('rbac.authorization.k8s.io/v1', 'ClusterRole', 'clusterroles', {
  namespaced: false,
});

export type ClusterRoleBinding = ObjectOf<IClusterRoleBinding>;
export const ClusterRoleBinding = defineKind<ClusterRoleBinding>(
  'rbac.authorization.k8s.io/v1',
  'ClusterRoleBinding',
  'clusterrolebindings',
  { namespaced: false },
);

export type Lease = ObjectOf<ILease>;
export const Lease = defineKind<Lease>('coordination.k8s.io/v1', 'Lease', 'leases');

export type StorageClass = ObjectOf<IStorageClass>;
export const StorageClass = defineKind<StorageClass>('storage.k8s.io/v1', 'StorageClass', 'storageclasses', {
  namespaced: false,
});

export type PriorityClass = ObjectOf<IPriorityClass>;
export const PriorityClass = defineKind<PriorityClass>('scheduling.k8s.io/v1', 'PriorityClass', 'priorityclasses', {
  namespaced: false,
});

export type CustomResourceDefinition = ObjectOf<ICustomResourceDefinition>;
export const CustomResourceDefinition = defineKind<CustomResourceDefinition>(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
  { namespaced: false },
);

export type ValidatingAdmissionPolicy = ObjectOf<IValidatingAdmissionPolicy>;
export const ValidatingAdmissionPolicy = defineKind<ValidatingAdmissionPolicy>(
  'admissionregistration.k8s.io/v1',
  'ValidatingAdmissionPolicy',
  'validatingadmissionpolicies',
  { namespaced: false },
);

export type ValidatingAdmissionPolicyBinding = ObjectOf<IValidatingAdmissionPolicyBinding>;
export const ValidatingAdmissionPolicyBinding = defineKind<ValidatingAdmissionPolicyBinding>(
  'admissionregistration.k8s.io/v1',
  'ValidatingAdmissionPolicyBinding',
  'validatingadmissionpolicybindings',
  { namespaced: false },
);

export type Gateway = ObjectOf<IGateway>;
export const Gateway = defineKind<Gateway>('gateway.networking.k8s.io/v1', 'Gateway', 'gateways');

export type HTTPRoute = ObjectOf<IHTTPRoute>;
export const HTTPRoute = defineKind<HTTPRoute>('gateway.networking.k8s.io/v1', 'HTTPRoute', 'httproutes');

export const TCPRoute = defineKind('gateway.networking.k8s.io/v1alpha2', 'TCPRoute', 'tcproutes');

export const UDPRoute = defineKind('gateway.networking.k8s.io/v1alpha2', 'UDPRoute', 'udproutes');
