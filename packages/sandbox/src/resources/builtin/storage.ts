import type { KubeObject } from '@openstack-operator/kube';
import { objectOf, textOf } from '../json.ts';
import { builtinType } from './builtin-type.ts';
import { ageOf, nameOf, specOf, statusOf } from './cells.ts';
import {
  validateClaim,
  validateClaimUpdate,
  validateStorageClass,
  validateStorageClassUpdate,
  validateVolume,
  validateVolumeUpdate,
} from './storage-validation.ts';

const modeNames: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

function accessModes(modes: unknown): string {
  const given = Array.isArray(modes) ? modes : [];
  return Object.entries(modeNames)
    .filter(([mode]) => given.includes(mode))
    .map(([, name]) => name)
    .join(',');
}

function phaseOf(object: KubeObject): string {
  return object.metadata.deletionTimestamp === undefined ? textOf(statusOf(object).phase) : 'Terminating';
}

/** `v1/PersistentVolumeClaim`. */
export const persistentVolumeClaim = builtinType('v1/PersistentVolumeClaim', {
  prepareForCreate(object) {
    object.status = { phase: 'Pending' };
  },
  validate: validateClaim,
  validateUpdate: validateClaimUpdate,
  row(object, now) {
    const spec = specOf(object);
    const status = statusOf(object);
    const bound = textOf(spec.volumeName) !== '';
    return [
      nameOf(object),
      phaseOf(object),
      textOf(spec.volumeName),
      bound ? textOf(objectOf(status.capacity).storage) || '0' : '',
      bound ? accessModes(status.accessModes) : '',
      textOf(object.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? spec.storageClassName),
      textOf(spec.volumeAttributesClassName) || '<unset>',
      ageOf(object, now),
      textOf(spec.volumeMode) || '<unset>',
    ];
  },
});

/** `v1/PersistentVolume`. */
export const persistentVolume = builtinType('v1/PersistentVolume', {
  prepareForCreate(object) {
    object.status = { phase: 'Pending' };
  },
  validate: validateVolume,
  validateUpdate: validateVolumeUpdate,
  row(object, now) {
    const spec = specOf(object);
    const claim = spec.claimRef === undefined ? undefined : objectOf(spec.claimRef);
    return [
      nameOf(object),
      textOf(objectOf(spec.capacity).storage) || '0',
      accessModes(spec.accessModes),
      textOf(spec.persistentVolumeReclaimPolicy),
      phaseOf(object),
      claim ? `${textOf(claim.namespace)}/${textOf(claim.name)}` : '',
      textOf(object.metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] ?? spec.storageClassName),
      textOf(spec.volumeAttributesClassName) || '<unset>',
      textOf(statusOf(object).reason),
      ageOf(object, now),
      textOf(spec.volumeMode) || '<unset>',
    ];
  },
});

/** `storage.k8s.io/v1/StorageClass`. */
export const storageClass = builtinType('storage.k8s.io/v1/StorageClass', {
  validate: validateStorageClass,
  validateUpdate: validateStorageClassUpdate,
  row(object, now) {
    const annotations = object.metadata.annotations ?? {};
    const isDefault = [
      'storageclass.kubernetes.io/is-default-class',
      'storageclass.beta.kubernetes.io/is-default-class',
    ].some((name) => annotations[name] === 'true');
    return [
      isDefault ? `${nameOf(object)} (default)` : nameOf(object),
      textOf(object.provisioner),
      textOf(object.reclaimPolicy) || 'Delete',
      textOf(object.volumeBindingMode) || 'Immediate',
      object.allowVolumeExpansion === true,
      ageOf(object, now),
    ];
  },
});
