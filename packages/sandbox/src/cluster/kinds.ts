import * as kube from '@openstack-operator/kube';

/**
 * The kinds that controllers and nodes work with: those of `kube`, whose spec is always there because the API server
 * demands it.
 */
type Specified<T extends { spec?: unknown }> = T & { spec: NonNullable<T['spec']> };

/** An object as it lies in the store. */
export type Stored<T extends kube.KubeObject = kube.KubeObject> = kube.StoredObject<T>;

function specified<T extends kube.KubeObject & { spec?: unknown }>(kind: kube.Kind<T>): kube.Kind<Specified<T>> {
  return kind as kube.Kind<Specified<T>>;
}

export type Pod = Specified<kube.Pod>;
export const Pod = specified(kube.Pod);
export type Node = Specified<kube.Node>;
export const Node = specified(kube.Node);
export type Service = Specified<kube.Service>;
export const Service = specified(kube.Service);
export type PersistentVolume = Specified<kube.PersistentVolume>;
export const PersistentVolume = specified(kube.PersistentVolume);
export type PersistentVolumeClaim = Specified<kube.PersistentVolumeClaim>;
export const PersistentVolumeClaim = specified(kube.PersistentVolumeClaim);
export type Deployment = Specified<kube.Deployment>;
export const Deployment = specified(kube.Deployment);
export type ReplicaSet = Specified<kube.ReplicaSet>;
export const ReplicaSet = specified(kube.ReplicaSet);
export type StatefulSet = Specified<kube.StatefulSet>;
export const StatefulSet = specified(kube.StatefulSet);
export type DaemonSet = Specified<kube.DaemonSet>;
export const DaemonSet = specified(kube.DaemonSet);
export type Job = Specified<kube.Job>;
export const Job = specified(kube.Job);
export type CronJob = Specified<kube.CronJob>;
export const CronJob = specified(kube.CronJob);
export type NetworkPolicy = Specified<kube.NetworkPolicy>;
export const NetworkPolicy = specified(kube.NetworkPolicy);
export type PodDisruptionBudget = Specified<kube.PodDisruptionBudget>;
export const PodDisruptionBudget = specified(kube.PodDisruptionBudget);
export type Lease = Specified<kube.Lease>;
export const Lease = specified(kube.Lease);
export {
  ConfigMap,
  ControllerRevision,
  EndpointSlice,
  Endpoints,
  Event,
  Namespace,
  Secret,
  ServiceAccount,
  StorageClass,
} from '@openstack-operator/kube';
