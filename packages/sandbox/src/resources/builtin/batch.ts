import type { KubeObject } from '@openstack-operator/kube';
import { parseTimestamp } from '@openstack-operator/kube';
import { age, humanDuration } from '../age.ts';
import { isObject, type JsonObject, numberOf, objectOf, objectsOf, textOf, textsOf } from '../json.ts';
import { formatSelector, type LabelSelector } from '../metadata.ts';
import { builtinType } from './builtin-type.ts';
import { ageOf, containerCells, hasCondition, nameOf, specOf, statusOf } from './cells.ts';
import { validateCronJob, validateJob, validateJobUpdate } from './job-validation.ts';

/** A Job selects its pods by its uid, unless the user took that over (generateSelector of the Job strategy). */
function generateSelector(job: KubeObject): void {
  const spec = specOf(job);
  if (spec.manualSelector === true) return;
  const { uid = '', name = '' } = job.metadata;
  const template = isObject(spec.template) ? spec.template : {};
  const metadata = isObject(template.metadata) ? template.metadata : {};
  metadata.labels = {
    ...objectOf(metadata.labels),
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  };
  template.metadata = metadata;
  spec.template = template;
  const selector: JsonObject = isObject(spec.selector) ? spec.selector : {};
  selector.matchLabels = { ...objectOf(selector.matchLabels), 'batch.kubernetes.io/controller-uid': uid };
  spec.selector = selector;
}

function jobStatus(job: KubeObject): string {
  const { conditions } = statusOf(job);
  if (hasCondition(conditions, 'Complete')) return 'Complete';
  if (hasCondition(conditions, 'Failed')) return 'Failed';
  if (job.metadata.deletionTimestamp !== undefined) return 'Terminating';
  for (const [type, text] of [
    ['Suspended', 'Suspended'],
    ['FailureTarget', 'FailureTarget'],
    ['SuccessCriteriaMet', 'SuccessCriteriaMet'],
  ] as const) {
    if (hasCondition(conditions, type)) return text;
  }
  return 'Running';
}

function jobDuration(job: KubeObject, now: number): string {
  const { startTime, completionTime } = statusOf(job);
  if (typeof startTime !== 'string') return '';
  const end = typeof completionTime === 'string' ? parseTimestamp(completionTime) : now;
  return humanDuration(end - parseTimestamp(startTime));
}

function jobCompletions(job: KubeObject): string {
  const { completions, parallelism } = specOf(job);
  const succeeded = numberOf(statusOf(job).succeeded);
  if (typeof completions === 'number') return `${succeeded}/${completions}`;
  return numberOf(parallelism) > 1 ? `${succeeded}/1 of ${numberOf(parallelism)}` : `${succeeded}/1`;
}

/** `batch/v1/Job`. */
export const job = builtinType('batch/v1/Job', {
  hasGeneration: true,
  selectableFields: ['status.successful'],
  prepareForCreate(object) {
    object.status = {};
    generateSelector(object);
    const labels = objectOf(objectOf(specOf(object).template).metadata).labels;
    // What is read back has its template's labels when it has none of its own, the generated ones included.
    if (Object.keys(object.metadata.labels ?? {}).length === 0) object.metadata.labels = { ...textsOf(labels) };
  },
  validate: validateJob,
  validateUpdate: validateJobUpdate,
  row: (object, now) => [
    nameOf(object),
    jobStatus(object),
    jobCompletions(object),
    jobDuration(object, now),
    ageOf(object, now),
    ...containerCells(specOf(object).template),
    formatSelector(specOf(object).selector as LabelSelector | undefined),
  ],
});

/** `batch/v1/CronJob`. */
export const cronJob = builtinType('batch/v1/CronJob', {
  hasGeneration: true,
  prepareForCreate(object) {
    object.status = {};
  },
  validate: validateCronJob,
  row(object, now) {
    const spec = specOf(object);
    const status = statusOf(object);
    const template = objectOf(objectOf(spec.jobTemplate).spec);
    const suspend = spec.suspend;
    return [
      nameOf(object),
      textOf(spec.schedule),
      textOf(spec.timeZone) || '<none>',
      suspend === undefined ? '<unset>' : suspend === true ? 'True' : 'False',
      objectsOf(status.active).length,
      status.lastScheduleTime ? age(status.lastScheduleTime, now) : '<none>',
      ageOf(object, now),
      ...containerCells(template.template),
      formatSelector(template.selector as LabelSelector | undefined),
    ];
  },
});
