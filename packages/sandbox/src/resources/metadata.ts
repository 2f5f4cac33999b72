import type { KubeObject, OwnerReference } from '@openstack-operator/kube';
import { forbidden, invalid, required, struct, tooLong } from './field-error.ts';
import { deepEqual } from './json.ts';
import { isDnsLabel, isLabelValue, isQualifiedName, type NameCheck } from './names.ts';
import { child, index } from './path.ts';
import type { FieldError } from './resource-type.ts';

/** The detail of errors about fields that never change. */
export const immutable = 'field is immutable';

/** Checks `metadata` of a new object (ValidateObjectMeta): name, namespace, labels, annotations, owners, finalizers. */
export function validateMetadata(
  object: KubeObject,
  namespaced: boolean,
  nameCheck: NameCheck,
  path = 'metadata',
): FieldError[] {
  const { name = '', generateName = '', namespace = '' } = object.metadata;
  const errors: FieldError[] = [];
  if (generateName !== '') {
    for (const message of nameCheck(generateName, true)) {
      errors.push(invalid(child(path, 'generateName'), generateName, message));
    }
  }
  if (name === '') errors.push(required(child(path, 'name'), 'name or generateName is required'));
  else for (const message of nameCheck(name)) errors.push(invalid(child(path, 'name'), name, message));
  if (!namespaced) {
    if (namespace !== '') errors.push(forbidden(child(path, 'namespace'), 'not allowed on this type'));
  } else if (namespace === '') {
    errors.push(required(child(path, 'namespace')));
  } else {
    for (const message of isDnsLabel(namespace)) errors.push(invalid(child(path, 'namespace'), namespace, message));
  }
  return [...errors, ...validateCommon(object, path)];
}

/** Checks `metadata` of a change against what is stored (ValidateObjectMetaUpdate). */
export function validateMetadataUpdate(object: KubeObject, old: KubeObject, path = 'metadata'): FieldError[] {
  const errors: FieldError[] = [];
  const { metadata } = object;
  if (old.metadata.deletionTimestamp !== undefined) {
    const known = new Set(old.metadata.finalizers ?? []);
    const added = (metadata.finalizers ?? []).filter((finalizer) => !known.has(finalizer)).sort();
    if (added.length > 0) {
      const detail = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((name) => JSON.stringify(name)).join(', ')}}`;
      errors.push(forbidden(child(path, 'finalizers'), detail));
    }
  }
  if (!metadata.resourceVersion) {
    errors.push(
      invalid(child(path, 'resourceVersion'), metadata.resourceVersion ?? '', 'must be specified for an update'),
    );
  }
  for (const field of ['name', 'namespace', 'uid', 'creationTimestamp'] as const) {
    if (!deepEqual(metadata[field], old.metadata[field])) {
      errors.push(invalid(child(path, field), metadata[field] ?? '', immutable));
    }
  }
  if (
    (metadata.deletionTimestamp !== undefined || old.metadata.deletionTimestamp !== undefined) &&
    metadata.deletionTimestamp !== old.metadata.deletionTimestamp
  ) {
    errors.push(invalid(child(path, 'deletionTimestamp'), metadata.deletionTimestamp ?? null, immutable));
  }
  if (metadata.deletionGracePeriodSeconds !== old.metadata.deletionGracePeriodSeconds) {
    errors.push(
      invalid(child(path, 'deletionGracePeriodSeconds'), metadata.deletionGracePeriodSeconds ?? null, immutable),
    );
  }
  return [...errors, ...validateCommon(object, path)];
}

function validateCommon({ metadata }: KubeObject, path: string): FieldError[] {
  const errors = validateLabels(metadata.labels, child(path, 'labels'));
  const annotations = Object.entries(metadata.annotations ?? {});
  for (const [name] of annotations) {
    for (const message of isQualifiedName(name.toLowerCase())) {
      errors.push(invalid(child(path, 'annotations'), name, message));
    }
  }
  const size = annotations.reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value), 0);
  if (size > 256 * 1024) errors.push(tooLong(child(path, 'annotations'), 256 * 1024));
  errors.push(...validateOwners(metadata.ownerReferences ?? [], child(path, 'ownerReferences')));
  for (const finalizer of metadata.finalizers ?? []) {
    for (const message of isQualifiedName(finalizer)) {
      errors.push(invalid(child(path, 'finalizers'), finalizer, message));
    }
  }
  return errors;
}

function validateOwners(owners: NonNullable<KubeObject['metadata']['ownerReferences']>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  let controller = '';
  for (const owner of owners) {
    if (!owner.apiVersion)
      errors.push(invalid(child(path, 'apiVersion'), owner.apiVersion ?? '', 'version must not be empty'));
    for (const field of ['kind', 'name', 'uid'] as const) {
      if (!owner[field]) errors.push(invalid(child(path, field), owner[field] ?? '', 'must not be empty'));
    }
    if (owner.apiVersion === 'v1' && owner.kind === 'Event') {
      errors.push(invalid(path, owner, '/v1, Kind=Event is disallowed from being an owner'));
    }
    if (owner.controller !== true) continue;
    const name = `${owner.kind}/${owner.name}`;
    if (controller === '') controller = name;
    else {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`;
      errors.push(invalid(path, owners.map(ownerStruct), detail));
    }
  }
  return errors;
}

