import type { KubeObject } from '@openstack-operator/kube';
import { forbidden, invalid, notSupported, required, struct } from '../field-error.ts';
import { deepEqual, isObject, type JsonObject, numberOf, objectOf, objectsOf, textOf, textsOf } from '../json.ts';
import { immutable, type LabelSelector, selectorMatches, selectorStruct, validateLabelSelector } from '../metadata.ts';
import { isDnsLabel } from '../names.ts';
import { index } from '../path.ts';
import type { FieldError } from '../resource-type.ts';
import { specOf } from './cells.ts';
import { percentOf, validateIntOrPercent, validateNonnegative } from './int-or-percent.ts';
import { type PodSpecOptions, validatePodTemplate } from './pod-spec.ts';
import { validateClaimSpec } from './storage-validation.ts';

function selectorOf(spec: JsonObject): LabelSelector | undefined {
  return isObject(spec.selector) ? spec.selector : undefined;
}

function isEmpty(selector: LabelSelector): boolean {
  return Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length === 0;
}

/** Selector and template of every workload: the selector is not empty and chooses the template's own pods. */
function validateSelector(spec: JsonObject, kind: string): FieldError[] {
  const selector = selectorOf(spec);
  if (!selector) return [required('spec.selector')];
  const errors = validateLabelSelector(selector, 'spec.selector');
  const value = selectorStruct(selector);
  if (isEmpty(selector)) errors.push(invalid('spec.selector', value, `empty selector is invalid for ${kind}`));
  if (!isReadable(selector))
    errors.push(invalid('spec.selector', value, invalidSelector[kind] ?? 'invalid label selector'));
  return errors;
}

/** What is said of a selector that cannot be made sense of differs from kind to kind. */
const invalidSelector: Readonly<Record<string, string>> = { statefulset: '' };

/** Whether a selector could be evaluated (LabelSelectorAsSelector). */
function isReadable(selector: LabelSelector): boolean {
  return validateLabelSelector(selector, '').length === 0;
}

