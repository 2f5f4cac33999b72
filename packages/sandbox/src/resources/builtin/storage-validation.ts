import type { KubeObject } from '@openstack-operator/kube';
import { forbidden, invalid, notSupported, required } from '../field-error.ts';
import { deepEqual, isObject, type JsonObject, objectOf, textOf } from '../json.ts';
import { type LabelSelector, validateImmutable, validateLabelSelector } from '../metadata.ts';
import { isDnsSubdomain, isQualifiedName } from '../names.ts';
import { child, key } from '../path.ts';
import { compareQuantities, parseQuantity } from '../quantity.ts';
import type { FieldError } from '../resource-type.ts';
import { specOf, statusOf } from './cells.ts';

const modes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

function validateAccessModes(given: unknown, path: string): FieldError[] {
  const list = Array.isArray(given) ? given : [];
  if (list.length === 0) return [required(path, 'at least 1 access mode is required')];
  const errors: FieldError[] = list
    .filter((mode) => !modes.includes(mode))
    .map((mode) => notSupported(path, mode, modes));
  if (list.includes('ReadWriteOncePod') && list.some((mode) => mode !== 'ReadWriteOncePod' && modes.includes(mode))) {
    errors.push(forbidden(path, 'may not use ReadWriteOncePod with other access modes'));
  }
  return errors;
}

function validateSize(amount: unknown, path: string): FieldError[] {
  if (amount === undefined) return [required(path)];
  const { nanos } = parseQuantity(textOf(amount));
  if (nanos <= 0n) return [invalid(path, amount, 'must be greater than zero')];
  return nanos % 1_000_000_000n === 0n ? [] : [invalid(path, amount, 'must be an integer')];
}

function validateClass(name: unknown, path: string): FieldError[] {
  const text = textOf(name);
  return text === '' ? [] : isDnsSubdomain(text).map((message) => invalid(path, text, message));
}

function validateMode(mode: unknown, path: string): FieldError[] {
  const supported = ['Block', 'Filesystem'];
  return mode === undefined || supported.includes(textOf(mode)) ? [] : [notSupported(path, mode, supported)];
}

/** ValidatePersistentVolumeClaimSpec. */
export function validateClaimSpec(spec: JsonObject, path: string): FieldError[] {
  const errors = validateAccessModes(spec.accessModes, child(path, 'accessModes'));
  errors.push(...validateLabelSelector(spec.selector as LabelSelector | undefined, child(path, 'selector')));
  const { storage } = objectOf(objectOf(spec.resources).requests);
  errors.push(...validateSize(storage, key(child(path, 'resources'), 'storage')));
  errors.push(...validateClass(spec.storageClassName, child(path, 'storageClassName')));
  return [...errors, ...validateMode(spec.volumeMode, child(path, 'volumeMode'))];
}

/** ValidatePersistentVolumeClaim. */
export function validateClaim(claim: KubeObject): FieldError[] {
  return validateClaimSpec(specOf(claim), 'spec');
}

/** A claim stays as it is; once bound it may grow (whether its class allows that is for admission to say). */
export function validateClaimUpdate(claim: KubeObject, old: KubeObject): FieldError[] {
  const spec = specOf(claim);
  const before = specOf(old);
  const bound = statusOf(claim).phase === 'Bound';
  const compared: JsonObject = { ...spec };
  if (!before.volumeName) compared.volumeName = before.volumeName;
  if (bound) {
    const { resources } = compared;
    if (isObject(resources) && isObject(resources.requests)) {
      const { storage } = objectOf(objectOf(before.resources).requests);
      compared.resources = { ...resources, requests: { ...resources.requests, storage } };
    }
    compared.volumeAttributesClassName = before.volumeAttributesClassName;
  }
  if (before.storageClassName === undefined) compared.storageClassName = undefined;
  const errors: FieldError[] = [];
  if (!deepEqual(compared, before)) {
    const detail =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    errors.push(forbidden('spec', detail));
  }
  const size = textOf(objectOf(objectOf(spec.resources).requests).storage) || '0';
  const oldSize = textOf(objectOf(objectOf(before.resources).requests).storage) || '0';
  const capacity = textOf(objectOf(statusOf(old).capacity).storage) || '0';
  if (compareQuantities(size, oldSize) < 0 && compareQuantities(size, capacity) <= 0) {
    errors.push(forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity'));
  }
  return [...errors, ...validateImmutable(spec.volumeMode, before.volumeMode, 'volumeMode')];
}

/** Fields of a PersistentVolume's spec that say what it is, not where. */
const volumeFacts = new Set([
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
]);

function sourceOf(spec: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(spec).filter(([name]) => !volumeFacts.has(name)));
}

/** ValidatePersistentVolume. */
export function validateVolume(volume: KubeObject): FieldError[] {
  const spec = specOf(volume);
  const errors = validateAccessModes(spec.accessModes, 'spec.accessModes');
  const capacity = objectOf(spec.capacity);
  if (Object.keys(capacity).length === 0) errors.push(required('spec.capacity'));
  if (capacity.storage === undefined) errors.push(notSupported('spec.capacity', spec.capacity ?? null, ['storage']));
  else errors.push(...validateSize(capacity.storage, 'spec.capacity[storage]'));
  const policies = ['Delete', 'Recycle', 'Retain'];
  if (!policies.includes(textOf(spec.persistentVolumeReclaimPolicy))) {
    errors.push(notSupported('spec.persistentVolumeReclaimPolicy', spec.persistentVolumeReclaimPolicy, policies));
  }
  const [first, ...more] = Object.keys(sourceOf(spec));
  if (first === undefined) errors.push(required('spec', 'must specify a volume type'));
  for (const name of more) errors.push(forbidden(`spec.${name}`, 'may not specify more than 1 volume type'));
  if (first === 'local' && spec.nodeAffinity === undefined) {
    errors.push(required('spec.nodeAffinity', 'Local volume requires node affinity'));
  }
  errors.push(...validateClass(spec.storageClassName, 'spec.storageClassName'));
  return [...errors, ...validateMode(spec.volumeMode, 'spec.volumeMode')];
}

/** Where a volume is never changes. */
export function validateVolumeUpdate(volume: KubeObject, old: KubeObject): FieldError[] {
  const errors = validateImmutable(specOf(volume).volumeMode, specOf(old).volumeMode, 'volumeMode');
  if (deepEqual(sourceOf(specOf(volume)), sourceOf(specOf(old)))) return errors;
  return [
    forbidden('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation'),
    ...errors,
  ];
}

/** ValidateStorageClass. */
export function validateStorageClass(object: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const provisioner = textOf(object.provisioner);
  if (provisioner === '') errors.push(required('provisioner'));
  else {
    errors.push(
      ...isQualifiedName(provisioner.toLowerCase()).map((message) => invalid('provisioner', provisioner, message)),
    );
  }
  const policies = ['Delete', 'Retain'];
  if (!policies.includes(textOf(object.reclaimPolicy))) {
    errors.push(notSupported('reclaimPolicy', object.reclaimPolicy, policies));
  }
  const bindings = ['Immediate', 'WaitForFirstConsumer'];
  if (!bindings.includes(textOf(object.volumeBindingMode))) {
    errors.push(notSupported('volumeBindingMode', object.volumeBindingMode, bindings));
  }
  return errors;
}

/** What a class makes never changes. */
export function validateStorageClassUpdate(object: KubeObject, old: KubeObject): FieldError[] {
  return ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'].flatMap((field) =>
    validateImmutable(object[field], old[field], field),
  );
}
