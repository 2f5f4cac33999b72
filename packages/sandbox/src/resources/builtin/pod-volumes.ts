import { duplicate, forbidden, invalid, notFound, notSupported, required } from '../field-error.ts';
import { isObject, type JsonObject, numberOf, objectOf, objectsOf, textOf } from '../json.ts';
import { isDnsLabel } from '../names.ts';
import { child, index } from '../path.ts';
import { parseQuantity } from '../quantity.ts';
import type { FieldError } from '../resource-type.ts';
import { validateClaimSpec } from './storage-validation.ts';

/** Sources in the order in which the API server looks at them: the first one counts, others are refused. */
const sources = [
  'emptyDir',
  'hostPath',
  'gitRepo',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'secret',
  'nfs',
  'iscsi',
  'glusterfs',
  'flocker',
  'persistentVolumeClaim',
  'rbd',
  'cinder',
  'cephfs',
  'quobyte',
  'downwardAPI',
  'fc',
  'flexVolume',
  'configMap',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'storageos',
  'projected',
  'scaleIO',
  'csi',
  'ephemeral',
  'image',
] as const;

const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

/** Checks `spec.volumes`; gives the valid ones by name, which mounts may refer to. */
export function validateVolumes(volumes: unknown, path: string): { names: ReadonlySet<string>; errors: FieldError[] } {
  const names = new Set<string>();
  const errors: FieldError[] = [];
  for (const [position, volume] of objectsOf(volumes).entries()) {
    const at = index(path, position);
    const name = textOf(volume.name);
    const own = validateSource(volume, at);
    if (name === '') own.push(required(child(at, 'name')));
    else own.push(...isDnsLabel(name).map((message) => invalid(child(at, 'name'), name, message)));
    if (names.has(name)) own.push(duplicate(child(at, 'name'), name));
    if (own.length === 0) names.add(name);
    errors.push(...own);
  }
  return { names, errors };
}

function validateSource(volume: JsonObject, path: string): FieldError[] {
  const given = sources.filter((name) => isObject(volume[name]));
  const [first, ...more] = given;
  if (first === undefined) return [required(path, 'must specify a volume type')];
  const source = objectOf(volume[first]);
  return [
    ...(checks[first]?.(source, child(path, first)) ?? []),
    ...more.map((name) => forbidden(child(path, name), 'may not specify more than 1 volume type')),
  ];
}

const checks: Readonly<Record<string, (source: JsonObject, path: string) => FieldError[]>> = {
  emptyDir: ({ sizeLimit }, path) =>
    typeof sizeLimit === 'string' && parseQuantity(sizeLimit).nanos < 0n
      ? [forbidden(child(path, 'sizeLimit'), 'SizeLimit field must be a valid resource quantity')]
      : [],
  hostPath(source, path) {
    const text = textOf(source.path);
    const errors = text === '' ? [required(child(path, 'path'))] : noBacksteps(text, child(path, 'path'));
    if (!hostPathTypes.includes(textOf(source.type))) {
      errors.push(notSupported(child(path, 'type'), source.type, hostPathTypes));
    }
    return errors;
  },
  secret: (source, path) => keyedSource(source, path, 'secretName'),
  configMap: (source, path) => keyedSource(source, path, 'name'),
  nfs(source, path) {
    const errors: FieldError[] = [];
    if (!source.server) errors.push(required(child(path, 'server')));
    if (!source.path) errors.push(required(child(path, 'path')));
    else if (!textOf(source.path).startsWith('/')) {
      errors.push(invalid(child(path, 'path'), source.path, 'must be an absolute path'));
    }
    return errors;
  },
  persistentVolumeClaim: (source, path) => (source.claimName ? [] : [required(child(path, 'claimName'))]),
  downwardAPI: (source, path) => validateMode(source.defaultMode, child(path, 'defaultMode')),
  csi: (source, path) => (source.driver ? [] : [required(child(path, 'driver'))]),
  projected(source, path) {
    const errors = validateMode(source.defaultMode, child(path, 'defaultMode'));
    for (const [position, projection] of objectsOf(source.sources).entries()) {
      const at = index(child(path, 'sources'), position);
      for (const kind of ['secret', 'configMap'] as const) {
        const part = projection[kind];
        if (isObject(part)) errors.push(...keyedSource(part, child(at, kind), 'name'));
      }
    }
    return errors;
  },
  ephemeral: ({ volumeClaimTemplate }, path) =>
    isObject(volumeClaimTemplate)
      ? validateClaimSpec(objectOf(volumeClaimTemplate.spec), child(child(path, 'volumeClaimTemplate'), 'spec'))
      : [required(child(path, 'volumeClaimTemplate'))],
};

/** Secrets and ConfigMaps as volumes: which object, which of its keys, under which paths. */
function keyedSource(source: JsonObject, path: string, nameField: string): FieldError[] {
  const errors = source[nameField] ? [] : [required(child(path, nameField))];
  errors.push(...validateMode(source.defaultMode, child(path, 'defaultMode')));
  for (const [position, item] of objectsOf(source.items).entries()) {
    const at = child(path, `items[${position}]`);
    if (!item.key) errors.push(required(child(at, 'key')));
    if (!item.path) errors.push(required(child(at, 'path')));
    else errors.push(...localPath(textOf(item.path), child(at, 'path')));
    if (item.mode !== undefined) errors.push(...validateMode(item.mode, child(at, 'mode')));
  }
  return errors;
}

function validateMode(mode: unknown, path: string): FieldError[] {
  const valid = mode === undefined || (numberOf(mode) >= 0 && numberOf(mode) <= 0o777);
  return valid ? [] : [invalid(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive')];
}

/** A path within a volume: relative, without `..` (validateLocalNonReservedPath). */
function localPath(text: string, path: string): FieldError[] {
  const errors = text.startsWith('/') ? [invalid(path, text, 'must be a relative path')] : [];
  errors.push(...noBacksteps(text, path));
  if (text.startsWith('..') && !text.startsWith('../') && text !== '..') {
    errors.push(invalid(path, text, "must not start with '..'"));
  }
  return errors;
}

function noBacksteps(text: string, path: string): FieldError[] {
  return text.split('/').includes('..') ? [invalid(path, text, "must not contain '..'")] : [];
}

/** Checks `volumeMounts` of a container against the pod's volumes. */
export function validateMounts(mounts: unknown, volumes: ReadonlySet<string>, path: string): FieldError[] {
  const points = new Set<string>();
  return objectsOf(mounts).flatMap((mount, position) => {
    const at = index(path, position);
    const name = textOf(mount.name);
    const mountPath = textOf(mount.mountPath);
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(child(at, 'name')));
    if (!volumes.has(name)) errors.push(notFound(child(at, 'name'), name));
    if (mountPath === '') errors.push(required(child(at, 'mountPath')));
    if (points.has(mountPath)) errors.push(invalid(child(at, 'mountPath'), mountPath, 'must be unique'));
    points.add(mountPath);
    for (const field of ['subPath', 'subPathExpr'] as const) {
      const text = textOf(mount[field]);
      if (text === '') continue;
      if (field === 'subPathExpr' && mount.subPath) {
        errors.push(invalid(child(at, field), text, 'subPathExpr and subPath are mutually exclusive'));
      }
      if (text.startsWith('/')) errors.push(invalid(child(path, field), text, 'must be a relative path'));
      errors.push(...noBacksteps(text, child(path, field)));
    }
    return errors;
  });
}
