import { type KubeObject, PriorityClass } from '@openstack-operator/kube';
import { type AdmissionPlugin, type AdmissionRequest, refusalOf } from '../api/core.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { type PersistentVolumeClaim, type Pod, ServiceAccount, StorageClass } from '../cluster/kinds.ts';
import { compareQuantities } from '../resources/quantity.ts';
import { CLAIM_PROTECTION, VOLUME_PROTECTION } from './volume-binder.ts';

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

/** What the compiled-in plugins of kube-apiserver add to pods, claims and volumes, and what they refuse. */
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
    validate(request) {
      const { operation, served, subresource } = request;
      if (operation === 'UPDATE' && served.id === 'persistentvolumeclaims' && subresource === '')
        demandExpansion(cluster, request);
    },
  };
}

/** plugin/pkg/admission/serviceaccount */
function demandServiceAccount(cluster: Cluster, request: AdmissionRequest, pod: Pod): void {
  const { namespace } = request;
  const account = pod.spec.serviceAccountName || 'default';
  pod.spec.serviceAccountName = account;
  pod.spec.serviceAccount = account;
  if (cluster.get(ServiceAccount, `${namespace}/${account}`)) return;
  const because = `error looking up service account ${namespace}/${account}: serviceaccount "${account}" not found`;
  throw refusalOf(request, because);
}

/** plugin/pkg/admission/priority: what a pod says of its priority itself has to be what its class says. */
function setPriority(cluster: Cluster, request: AdmissionRequest, pod: Pod): void {
  const { spec } = pod;
  const classes = cluster.list(PriorityClass);
  const found = classes.find(({ metadata, globalDefault }) =>
    spec.priorityClassName ? metadata.name === spec.priorityClassName : globalDefault,
  );
  if (spec.priorityClassName && !found) {
    throw refusalOf(request, `no PriorityClass with name ${spec.priorityClassName} was found`);
  }
  const { value: priority = 0, preemptionPolicy = 'PreemptLowerPriority' } = found ?? {};
  const refuse = (what: string, said: string | number | undefined, computed: string | number) => {
    const because = `the ${what} (${said}) must not be provided in pod spec; priority admission controller computed ${computed} from the given PriorityClass name`;
    return refusalOf(request, because);
  };
  if ((spec.priority ?? priority) !== priority) throw refuse('integer value of priority', spec.priority, priority);
  if ((spec.preemptionPolicy ?? preemptionPolicy) !== preemptionPolicy) {
    throw refuse('string value of PreemptionPolicy', spec.preemptionPolicy, preemptionPolicy);
  }
  if (found) spec.priorityClassName = found.metadata.name;
  Object.assign(spec, { priority, preemptionPolicy });
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

/** plugin/pkg/admission/storage/persistentvolume/resize: a claim grows where its class says that volumes do. */
function demandExpansion(cluster: Cluster, request: AdmissionRequest): void {
  const claim = request.object as PersistentVolumeClaim;
  const old = request.old as PersistentVolumeClaim;
  const sizeOf = ({ spec }: PersistentVolumeClaim) => String(spec.resources?.requests?.['storage'] ?? 0);
  if (compareQuantities(sizeOf(claim), sizeOf(old)) <= 0) return;
  if (old.status?.phase !== 'Bound') throw refusalOf(request, 'Only bound persistent volume claims can be expanded');
  const [name, before] = [classOf(claim), classOf(old)];
  if (name === before && cluster.get(StorageClass, name)?.allowVolumeExpansion === true) return;
  const because =
    'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';
  throw refusalOf(request, because);
}

/** GetPersistentVolumeClaimClass of pkg/apis/core/v1/helper: the annotation of earlier days comes first. */
function classOf({ metadata, spec }: PersistentVolumeClaim): string {
  return metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? spec.storageClassName ?? '';
}

function addFinalizer({ metadata }: KubeObject, finalizer: string): void {
  if (!metadata.finalizers?.includes(finalizer)) metadata.finalizers = [...(metadata.finalizers ?? []), finalizer];
}
