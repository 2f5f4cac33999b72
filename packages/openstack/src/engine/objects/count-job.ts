import type { KubeObject } from '@openstack-operator/kube';
import { referencesIn } from '../../oslo/references.ts';
import { resourceCount } from '../names/names.ts';
import type { Secretly } from '../vocabulary/addresses.ts';
import { componentsOf } from '../vocabulary/api-tls.ts';
import type { Variable } from '../vocabulary/component.ts';
import { type Context, contextOf } from '../vocabulary/context.ts';
import type { Counting, CountPlan } from '../vocabulary/counting.ts';
import { fieldFor } from '../vocabulary/dependencies.ts';
import type { HeldBy, Job, Service, Staying } from '../vocabulary/service.ts';
import type { ServiceResource, Surroundings } from '../vocabulary/surroundings.ts';
import { authorityKey } from '../vocabulary/trust.ts';
import { endpointsOf } from './endpoint.ts';
import { jobObject } from './job.ts';

/** Seconds for which the answer of a Job before a deletion is valid; then it is gone, and run again where that still matters. */
const validSeconds = 60;

/** Seconds that it may take: an image that cannot be pulled, or a pod that fits nowhere, is an answer as well. */
const deadlineSeconds = 180;

/**
 * A Job that asks the service how much there is of something: it completes when there is none, and fails with
 * `<what>: <number>[, ...]`, or with what kept the service from answering, as its last words.
 */
function countJob(
  service: Service,
  context: Context,
  { plan, ...job }: Pick<Job, 'suffix' | 'step'> & { readonly plan: CountPlan },
): Job {
  return askingJob(service, context, { ...job, command: 'count', plan });
}

/** A Job of the operator's own image that has its command do something with the service's API, as an administrator. */
export function askingJob(
  service: Service,
  context: Context,
  { command, plan, ...job }: Pick<Job, 'suffix' | 'step'> & { readonly command: string; readonly plan: object },
): Job {
  const api = service.identity?.catalogue[0];
  const { trust } = context.identity;
  if (api === undefined) throw new Error(`${service.name} is not in the catalogue`);
  return {
    ...job,
    image: 'operator',
    user: 'operator',
    config: 'none',
    env: {
      OS_AUTH_URL: context.identity.internalUrl,
      ...administratorOf(context),
      API_URL: endpointsOf(service, context, componentsOf(service, context), api).internal,
      ...(trust === undefined ? {} : { CA_CERTIFICATE: { secret: trust.secret, key: authorityKey } }),
    },
    // Words of users may hold `$(NAME)`, for which the kubelet would put a variable.
    runs: [
      {
        name: job.suffix,
        command: ['openstack-operator', command, JSON.stringify(plan).replaceAll('$(', String.raw`\u0024(`)],
      },
    ],
  };
}

/** Who sees what all projects have: the service's first user, where it has role admin, else the administrator of the cloud. */
function administratorOf(context: Context): Readonly<Record<string, Variable>> {
  const { name, secret, user } = context.user();
  if (user.roles.includes('admin')) return { OS_USERNAME: name, OS_PASSWORD: { secret, key: 'password' } };
  const { admin } = context.identity;
  return {
    OS_USERNAME: variable(admin.user),
    OS_PASSWORD: variable(admin.password),
    OS_PROJECT_NAME: variable(admin.project),
    OS_USER_DOMAIN_NAME: variable(admin.userDomain),
    OS_PROJECT_DOMAIN_NAME: variable(admin.projectDomain),
  };
}

/** A text that is a reference to a Secret as a whole, or none. */
function variable(text: Secretly): Variable {
  return referencesIn(text())[0] ?? text();
}

/** The rule by which services take a request for one of an administrator, who sees what all projects have. */
const adminRule = 'context_is_admin';

/**
 * Why a count would say nothing: who is no administrator by another rule is shown what its own project has, as if that were
 * all. Undefined where it tells.
 */
export function countProblem({ spec: { policy = {} } }: Context, counts: readonly Counting[]): string | undefined {
  const rule = [adminRule, ...counts.flatMap(({ rules = [] }) => rules)].find((one) => Object.hasOwn(policy, one));
  return rule === undefined
    ? undefined
    : `spec.policy.${rule}: by another rule than that of the release it cannot be told what all projects have there, and nothing is taken for empty; remove the rule until it is counted`;
}

/** The Job `<name>-removed-count`, which counts what keeps something from being forgotten. */
export function removalJob(service: Service, context: Context, { step, plan }: Staying): Job {
  return countJob(service, context, { suffix: 'removed-count', step, plan });
}

/**
 * The Job `<name>-resource-count`, which counts what holds a resource. Run only when something is to be deleted.
 * @throws Error when what the resource refers to is not there, or the count would say nothing
 */
export function resourceCountJob(
  service: Service & { readonly heldBy: HeldBy },
  resource: ServiceResource,
  surroundings: Surroundings,
): KubeObject {
  const field = fieldFor(service, 'identity');
  const identity = field && surroundings.reference(field);
  if (identity !== undefined && 'missing' in identity) throw new Error(identity.missing);
  const context = contextOf(service, resource, surroundings);
  const { counts } = service.heldBy;
  const problem = countProblem(context, counts);
  if (problem !== undefined) throw new Error(problem);
  const job = countJob(service, context, { suffix: resourceCount, step: resourceCount, plan: { counts } });
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
