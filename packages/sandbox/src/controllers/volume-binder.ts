import { keyOf } from '@openstack-operator/kube';
import { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass, type Stored } from '../cluster/kinds.ts';
import type { Storage } from '../cluster/storage.ts';
import { deepEqual } from '../resources/json.ts';
import { selectorMatches } from '../resources/metadata.ts';
import { quantityNumber } from '../resources/quantity.ts';
import { type ControllerContext, type ControllerDefinition, wakeBy } from './controller.ts';

export const CLAIM_PROTECTION = 'kubernetes.io/pvc-protection';
export const VOLUME_PROTECTION = 'kubernetes.io/pv-protection';
const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
const PROVISIONER = 'volume.kubernetes.io/storage-provisioner';
const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed';
const BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller';
const NO_PROVISIONER = 'kubernetes.io/no-provisioner';

/** Binds claims to volumes, makes and enlarges volumes for classes that have a provisioner. */
export function claimController(): ControllerDefinition<PersistentVolumeClaim> {
  return {
    name: 'persistentvolume-controller',
    kind: PersistentVolumeClaim,
    wakes: [
      wakeBy(PersistentVolume, ({ object, old }, cluster) => {
        const claim = (object ?? old)?.spec.claimRef;
        // A volume that is free may be what any claim waits for.
        return claim ? [`${claim.namespace}/${claim.name}`] : cluster.list(PersistentVolumeClaim).map(keyOf);
      }),
      wakeBy(StorageClass, (_, cluster) => cluster.list(PersistentVolumeClaim).map(keyOf)),
      wakeBy(Pod, ({ object, old }) => claimsOf(object ?? old)),
    ],
    reconcile(claim, key, context) {
      if (claim.metadata.deletionTimestamp) return release(claim, key, context);
      if (!claim.spec.volumeName) bindOrProvision(claim, key, context);
      else settle(claim, key, context);
    },
  };
}

function claimsOf(pod: Stored<Pod> | undefined): string[] {
  return (pod?.spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
    persistentVolumeClaim ? [`${pod?.metadata.namespace}/${persistentVolumeClaim.claimName}`] : [],
  );
}

/** A claim stays as long as a pod that is on a node and has not ended uses it (pvc_protection_controller.go). */
function release(claim: Stored<PersistentVolumeClaim>, key: string, { cluster }: ControllerContext): void {
  const used = cluster
    .list(Pod, claim.metadata.namespace ?? '')
    .filter(({ spec, status }) => spec.nodeName && status?.phase !== 'Succeeded' && status?.phase !== 'Failed')
    .some((pod) => claimsOf(pod).includes(key));
  if (used || !claim.metadata.finalizers?.includes(CLAIM_PROTECTION)) return;
  cluster.update(PersistentVolumeClaim, key, ({ metadata }) => {
    metadata.finalizers = (metadata.finalizers ?? []).filter((name) => name !== CLAIM_PROTECTION);
  });
}

function bindOrProvision(claim: Stored<PersistentVolumeClaim>, key: string, context: ControllerContext): void {
  const { cluster, recorder } = context;
  const found = cluster
    .list(PersistentVolume)
    .filter((volume) => fits(volume, claim))
    .sort(bySize)[0];
  if (found) return bind(claim, key, found, context);
  const className = claim.spec.storageClassName ?? '';
  if (className === '') {
    const message = 'no persistent volumes available for this claim and no storage class is set';
    return recorder.record(claim, 'FailedBinding', message);
  }
  const storageClass = cluster.get(StorageClass, className);
  if (!storageClass) {
    const message = `storageclass.storage.k8s.io "${className}" not found`;
    return recorder.record(claim, 'ProvisioningFailed', message, { type: 'Warning' });
  }
  const waits =
    storageClass.volumeBindingMode === 'WaitForFirstConsumer' && !claim.metadata.annotations?.[SELECTED_NODE];
  if (waits) {
    return recorder.record(claim, 'WaitForFirstConsumer', 'waiting for first consumer to be created before binding');
  }
  if (storageClass.provisioner === NO_PROVISIONER) return;
  const name = `pvc-${claim.metadata.uid}`;
  const volume =
    cluster.get(PersistentVolume, name) ?? cluster.create(PersistentVolume, provisioned(name, claim, storageClass));
  cluster.updateStatus(PersistentVolume, name, { phase: 'Bound', lastPhaseTransitionTime: cluster.now() });
  recorder.record(claim, 'ProvisioningSucceeded', `Successfully provisioned volume ${name}`);
  bind(claim, key, volume, context, storageClass.provisioner);
}

function provisioned(
  name: string,
  claim: Stored<PersistentVolumeClaim>,
  storageClass: Stored<StorageClass>,
): PersistentVolume {
  const { accessModes, resources, volumeMode } = claim.spec;
  // What external-provisioner reads of a class (docs.csi: csi.storage.k8s.io/fstype).
  const fsType = storageClass.parameters?.['csi.storage.k8s.io/fstype'];
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': storageClass.provisioner } },
    spec: {
      accessModes: [...(accessModes ?? [])],
      capacity: { storage: resources?.requests?.['storage'] ?? '1Gi' },
      claimRef: referenceTo(claim),
      csi: { driver: storageClass.provisioner, volumeHandle: name, ...(fsType && { fsType }) },
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      storageClassName: storageClass.metadata.name,
      volumeMode: volumeMode ?? 'Filesystem',
    },
  };
}

function referenceTo({ metadata }: Stored<PersistentVolumeClaim>) {
  const { name, namespace = '', uid, resourceVersion } = metadata;
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid, resourceVersion };
}

