import type { KubeObject } from '@openstack-operator/kube';
import { cronScheduleError } from '../cron.ts';
import { invalid, notSupported, required } from '../field-error.ts';
import { deepEqual, isObject, type JsonObject, numberOf, objectOf, textOf, textsOf } from '../json.ts';
import {
  immutable,
  type LabelSelector,
  selectorMatches,
  validateImmutable,
  validateLabelSelector,
} from '../metadata.ts';
import type { FieldError } from '../resource-type.ts';
import { specOf } from './cells.ts';
import { validateNonnegative } from './int-or-percent.ts';
import { validatePodTemplate } from './pod-spec.ts';

function validateJobSpec(spec: JsonObject, path: string): FieldError[] {
  const counts = [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
    'backoffLimitPerIndex',
    'maxFailedIndexes',
  ];
  const errors = counts.flatMap((field) => validateNonnegative(spec[field], `${path}.${field}`));
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    errors.push(required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'));
  }
  const mode = textOf(spec.completionMode) || 'NonIndexed';
  if (mode === 'Indexed') {
    if (spec.completions === undefined) {
      errors.push(required(`${path}.completions`, 'when completion mode is Indexed'));
    }
  } else {
    if (mode !== 'NonIndexed') errors.push(notSupported(`${path}.completionMode`, mode, ['NonIndexed', 'Indexed']));
    for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes'] as const) {
      if (spec[field] !== undefined)
        errors.push(invalid(`${path}.${field}`, spec[field], 'requires indexed completion mode'));
    }
  }
  errors.push(...validateReplacement(spec, `${path}.podReplacementPolicy`));
  errors.push(...validatePodTemplate(spec.template, `${path}.template`));
  return [...errors, ...validateRestartPolicy(spec, `${path}.template.spec.restartPolicy`)];
}

function validateReplacement(spec: JsonObject, path: string): FieldError[] {
  const { podReplacementPolicy: policy } = spec;
  if (policy === undefined) return [];
  const supported = isObject(spec.podFailurePolicy) ? ['Failed'] : ['Failed', 'TerminatingOrFailed'];
  return supported.includes(textOf(policy)) ? [] : [notSupported(path, policy, supported)];
}

function validateRestartPolicy(spec: JsonObject, path: string): FieldError[] {
  const policy = textOf(objectOf(objectOf(spec.template).spec).restartPolicy);
  if (policy === 'Always' || policy === '') return [required(path, 'valid values: "OnFailure", "Never"')];
  if (policy !== 'OnFailure' && policy !== 'Never') return [notSupported(path, policy, ['OnFailure', 'Never'])];
  if (isObject(spec.podFailurePolicy) && policy !== 'Never') {
    return [invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')];
  }
  return [];
}

/** ValidateJob: given with the selector that its strategy generated. */
export function validateJob(job: KubeObject): FieldError[] {
  const spec = specOf(job);
  const selector = spec.selector as LabelSelector | undefined;
  const errors = validateGenerated(job, spec, selector);
  errors.push(...validateJobSpec(spec, 'spec'));
  if (!selector) errors.push(required('spec.selector'));
  else errors.push(...validateLabelSelector(selector, 'spec.selector'));
  const labels = textsOf(objectOf(objectOf(spec.template).metadata).labels);
  if (!selectorMatches(selector, labels)) {
    errors.push(invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'));
  }
  return errors;
}

function validateGenerated(job: KubeObject, spec: JsonObject, selector: LabelSelector | undefined): FieldError[] {
  if (spec.manualSelector === true || !selector) return [];
  const { uid = '', name = '' } = job.metadata;
  const generated = {
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  };
  return selectorMatches(selector, generated)
    ? []
    : [invalid('spec.selector', selector, '`selector` not auto-generated')];
}

/** A Job's work never changes; a suspended one that never ran may be scheduled elsewhere. */
export function validateJobUpdate(job: KubeObject, old: KubeObject): FieldError[] {
  const spec = specOf(job);
  const before = specOf(old);
  const errors: FieldError[] = [];
  const elastic =
    spec.completionMode === 'Indexed' &&
    spec.completions === spec.parallelism &&
    before.completions === before.parallelism;
  if (!elastic) errors.push(...validateImmutable(spec.completions, before.completions, 'spec.completions'));
  errors.push(...validateImmutable(spec.selector, before.selector, 'spec.selector'));
  if (!deepEqual(templateFor(spec, spec, before, old), templateFor(before, spec, before, old))) {
    errors.push(invalid('spec.template', spec.template, immutable));
  }
  const fixed = ['completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy'];
  return [...errors, ...fixed.flatMap((field) => validateImmutable(spec[field], before[field], `spec.${field}`))];
}

/** The template without what may change while a Job is suspended and has not begun. */
function templateFor(from: JsonObject, _spec: JsonObject, before: JsonObject, old: KubeObject): JsonObject {
  const template = objectOf(from.template);
  const mutable = before.suspend === true && objectOf(old.status).startTime === undefined;
  if (!mutable) return template;
  const { affinity: _a, nodeSelector: _n, tolerations: _t, schedulingGates: _g, ...spec } = objectOf(template.spec);
  return { ...template, metadata: undefined, spec };
}

/** ValidateCronJob. */
export function validateCronJob(cronJob: KubeObject): FieldError[] {
  const spec = specOf(cronJob);
  const errors: FieldError[] = [];
  const schedule = textOf(spec.schedule);
  if (schedule === '') errors.push(required('spec.schedule'));
  else {
    const complaint = cronScheduleError(schedule);
    if (complaint !== undefined) errors.push(invalid('spec.schedule', schedule, complaint));
    if (schedule.includes('TZ')) {
      const detail = 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
      errors.push(invalid('spec.schedule', schedule, detail));
    }
  }
  errors.push(...validateNonnegative(spec.startingDeadlineSeconds, 'spec.startingDeadlineSeconds'));
  const zone = spec.timeZone;
  if (zone === '') errors.push(invalid('spec.timeZone', zone, 'timeZone must be nil or non-empty string'));
  else if (typeof zone === 'string' && !isTimeZone(zone)) {
    errors.push(invalid('spec.timeZone', zone, `unknown time zone ${zone}`));
  }
  const policies = ['Allow', 'Forbid', 'Replace'];
  if (!policies.includes(textOf(spec.concurrencyPolicy))) {
    errors.push(notSupported('spec.concurrencyPolicy', spec.concurrencyPolicy, policies));
  }
  const template = objectOf(objectOf(spec.jobTemplate).spec);
  errors.push(...validateJobSpec(template, 'spec.jobTemplate.spec'));
  if (template.selector !== undefined) {
    errors.push(invalid('spec.jobTemplate.spec.selector', template.selector, '`selector` will be auto-generated'));
  }
  if (template.manualSelector === true) {
    errors.push(notSupported('spec.jobTemplate.spec.manualSelector', true, ['nil', 'false']));
  }
  for (const field of ['successfulJobsHistoryLimit', 'failedJobsHistoryLimit']) {
    errors.push(...validateNonnegative(numberOf(spec[field]), `spec.${field}`));
  }
  const { name = '' } = cronJob.metadata;
  if (name.length > 52) errors.push(invalid('metadata.name', name, 'must be no more than 52 characters'));
  return errors;
}

function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