function ownerStruct(owner: OwnerReference): unknown {
  const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = owner;
  return struct(
    ['apiVersion', apiVersion],
    ['kind', kind],
    ['name', name],
    ['uid', uid],
    ...(controller === undefined ? [] : [['controller', controller] as const]),
    ...(blockOwnerDeletion === undefined ? [] : [['blockOwnerDeletion', blockOwnerDeletion] as const]),
  );
}

/** A selector as errors print it. */
export function selectorStruct({ matchLabels, matchExpressions }: LabelSelector): unknown {
  return struct(
    ...(matchLabels ? [['matchLabels', matchLabels] as const] : []),
    ...(matchExpressions ? [['matchExpressions', matchExpressions] as const] : []),
  );
}

/** Whether a finalizer of a built-in kind is a known one or says whose it is (validateKubeFinalizerName). */
export function validateFinalizers(object: KubeObject): FieldError[] {
  return (object.metadata.finalizers ?? []).flatMap((finalizer, position) => {
    const known = ['foregroundDeletion', 'kubernetes', 'orphan'].includes(finalizer);
    if (known || finalizer.includes('/')) return [];
    const detail = 'name is neither a standard finalizer name nor is it fully qualified';
    return [invalid(index('metadata.finalizers', position), finalizer, detail)];
  });
}

/** Checks keys and values of labels (ValidateLabels). */
export function validateLabels(labels: Readonly<Record<string, string>> | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [name, value] of Object.entries(labels ?? {})) {
    errors.push(...isQualifiedName(name).map((message) => invalid(path, name, message)));
    errors.push(...isLabelValue(value).map((message) => invalid(path, value, message)));
  }
  return errors;
}

/** `metav1.LabelSelector`. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** Checks a label selector (ValidateLabelSelector). */
export function validateLabelSelector(selector: LabelSelector | undefined, path: string): FieldError[] {
  const errors = validateLabels(selector?.matchLabels, child(path, 'matchLabels'));
  for (const [position, { key: name, operator, values = [] }] of (selector?.matchExpressions ?? []).entries()) {
    const at = index(child(path, 'matchExpressions'), position);
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0) {
        errors.push(required(child(at, 'values'), "must be specified when `operator` is 'In' or 'NotIn'"));
      }
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length > 0) {
        errors.push(
          forbidden(child(at, 'values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
        );
      }
    } else {
      errors.push(invalid(child(at, 'operator'), operator ?? '', 'not a valid selector operator'));
    }
    errors.push(...isQualifiedName(name ?? '').map((message) => invalid(child(at, 'key'), name ?? '', message)));
    for (const [position, value] of values.entries()) {
      errors.push(
        ...isLabelValue(value).map((message) => invalid(index(child(at, 'values'), position), value, message)),
      );
    }
  }
  return errors;
}

/** Whether labels meet a selector; an empty selector is met by all, an absent one by none. */
export function selectorMatches(
  selector: LabelSelector | undefined,
  labels: Readonly<Record<string, string>>,
): boolean {
  if (selector === undefined) return false;
  return (
    Object.entries(selector.matchLabels ?? {}).every(([name, value]) => labels[name] === value) &&
    (selector.matchExpressions ?? []).every(({ key: name, operator, values = [] }) => {
      const value = labels[name];
      if (operator === 'In') return value !== undefined && values.includes(value);
      if (operator === 'NotIn') return value === undefined || !values.includes(value);
      return (operator === 'Exists') === (value !== undefined);
    })
  );
}

/** A selector as tables print it: `a=b,c in (d,e)`, `<none>` when empty. */
export function formatSelector(selector: LabelSelector | undefined): string {
  const parts = Object.entries(selector?.matchLabels ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`);
  for (const { key: name, operator, values = [] } of selector?.matchExpressions ?? []) {
    if (operator === 'In') parts.push(`${name} in (${values.join(',')})`);
    else if (operator === 'NotIn') parts.push(`${name} notin (${values.join(',')})`);
    else parts.push(operator === 'Exists' ? name : `!${name}`);
  }
  return parts.length > 0 ? parts.join(',') : '<none>';
}

/** The error when an immutable field differs, or none. Objects are printed as JSON. */
export function validateImmutable(value: unknown, old: unknown, path: string): FieldError[] {
  if (deepEqual(value, old)) return [];
  return [invalid(path, value ?? null, immutable)];
}
