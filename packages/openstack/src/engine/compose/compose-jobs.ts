import type { KubeObject } from '@openstack-operator/kube';
import { fileName } from '../configuration/config.ts';
import { jobStart } from '../configuration/start-sets.ts';
import { annotations } from '../names/names.ts';
import { generated } from '../objects/generated-secrets.ts';
import { imageOf } from '../objects/images.ts';
import { jobObject } from '../objects/job.ts';
import { cronJobObject, repeated } from '../objects/schedule.ts';
import type { Component } from '../vocabulary/component.ts';
import type { Context } from '../vocabulary/context.ts';
import type { Job, Schedule } from '../vocabulary/service.ts';
import { type Assembly, awaited } from './assembly.ts';

/** Adds a Job to its step, and the files that start it. @returns the Job */
export function addJob(assembly: Assembly, job: Job, ...needs: string[]): KubeObject {
  const { service, context, components, drafts, sets } = assembly;
  const start = jobStart(service, context, job);
  const [main = ''] = Object.keys(components);
  const object = jobObject({
    service,
    context,
    job,
    image: imageOfJob(context, job, components),
    overrides: context.spec.components?.[main],
    configs: [sets.byName[job.config ?? 'main'], start].filter((set) => set !== undefined),
  });
  const { makes } = job;
  if (makes !== undefined) {
    if (service.access?.[job.suffix] === undefined)
      throw new Error(
        `${service.name} ${job.suffix}: it makes an artifact; access has to hold publishing(${makes.suffix})`,
      );
    const { data, volume } = makes;
    const guards = { kind: 'Job', name: context.named(job.suffix), data, ...(volume && { volume }) } as const;
    const secret = { suffix: makes.suffix, values: {}, secretClass: 'keyMaterial', guards } as const;
    const published = {
      annotations: { [annotations.publishedBy]: context.named(job.suffix) },
      filled: makes.files.map(fileName),
      filledBy: {
        inputs: object.metadata.annotations?.[annotations.inputs] ?? '',
        keys: (makes.later ?? []).map(fileName),
      },
    };
    drafts.add('CredentialsReady', generated(service, context, secret, published));
  }
  drafts.add('ConfigReady', ...start.objects);
  drafts.add(job.step, { verb: 'apply', object, ...(job.aside === true ? { aside: true } : {}) });
  drafts.need(job.step, ...needs, ...(job.needs ?? []));
  drafts.step(job.step).awaits.push(...(job.asks ?? []).flatMap((field) => awaited(assembly, field)));
  if (job.again === undefined) return object;
  drafts.add('SchedulesReady', { verb: 'apply', object: repeated(object, job.again) });
  drafts.need('SchedulesReady', job.step);
  return object;
}

/** Adds what is done now and then, after everything else was set up once. */
export function addSchedule({ service, context, components, drafts, sets }: Assembly, schedule: Schedule): void {
  const start = jobStart(service, context, schedule);
  const configs = [sets.byName[schedule.config ?? 'main'], start].filter((set) => set !== undefined);
  const image = (name: string) => imageOfJob(context, { suffix: schedule.suffix, image: name }, components);
  const object = cronJobObject({ service, context, schedule, image, configs });
  drafts.add('SchedulesReady', ...start.objects, { verb: 'apply', object });
  drafts.need(
    'SchedulesReady',
    'ConfigReady',
    'DatabaseReady',
    'MessagingReady',
    'MigrationReady',
    'EndpointReady',
    'ResourcesReady',
  );
}

/** A Job runs what the component with the same image runs: a migration of another version would break it. */
function imageOfJob(
  { spec, release: running, surroundings }: Context,
  job: Pick<Job, 'suffix' | 'image' | 'release'>,
  components: Readonly<Record<string, Component>>,
): string {
  if (job.image === 'operator') return surroundings.operatorImage;
  const all = Object.entries(components);
  const index = all.findIndex(([, component]) => component.image === job.image);
  const [name = job.suffix, component] = all[index] ?? [];
  const release = job.release ?? running;
  return imageOf(job.image, { component: component?.variantOf ?? name, main: index === 0, spec, release });
}
