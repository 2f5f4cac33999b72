import type { KubeObject } from '@openstack-operator/kube';

import { forbidden, invalid, required, tooLong } from '../field-error.ts';
import { type JsonObject, objectOf, textOf, textsOf } from '../json.ts';
import { validateImmutable } from '../metadata.ts';
import { isConfigKey } from '../names.ts';
import { key } from '../path.ts';
import type { FieldError } from '../resource-type.ts';
import { builtinType } from './builtin-type.ts';
import { ageOf, nameOf } from './cells.ts';

const limit = 1024 * 1024;
const immutableMessage = 'field is immutable when `immutable` is set';

function size(values: JsonObject, decode: (value: string) => number): number {
  return Object.values(values).reduce((sum: number, value) => sum + decode(textOf(value)), 0);
}

function base64Size(value: string): number {
  return Buffer.from(value, 'base64').length;
}

function validateKeys(values: unknown, path: string): FieldError[] {
  return Object.keys(objectOf(values)).flatMap((name) =>
    isConfigKey(name).map((message) => invalid(key(path, name), name, message)),
  );
}

/** Nothing of an immutable object's content changes, and it stays immutable. */
function validateFrozen(object: KubeObject, old: KubeObject, fields: readonly string[]): FieldError[] {
  if (old.immutable !== true) return [];
  const errors = object.immutable === true ? [] : [forbidden('immutable', immutableMessage)];
  const changed = fields.filter(
    (field) => JSON.stringify(sorted(object[field])) !== JSON.stringify(sorted(old[field])),
  );
  return [...errors, ...changed.map((field) => forbidden(field, immutableMessage))];
}

function sorted(value: unknown): [string, unknown][] {
  return Object.entries(objectOf(value)).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** `v1/ConfigMap`. */
export const configMap = builtinType('v1/ConfigMap', {
  validate(object) {
    const data = objectOf(object.data);
    const binary = objectOf(object.binaryData);
    const errors = [...validateKeys(data, 'data'), ...validateKeys(binary, 'binaryData')];
    for (const name of Object.keys(data)) {
      if (name in binary) errors.push(invalid(key('data', name), name, `duplicate of key present in binaryData`));
    }
    if (size(data, (text) => Buffer.byteLength(text)) + size(binary, base64Size) > limit) {
      errors.push(tooLong('', limit));
    }
    return errors;
  },
  validateUpdate: (object, old) => validateFrozen(object, old, ['data', 'binaryData']),
  row: (object, now) => [
    nameOf(object),
    Object.keys(objectOf(object.data)).length + Object.keys(objectOf(object.binaryData)).length,
    ageOf(object, now),
  ],
});

/** Keys that Secrets of a type must hold. */
const secretKeys: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
};

function validateSecretType(secret: KubeObject): FieldError[] {
  const data = textsOf(secret.data);
  const type = textOf(secret.type);
  if (type === 'kubernetes.io/service-account-token') {
    const name = secret.metadata.annotations?.['kubernetes.io/service-account.name'] ?? '';
    return name === '' ? [required('metadata.annotations[kubernetes.io/service-account.name]')] : [];
  }
  if (type === 'kubernetes.io/basic-auth') {
    if ('username' in data || 'password' in data) return [];
    return [required(key('data', 'username')), required(key('data', 'password'))];
  }
  return (secretKeys[type] ?? []).flatMap((name) => {
    if (!(name in data)) return [required(key('data', name))];
    if (!type.startsWith('kubernetes.io/dockerc')) return [];
    try {
      JSON.parse(Buffer.from(data[name] ?? '', 'base64').toString());
      return [];
    } catch {
      return [invalid(key('data', name), '<secret contents redacted>', 'unexpected end of JSON input')];
    }
  });
}

/** `v1/Secret`. */
export const secret = builtinType('v1/Secret', {
  selectableFields: ['type'],
  validate(object) {
    const errors = validateKeys(object.data, 'data');
    if (size(objectOf(object.data), base64Size) > limit) errors.push(tooLong('data', limit));
    return [...errors, ...validateSecretType(object)];
  },
  validateUpdate: (object, old) => [
    ...validateImmutable(object.type, old.type, 'type'),
    ...validateFrozen(object, old, ['data']),
  ],
  row: (object, now) => [
    nameOf(object),
    textOf(object.type),
    Object.keys(objectOf(object.data)).length,
    ageOf(object, now),
  ],
});

/** `v1/ServiceAccount`. */
export const serviceAccount = builtinType('v1/ServiceAccount', {
  row: (object, now) => [nameOf(object), ageOf(object, now)],
});