function fits({ spec, status, metadata }: Stored<PersistentVolume>, claim: Stored<PersistentVolumeClaim>): boolean {
  const reserved = spec.claimRef;
  if (metadata.deletionTimestamp || status?.phase === 'Released') return false;
  if (reserved && (reserved.namespace !== claim.metadata.namespace || reserved.name !== claim.metadata.name))
    return false;
  if (reserved?.uid && reserved.uid !== claim.metadata.uid) return false;
  const wanted = claim.spec;
  return (
    (spec.storageClassName ?? '') === (wanted.storageClassName ?? '') &&
    (wanted.accessModes ?? []).every((mode) => spec.accessModes?.includes(mode)) &&
    (spec.volumeMode ?? 'Filesystem') === (wanted.volumeMode ?? 'Filesystem') &&
    quantityNumber(spec.capacity?.['storage']) >= quantityNumber(wanted.resources?.requests?.['storage'] ?? 0) &&
    (!wanted.selector || selectorMatches(wanted.selector, metadata.labels ?? {}))
  );
}

function bySize(a: Stored<PersistentVolume>, b: Stored<PersistentVolume>): number {
  return quantityNumber(a.spec.capacity?.['storage']) - quantityNumber(b.spec.capacity?.['storage']);
}

function bind(
  claim: Stored<PersistentVolumeClaim>,
  key: string,
  volume: Stored<PersistentVolume>,
  { cluster }: ControllerContext,
  provisioner?: string,
): void {
  const { name } = volume.metadata;
  if (volume.spec.claimRef?.uid !== claim.metadata.uid) {
    cluster.update(PersistentVolume, name, (draft) => {
      draft.spec.claimRef = referenceTo(claim);
      draft.metadata.annotations = { ...draft.metadata.annotations, [BOUND_BY_CONTROLLER]: 'yes' };
    });
    cluster.updateStatus(PersistentVolume, name, { phase: 'Bound', lastPhaseTransitionTime: cluster.now() });
  }
  cluster.update(PersistentVolumeClaim, key, (draft) => {
    draft.spec.volumeName = name;
    draft.metadata.annotations = {
      ...draft.metadata.annotations,
      [BIND_COMPLETED]: 'yes',
      [BOUND_BY_CONTROLLER]: 'yes',
      ...(provisioner && {
        [PROVISIONER]: provisioner,
        [`volume.beta.kubernetes.io/storage-provisioner`]: provisioner,
      }),
    };
  });
}

/** A claim that names its volume: bound, lost, or larger than it was. */
function settle(claim: Stored<PersistentVolumeClaim>, key: string, context: ControllerContext): void {
  const { cluster, recorder } = context;
  const volumeName = claim.spec.volumeName ?? '';
  const volume = cluster.get(PersistentVolume, volumeName);
  const report = (status: PersistentVolumeClaim['status']) => {
    if (!deepEqual(status, claim.status)) cluster.updateStatus(PersistentVolumeClaim, key, status);
  };
  if (!volume) {
    if (claim.status?.phase !== 'Bound') return;
    recorder.record(claim, 'ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!', {
      type: 'Warning',
    });
    return report({ ...claim.status, phase: 'Lost' });
  }
  const holder = volume.spec.claimRef;
  if (holder?.uid && holder.uid !== claim.metadata.uid) return report({ phase: 'Pending' });
  if (!holder?.uid) bind(claim, key, volume, context);
  const asked = claim.spec.resources?.requests?.['storage'];
  const size = volume.spec.capacity?.['storage'];
  const grows = quantityNumber(asked) > quantityNumber(size) && volume.spec.csi !== undefined;
  if (grows && asked !== undefined) {
    cluster.update(PersistentVolume, volumeName, ({ spec }) => {
      spec.capacity = { ...spec.capacity, storage: asked };
    });
    recorder.record(claim, 'FileSystemResizeSuccessful', 'MountVolume.NodeExpandVolume succeeded for volume');
  }
  report({
    ...claim.status,
    phase: 'Bound',
    accessModes: [...(volume.spec.accessModes ?? [])] as NonNullable<
      NonNullable<PersistentVolumeClaim['status']>['accessModes']
    >,
    capacity: { storage: (grows ? asked : size) ?? '0' },
  });
}

/** Releases volumes whose claim has gone, and removes those of classes that delete. */
export function volumeController(storage: Storage): ControllerDefinition<PersistentVolume> {
  return {
    name: 'persistentvolume-controller',
    kind: PersistentVolume,
    wakes: [
      wakeBy(PersistentVolumeClaim, ({ object, old }) => {
        const name = (object ?? old)?.spec.volumeName;
        return name ? [name] : [];
      }),
    ],
    reconcile(volume, name, { cluster }) {
      storage.resize(volume);
      const reference = volume.spec.claimRef;
      const claim = reference && cluster.get(PersistentVolumeClaim, `${reference.namespace}/${reference.name}`);
      const bound = claim !== undefined && (!reference?.uid || claim.metadata.uid === reference.uid);
      if (volume.metadata.deletionTimestamp) {
        if (bound && claim.spec.volumeName === name) return;
        cluster.update(PersistentVolume, name, ({ metadata }) => {
          metadata.finalizers = (metadata.finalizers ?? []).filter((finalizer) => finalizer !== VOLUME_PROTECTION);
        });
        return;
      }
      const phase = !reference?.uid ? 'Available' : bound ? 'Bound' : 'Released';
      if (volume.status?.phase !== phase) {
        cluster.updateStatus(PersistentVolume, name, { phase, lastPhaseTransitionTime: cluster.now() });
      }
      if (phase === 'Released' && volume.spec.persistentVolumeReclaimPolicy === 'Delete')
        cluster.delete(PersistentVolume, volume);
    },
    forget: (name) => storage.remove(name),
  };
}
