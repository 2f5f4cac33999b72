import type { KubeObject } from '@openstack-operator/kube';
import type { ConfigSet } from '../configuration/config.ts';
import { credentialDigest, templateOf } from '../names/credential-digest.ts';
import { annotations, labelsOf } from '../names/names.ts';
import { serviceAccountOf } from '../vocabulary/access.ts';
import type { Artifact } from '../vocabulary/artifact.ts';
import type { Runs } from '../vocabulary/component.ts';
import type { Context } from '../vocabulary/context.ts';
import type { Job, Service } from '../vocabulary/service.ts';
import { type ComponentOverrides, configMapDigest, type ServiceSpec } from '../vocabulary/surroundings.ts';
import { podSpec } from './pod.ts';

/** All that a Job is made of. */
export interface JobInput {
  readonly service: Service;
  readonly context: Context;
  readonly job: Job;
  /** Full reference of the image. */
  readonly image: string;
  readonly configs: readonly ConfigSet[];
  /** What users say of the main component: Jobs run where its pods do, unless the resource says where all run. */
  readonly overrides?: ComponentOverrides | undefined;
}

/**
 * The Job of a step. Its annotation holds the digest of all that makes a run different: programs, image (but not the
 * operator's own), credentials, further inputs, servers that have begun anew; not labels, resources, or configuration beside the credentials in it, which no Job of ours depends
 * on. No TTL: a Job that vanishes would have to be run again to know.
 */
export function jobObject({ service, context, job, image, configs, overrides }: JobInput): KubeObject {
  const { operatorImage } = context.surroundings;
  const runs = [...job.runs];
  const last = job.makes === undefined ? runs.pop() : publisherOf(context, job.makes);
  const first = fetcherOf(context, job.makes).map((one) => ({ ...one, image: operatorImage }));
  if (last === undefined) throw new Error(`${service.name} ${job.suffix}: a Job runs at least one program`);
  const name = context.named(job.suffix);
  const labels = labelsOf(service.name, context.name, job.suffix);
  const pod = podSpec({
    name: last.name,
    image: job.makes === undefined ? image : operatorImage,
    user: job.user ?? service.user,
    runs: withoutName(last),
    init: [...first, ...runs.map((one) => ({ name: one.name, runs: withoutName(one), image }))],
    configs,
    ...(job.mounts === undefined ? {} : { mounts: job.mounts }),
    ...(job.env === undefined ? {} : { env: job.env }),
    spec: {
      ...context.spec,
      resources: undefined,
      ...placeOf(context.spec, overrides),
    },
    serviceAccount: serviceAccountOf(service, context, job.suffix),
    restartPolicy: 'Never',
  });
  const again = context.resource.metadata.annotations?.[annotations.reconcileAt];
  // Of what is made of something that is kept, that is an input: it is not made anew.
  const begun = job.makes === undefined ? context.begun(job.writesTo ?? ['database']) : undefined;
  const stated = inputsOf(job, pod, {
    configs,
    // A new operator of another image states the same records; what they are is among the inputs.
    image: job.image === 'operator' ? context.surroundings.formerOperatorImage : image,
  });
  const sets = job.once === true ? [] : configs.flatMap((set) => set.inputs.map(templateOf));
  const inputs = credentialDigest(context.surroundings.digestKeyId, {
    template: { ...stated, inputs: templateOf(job.inputs), sets, again, begun },
    whole: { ...stated, digests: digestsOf(context, job, configs), again, begun },
  });
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: context.namespace, labels, annotations: { [annotations.inputs]: inputs } },
    spec: {
      // The kubelet retries fast failures (a database that is just starting); the operator retries the whole Job.
      backoffLimit: job.aside === true ? 0 : 6,
      // A node that is cut off keeps its pod running: never two at once (production rule 13).
      podReplacementPolicy: 'Failed',
      ...(job.deadlineSeconds === undefined ? {} : { activeDeadlineSeconds: job.deadlineSeconds }),
      template: { metadata: { labels }, spec: pod },
    },
  };
}

/** What fills the Secret of an artifact, once all programs have run. */
function publisherOf(context: Context, { suffix, files, later = [], from, supersedes }: Artifact) {
  const over = [
    ...(supersedes === undefined ? [] : ['--supersedes', context.named(supersedes)]),
    ...(from === undefined ? [] : ['--from', from]),
  ];
  return {
    name: 'publish',
    command: ['openstack-operator', 'publish', ...over, context.named(suffix), ...files, ...later],
  };
}

/** The beginning of the command that lays out what an artifact has. */
export const fetching = ['openstack-operator', 'fetch'] as const;

/** What lays out, before any program runs, what the run before has published. */
function fetcherOf(context: Context, { suffix, from, files = [] }: Partial<Artifact> = {}) {
  if (suffix === undefined || from === undefined) return [];
  const keys = files.map((path) => path.slice(path.lastIndexOf('/') + 1));
  const command = [...fetching, context.named(suffix), from, ...keys];
  return [{ name: 'fetch', runs: { command } }];
}

function placeOf(spec: ServiceSpec, main: ComponentOverrides | undefined): Partial<ServiceSpec> {
  const { tolerations = main?.tolerations, priorityClassName = main?.priorityClassName } = spec;
  return {
    ...(tolerations === undefined ? {} : { tolerations }),
    ...(priorityClassName === undefined ? {} : { priorityClassName }),
  };
}

function withoutName({ name: _name, ...runs }: Runs & { name: string }): Runs {
  return runs;
}

/** What makes a run different, secrets aside. */
function inputsOf(
  job: Job,
  pod: Record<string, unknown>,
  { image, configs }: { readonly image: string | undefined; readonly configs: readonly ConfigSet[] },
): Record<string, unknown> {
  const { env, inputs } = job;
  if (job.once === true) return { env, inputs };
  const commands = [pod['initContainers'], pod['containers']].flatMap((containers) =>
    ((containers ?? []) as { command: unknown }[]).map(({ command }) => command),
  );
  // Start scripts are the Job's own program; the other files are the service's configuration.
  const scripts = configs.filter(({ volume }) => volume === 'start').map(({ configMap }) => configMap);
  return { commands, scripts, image, env, inputs, mounts: job.mounts };
}

/** What credentials a run reads, but for those that programs follow by themselves. */
function digestsOf(context: Context, job: Job, configs: readonly ConfigSet[]): unknown {
  const variables = Object.values(job.env ?? {}).flatMap((one) =>
    typeof one === 'object' && 'secret' in one ? [one.secret] : [],
  );
  const mounted = (job.mounts ?? []).flatMap((mount) => {
    if ('configMap' in mount) return [configMapDigest(mount.configMap)];
    return 'secret' in mount && mount.follows !== true ? [mount.secret] : [];
  });
  const read = job.once === true ? variables : [...variables, ...mounted];
  const { digest } = context.surroundings;
  const digests = [...new Set(read)].sort().map((secret) => [secret, digest(secret) ?? null]);
  return job.once === true ? digests : [...digests, ...configs.flatMap((set) => set.inputs)];
}