function validateTemplate(spec: JsonObject, options: PodSpecOptions = {}): FieldError[] {
  const errors: FieldError[] = [];
  const selector = selectorOf(spec);
  const labels = textsOf(objectOf(objectOf(spec.template).metadata).labels);
  // A selector of nothing matches all, none at all matches nothing; an unreadable one says nothing of the template.
  const readable = selector === undefined || isReadable(selector);
  if (readable && !selectorMatches(selector, labels)) {
    errors.push(invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'));
  }
  return [...errors, ...validatePodTemplate(spec.template, 'spec.template', options)];
}

function validateAlwaysRestarts(spec: JsonObject, kind: string): FieldError[] {
  const { restartPolicy, activeDeadlineSeconds } = objectOf(objectOf(spec.template).spec);
  const errors: FieldError[] = [];
  if (restartPolicy !== 'Always') {
    errors.push(notSupported('spec.template.spec.restartPolicy', restartPolicy ?? '', ['Always']));
  }
  if (activeDeadlineSeconds !== undefined) {
    const detail = `activeDeadlineSeconds in ${kind} is not Supported`;
    errors.push(forbidden('spec.template.spec.activeDeadlineSeconds', detail));
  }
  return errors;
}

function validateCounts(spec: JsonObject, fields: readonly string[]): FieldError[] {
  return fields.flatMap((field) => validateNonnegative(spec[field], `spec.${field}`));
}

/** ValidateDeployment. */
export function validateDeployment(object: KubeObject): FieldError[] {
  const spec = specOf(object);
  const errors = [...validateCounts(spec, ['replicas']), ...validateSelector(spec, 'deployment')];
  errors.push(...validateTemplate(spec), ...validateAlwaysRestarts(spec, 'ReplicaSet'));
  const strategy = objectOf(spec.strategy);
  const { rollingUpdate } = strategy;
  if (strategy.type === 'Recreate') {
    if (rollingUpdate !== undefined) {
      errors.push(forbidden('spec.strategy.rollingUpdate', "may not be specified when strategy `type` is 'Recreate'"));
    }
  } else if (strategy.type === 'RollingUpdate') {
    errors.push(...validateRollingUpdate(objectOf(rollingUpdate), 'spec.strategy.rollingUpdate'));
  } else errors.push(notSupported('spec.strategy', strategyStruct(strategy), ['Recreate', 'RollingUpdate']));
  errors.push(...validateCounts(spec, ['minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds']));
  const { progressDeadlineSeconds: deadline } = spec;
  if (typeof deadline === 'number' && deadline <= numberOf(spec.minReadySeconds)) {
    errors.push(invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'));
  }
  return errors;
}

function strategyStruct({ type, rollingUpdate = null }: JsonObject): unknown {
  return struct(['Type', type], ['RollingUpdate', rollingUpdate]);
}

function validateRollingUpdate({ maxUnavailable, maxSurge }: JsonObject, path: string): FieldError[] {
  const errors = [
    ...validateIntOrPercent(maxUnavailable, `${path}.maxUnavailable`, { over100: true }),
    ...validateIntOrPercent(maxSurge, `${path}.maxSurge`, { over100: true }),
  ];
  const none = (value: unknown) => value === 0 || percentOf(value) === 0;
  if (none(maxUnavailable) && none(maxSurge)) {
    errors.push(invalid(`${path}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0'));
  }
  if ((percentOf(maxUnavailable) ?? 0) > 100) {
    errors.push(invalid(`${path}.maxUnavailable`, maxUnavailable, 'must not be greater than 100%'));
  }
  return errors;
}

/** ValidateReplicaSet. */
export function validateReplicaSet(object: KubeObject): FieldError[] {
  const spec = specOf(object);
  return [
    ...validateCounts(spec, ['replicas', 'minReadySeconds']),
    ...validateSelector(spec, 'replicaset'),
    ...validateTemplate(spec),
    ...validateAlwaysRestarts(spec, 'ReplicaSet'),
  ];
}

/** Selectors never change. */
export function validateSelectorUpdate(object: KubeObject, old: KubeObject): FieldError[] {
  const { selector } = specOf(object);
  return deepEqual(selector, specOf(old).selector)
    ? []
    : [invalid('spec.selector', selectorStruct(objectOf(selector)), immutable)];
}

/** ValidateStatefulSet. */
export function validateStatefulSet(object: KubeObject): FieldError[] {
  const spec = specOf(object);
  const errors: FieldError[] = [];
  if (!['OrderedReady', 'Parallel'].includes(textOf(spec.podManagementPolicy))) {
    errors.push(invalid('spec.podManagementPolicy', spec.podManagementPolicy, "must be 'OrderedReady' or 'Parallel'"));
  }
  const strategy = objectOf(spec.updateStrategy);
  if (strategy.type === 'OnDelete' && strategy.rollingUpdate !== undefined) {
    const detail = "only allowed for updateStrategy 'RollingUpdate'";
    errors.push(invalid('spec.updateStrategy.rollingUpdate', strategy.rollingUpdate, detail));
  } else if (strategy.type === 'RollingUpdate') {
    const { partition } = objectOf(strategy.rollingUpdate);
    errors.push(...validateNonnegative(partition, 'spec.updateStrategy.rollingUpdate.partition'));
  } else if (strategy.type !== 'OnDelete') {
    errors.push(invalid('spec.updateStrategy', strategyStruct(strategy), "must be 'RollingUpdate' or 'OnDelete'"));
  }
  const claims = objectsOf(spec.volumeClaimTemplates);
  for (const [position, claim] of claims.entries()) {
    errors.push(...validateClaimSpec(objectOf(claim.spec), `${index('spec.volumeClaimTemplates', position)}.spec`));
  }
  errors.push(...validateCounts(spec, ['replicas', 'minReadySeconds']));
  const serviceName = textOf(spec.serviceName);
  if (serviceName !== '') {
    errors.push(...isDnsLabel(serviceName).map((message) => invalid('spec.serviceName', serviceName, message)));
  }
  errors.push(...validateSelector(spec, 'statefulset'));
  const volumes = claims.map(({ metadata }) => textOf(objectOf(metadata).name));
  errors.push(...validateTemplate(spec, { volumes, ignoreHostname: true }));
  return [...errors, ...validateAlwaysRestarts(spec, 'StatefulSet')];
}

const statefulSetMutable = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

/** Most of a StatefulSet's spec never changes. */
export function validateStatefulSetUpdate(object: KubeObject, old: KubeObject): FieldError[] {
  const fixed = (spec: JsonObject) =>
    Object.fromEntries(Object.entries(spec).filter(([field]) => !statefulSetMutable.includes(field)));
  if (deepEqual(fixed(specOf(object)), fixed(specOf(old)))) return [];
  const detail =
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
  return [forbidden('spec', detail)];
}

/** ValidateDaemonSet. */
export function validateDaemonSet(object: KubeObject): FieldError[] {
  const spec = specOf(object);
  const selector = selectorOf(spec);
  const errors = validateLabelSelector(selector, 'spec.selector');
  const labels = textsOf(objectOf(objectOf(spec.template).metadata).labels);
  if (!selectorMatches(selector, labels)) {
    errors.push(invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'));
  }
  if (selector && isEmpty(selector)) {
    errors.push(invalid('spec.selector', selectorStruct(selector), 'empty selector is invalid for daemonset'));
  }
  errors.push(...validatePodTemplate(spec.template, 'spec.template'), ...validateAlwaysRestarts(spec, 'DaemonSet'));
  errors.push(...validateCounts(spec, ['minReadySeconds']));
  const strategy = objectOf(spec.updateStrategy);
  if (strategy.type === 'RollingUpdate') {
    errors.push(...validateDaemonRollingUpdate(objectOf(strategy.rollingUpdate), 'spec.updateStrategy.rollingUpdate'));
  } else if (strategy.type !== 'OnDelete') {
    errors.push(notSupported('spec.updateStrategy.type', strategy.type, ['RollingUpdate', 'OnDelete']));
  }
  return [...errors, ...validateCounts(spec, ['revisionHistoryLimit'])];
}

function validateDaemonRollingUpdate({ maxUnavailable, maxSurge }: JsonObject, path: string): FieldError[] {
  const errors = [
    ...validateIntOrPercent(maxUnavailable, `${path}.maxUnavailable`),
    ...validateIntOrPercent(maxSurge, `${path}.maxSurge`),
  ];
  const none = (value: unknown) => value === 0 || percentOf(value) === 0;
  if (!none(maxUnavailable) && !none(maxSurge)) {
    errors.push(invalid(`${path}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero'));
  } else if (none(maxUnavailable) && none(maxSurge)) {
    errors.push(required(`${path}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'));
  }
  return errors;
}

/** A DaemonSet's selector never changes. */
export const validateDaemonSetUpdate = validateSelectorUpdate;
