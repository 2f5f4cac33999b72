import type { KubeObject } from '@openstack-operator/kube';
import type { ConfigSet } from './config.ts';
import type { Context } from './context.ts';
import { digest } from './digest.ts';
import { annotations, labelsOf } from './names.ts';
import { podSpec } from './pod.ts';
import type { Job, Runs, Service } from './service.ts';

/** All that a Job is made of. */
export interface JobInput {
  readonly service: Service;
  readonly context: Context;
  readonly job: Job;
  /** Full reference of the image. */
  readonly image: string;
  readonly configs: readonly ConfigSet[];
}

/**
 * The Job of a step. Its annotation holds the digest of all that makes a run different (command, image, configuration,
 * secrets), not of labels or resources. No TTL: a Job that vanishes would have to be run again to know.
 */
export function jobObject({ service, context, job, image, configs }: JobInput): KubeObject {
  const runs = [...job.runs];
  const last = runs.pop();
  if (last === undefined) throw new Error(`${service.name} ${job.suffix}: a Job runs at least one program`);
  const name = context.named(job.suffix);
  const labels = labelsOf(service.name, context.name, job.suffix);
  const pod = podSpec({
    name: last.name,
    image,
    user: job.user ?? service.user,
    runs: withoutName(last),
    init: runs.map((one) => ({ name: one.name, runs: withoutName(one), image })),
    configs,
    ...(job.mounts === undefined ? {} : { mounts: job.mounts }),
    ...(job.env === undefined ? {} : { env: job.env }),
    spec: { ...context.spec, resources: undefined },
    restartPolicy: 'Never',
  });
  const secrets = [...configs.flatMap((set) => set.secrets), ...secretsOf(job)];
  const digests = [...new Set(secrets)].sort().map((secret) => [secret, context.surroundings.digests[secret] ?? null]);
  const again = context.resource.metadata.annotations?.[annotations.reconcileAt];
  const inputs = digest({ containers: withoutResources(pod), digests, inputs: job.inputs, again });
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: context.namespace, labels, annotations: { [annotations.inputs]: inputs } },
    spec: {
      // The kubelet retries fast failures (a database that is just starting); the operator retries the whole Job.
      backoffLimit: 6,
      // A node that is cut off keeps its pod running: never two at once (production rule 13).
      podReplacementPolicy: 'Failed',
      template: { metadata: { labels }, spec: pod },
    },
  };
}

function withoutName({ name: _name, ...runs }: Runs & { name: string }): Runs {
  return runs;
}

function secretsOf(job: Job): string[] {
  const mounted = (job.mounts ?? []).flatMap((mount) => ('secret' in mount ? [mount.secret] : []));
  const variables = Object.values(job.env ?? {}).flatMap((one) =>
    typeof one === 'object' && 'secret' in one ? [one.secret] : [],
  );
  return [...mounted, ...variables];
}

/** What of a pod's spec makes a run different. */
function withoutResources(pod: Record<string, unknown>): unknown {
  const strip = (containers: unknown) =>
    (containers as Record<string, unknown>[] | undefined)?.map(({ resources: _resources, ...rest }) => rest);
  return { init: strip(pod['initContainers']), containers: strip(pod['containers']), volumes: pod['volumes'] };
}
