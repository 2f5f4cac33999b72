import { hash } from 'node:crypto';
import type { KubeObject } from '@openstack-operator/kube';
import type { ConfigSet } from '../configuration/config.ts';
import { labelsOf } from '../names/names.ts';
import type { Runs } from '../vocabulary/component.ts';
import type { Context } from '../vocabulary/context.ts';
import type { Job, Schedule, Service } from '../vocabulary/service.ts';
import { fetching } from './job.ts';
import { podSpec } from './pod.ts';

/** All that a CronJob is made of. */
export interface ScheduleInput {
  readonly service: Service;
  readonly context: Context;
  readonly schedule: Schedule;
  /** Full reference of an image, by its name. */
  readonly image: (name: string) => string;
  readonly configs: readonly ConfigSet[];
}

/** Failed runs that are kept: so many in a row are a problem of the resource (`schedule-status.ts`). */
export const failedRunsKept = 3;

/**
 * The CronJob of a schedule. Runs do not overlap; what could not be started within ten minutes (a cluster that was down)
 * is left to the next time; a run that fails is tried again twice.
 */
export function cronJobObject({ service, context, schedule, image, configs }: ScheduleInput): KubeObject {
  const runs = [...schedule.runs];
  const last = runs.pop();
  if (last === undefined) throw new Error(`${service.name} ${schedule.suffix}: a schedule runs at least one program`);
  const labels = labelsOf(service.name, context.name, schedule.suffix);
  const pod = podSpec({
    name: last.name,
    image: image(last.image ?? schedule.image),
    user: last.user ?? schedule.user ?? service.user,
    runs: programOf(last),
    init: runs.map((one) => ({
      name: one.name,
      runs: programOf(one),
      image: image(one.image ?? schedule.image),
      user: one.user ?? schedule.user ?? service.user,
    })),
    configs,
    ...(schedule.mounts === undefined ? {} : { mounts: schedule.mounts }),
    ...(schedule.env === undefined ? {} : { env: schedule.env }),
    spec: { ...context.spec, resources: undefined },
    restartPolicy: 'Never',
  });
  const metadata = { name: context.named(schedule.suffix), namespace: context.namespace, labels };
  return cronJob(metadata, schedule, { metadata: { labels }, spec: pod });
}

/**
 * The CronJob that runs a Job again and again: `<its name>-again`. It asks nobody whether the operator has found a loss: what
 * lays out an artifact makes none from nothing.
 */
export function repeated({ metadata, spec }: KubeObject, again: NonNullable<Job['again']>): KubeObject {
  const { name = '', namespace = '', labels = {} } = metadata;
  const { template } = spec as { template: { spec: { initContainers: readonly { command: readonly string[] }[] } } };
  const initContainers = template.spec.initContainers.map((container) => {
    const [program, verb, ...rest] = container.command;
    return fetching.every((word, index) => container.command[index] === word)
      ? { ...container, command: [program, verb, '--again', ...rest] }
      : container;
  });
  const pod = { ...template, spec: { ...template.spec, initContainers } };
  return cronJob({ name: `${name}-again`, namespace, labels }, again, pod);
}

function cronJob(
  metadata: { readonly name: string; readonly namespace: string; readonly labels: Readonly<Record<string, string>> },
  { cron, suspend, deadlineSeconds }: NonNullable<Job['again']>,
  template: unknown,
): KubeObject {
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata,
    spec: {
      schedule: cron,
      timeZone: 'Etc/UTC',
      suspend,
      concurrencyPolicy: 'Forbid',
      startingDeadlineSeconds: 600,
      successfulJobsHistoryLimit: 1,
      failedJobsHistoryLimit: failedRunsKept,
      jobTemplate: {
        metadata: { labels: metadata.labels },
        spec: {
          backoffLimit: 2,
          activeDeadlineSeconds: deadlineSeconds,
          podReplacementPolicy: 'Failed',
          template,
        },
      },
    },
  };
}

function programOf({ name: _name, image: _image, user: _user, ...runs }: Schedule['runs'][number]): Runs {
  return runs;
}

/** Every hour, at a minute that follows from the resource's name: of many clouds, not all at once. */
export function hourly(context: Context, suffix: string): string {
  return `${spread(context, suffix) % 60} * * * *`;
}

/** Every five minutes, at minutes that follow from the resource's name. */
export function everyFiveMinutes(context: Context, suffix: string): string {
  return `${spread(context, suffix) % 5}-59/5 * * * *`;
}

/** Every night (UTC) between 1:00 and 4:59, at a time that follows from the resource's name. */
export function nightly(context: Context, suffix: string): string {
  const minutes = spread(context, suffix) % 240;
  return `${minutes % 60} ${1 + Math.floor(minutes / 60)} * * *`;
}

function spread({ namespace, name }: Context, suffix: string): number {
  return hash('sha256', `${namespace}/${name}/${suffix}`, 'buffer').readUInt32BE(0);
}
