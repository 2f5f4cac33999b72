import type { KubeObject } from '@openstack-operator/kube';
import { serverCount } from '../names/names.ts';
import { componentsOf } from '../vocabulary/api-tls.ts';
import { type Context, contextOf } from '../vocabulary/context.ts';
import type { CountPlan } from '../vocabulary/counting.ts';
import { fieldFor } from '../vocabulary/dependencies.ts';
import type { Guests, Job, Service, Staying } from '../vocabulary/service.ts';
import type { ServiceResource, Surroundings } from '../vocabulary/surroundings.ts';
import { authorityKey } from '../vocabulary/trust.ts';
import { endpointsOf } from './endpoint.ts';
import { jobObject } from './job.ts';

/** Seconds for which the answer of a Job before a deletion is valid; then it is gone, and run again where that still matters. */
const validSeconds = 60;

/** Seconds that it may take: an image that cannot be pulled, or a pod that fits nowhere, is an answer as well. */
const deadlineSeconds = 180;

/**
 * A Job that asks the service how much there is of something, as its first user: it completes when there is none, and
 * fails with `<what>: <number>`, or with what kept the service from answering, as its last words.
 */
function countJob(
  service: Service,
  context: Context,
  { suffix, step, plan }: Pick<Job, 'suffix' | 'step'> & { readonly plan: CountPlan },
): Job {
  const { name: username, secret } = context.user();
  const api = service.identity?.catalogue[0];
  const { trust } = context.identity;
  if (api === undefined) throw new Error(`${service.name} is not in the catalogue`);
  return {
    suffix,
    step,
    image: 'operator',
    user: 'operator',
    config: 'none',
    env: {
      OS_AUTH_URL: context.identity.internalUrl,
      OS_USERNAME: username,
      OS_PASSWORD: { secret, key: 'password' },
      API_URL: endpointsOf(service, context, componentsOf(service, context), api).internal,
      ...(trust === undefined ? {} : { CA_CERTIFICATE: { secret: trust.secret, key: authorityKey } }),
    },
    runs: [{ name: suffix, command: ['openstack-operator', 'count', JSON.stringify(plan)] }],
  };
}

/** The rule by which services take a request for one of an administrator, who sees what all projects have. */
const adminRule = 'context_is_admin';

/**
 * Why a count would say nothing: who is no administrator by another rule is shown what its own project has, as if that were
 * all. Undefined where it tells.
 */
export function countProblem({ spec: { policy } }: Context): string | undefined {
  return policy !== undefined && Object.hasOwn(policy, adminRule)
    ? `spec.policy.${adminRule}: by another rule than that of the release it cannot be told what all projects have there, and nothing is taken for empty; remove the rule until it is counted`
    : undefined;
}

/** The Job `<name>-removed-count`, which counts what keeps something from being forgotten. */
export function removalJob(service: Service, context: Context, { step, plan }: Staying): Job {
  return countJob(service, context, { suffix: 'removed-count', step, plan });
}

/**
 * The Job `<name>-server-count`, which counts the guests of a resource. Run only when something is to be deleted.
 * @throws Error when what the resource refers to is not there, or the count would say nothing
 */
export function guestCountJob(
  service: Service & { readonly guests: Guests },
  resource: ServiceResource,
  surroundings: Surroundings,
): KubeObject {
  const field = fieldFor(service, 'identity');
  const identity = field && surroundings.reference(field);
  if (identity !== undefined && 'missing' in identity) throw new Error(identity.missing);
  const context = contextOf(service, resource, surroundings);
  const problem = countProblem(context);
  if (problem !== undefined) throw new Error(problem);
  const plan = { counts: [service.guests.count] };
  const job = countJob(service, context, { suffix: serverCount, step: serverCount, plan });
  const object = jobObject({ service, context, job, image: surroundings.operatorImage, configs: [] });
  return {
    ...object,
    spec: {
      ...(object['spec'] as object),
      // The answer is asked for anew by whoever still waits for it.
      backoffLimit: 0,
      activeDeadlineSeconds: deadlineSeconds,
      ttlSecondsAfterFinished: validSeconds,
    },
  };
}
