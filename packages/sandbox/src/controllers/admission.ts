import { type KubeObject, PriorityClass } from '@openstack-operator/kube';
import type { AdmissionPlugin, AdmissionRequest } from '../api/core.ts';
import { forbidden } from '../api/status.ts';
import { type PersistentVolumeClaim, type Pod, ServiceAccount, StorageClass } from '../kinds.ts';
import type { Cluster } from './cluster.ts';
import { CLAIM_PROTECTION, VOLUME_PROTECTION } from './volume-binder.ts';

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

/** What the compiled-in plugins of kube-apiserver add to pods, claims and volumes. */
export function workloadAdmission(cluster: Cluster): AdmissionPlugin {
  const onCreate: Readonly<Record<string, (request: AdmissionRequest, object: KubeObject) => void>> = {
    pods: (request, object) => {
      const pod = object as Pod;
      demandServiceAccount(cluster, request, pod);
      setPriority(cluster, request, pod);
    },
    persistentvolumeclaims: (_, object) => {
      addFinalizer(object, CLAIM_PROTECTION);
      setStorageClass(cluster, object as PersistentVolumeClaim);
    },
    persistentvolumes: (_, object) => addFinalizer(object, VOLUME_PROTECTION),
  };
  return {
    name: 'Workloads',
    mutate(request) {
      if (request.operation !== 'CREATE' || request.subresource !== '' || !request.object) return;
      onCreate[request.served.id]?.(request, request.object);
    },
  };
}

/** plugin/pkg/admission/serviceaccount */
function demandServiceAccount(cluster: Cluster, { served, name, namespace }: AdmissionRequest, pod: Pod): void {
  const account = pod.spec.serviceAccountName || 'default';
  pod.spec.serviceAccountName = account;
  pod.spec.serviceAccount = account;
  if (cluster.get(ServiceAccount, `${namespace}/${account}`)) return;
  const because = `error looking up service account ${namespace}/${account}: serviceaccount "${account}" not found`;
  throw forbidden(served.groupResource, name, because);
}

/** plugin/pkg/admission/priority; a pod without class gets its priority with its other defaults. */
function setPriority(cluster: Cluster, { served, name }: AdmissionRequest, pod: Pod): void {
  const { priorityClassName } = pod.spec;
  const classes = cluster.list(PriorityClass);
  const found = classes.find(({ metadata, globalDefault }) =>
    priorityClassName ? metadata.name === priorityClassName : globalDefault,
  );
  if (!found) {
    if (!priorityClassName) return;
    throw forbidden(served.groupResource, name, `no PriorityClass with name ${priorityClassName} was found`);
  }
  pod.spec.priorityClassName = found.metadata.name;
  pod.spec.priority = found.value ?? 0;
  pod.spec.preemptionPolicy ??= found.preemptionPolicy ?? 'PreemptLowerPriority';
}

/** plugin/pkg/admission/storage/storageclass/setdefault: of several default classes the newest. */
function setStorageClass(cluster: Cluster, claim: PersistentVolumeClaim): void {
  if (claim.spec.storageClassName !== undefined) return;
  const [newest] = cluster
    .list(StorageClass)
    .filter(({ metadata }) => metadata.annotations?.[DEFAULT_CLASS] === 'true')
    .sort((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1));
  if (newest) claim.spec.storageClassName = newest.metadata.name;
}

function addFinalizer({ metadata }: KubeObject, finalizer: string): void {
  if (!metadata.finalizers?.includes(finalizer)) metadata.finalizers = [...(metadata.finalizers ?? []), finalizer];
}
