import { composedMistakes, validateResource } from '@openstack-operator/cli';
import { children, composeControlPlane, type Problem, surroundingsOf } from '@openstack-operator/openstack';
import { fullSample, sample } from '../rollout/full-sample.ts';

/** The spec of a control plane, by fields. */
export type Spec = Readonly<Record<string, unknown>>;

const minimalSample = sample('minimal');

/** Every service: what a service is told where it is added to a cloud. */
export const full: Spec = fullSample.spec;

/** The smallest cloud, from a registry that has images of every service. */
export const minimal: Spec = { imageRegistry: full['imageRegistry'], ...minimalSample.spec };

/** Fields of the services that a cloud has only where it states them. */
export const optional = children.filter((child) => child.optional).map(({ field }) => field);

/** A control plane with such a spec. */
export const cloudOf = (spec: Spec) => ({ ...minimalSample, spec });

/** A spec with services as another one has them. */
export const withServices = (spec: Spec, fields: Iterable<string>, templates = full): Spec => ({
  ...spec,
  ...Object.fromEntries([...fields].map((field) => [field, templates[field] ?? {}])),
});

/** A service that cannot be as it is asked for. */
interface Held {
  readonly condition: string;
  readonly problem: Problem;
}

/** What a control plane holds back. */
export const heldIn = (spec: Spec): Held[] =>
  composeControlPlane(cloudOf(spec), surroundingsOf()).steps.flatMap(({ condition, problem }) =>
    problem === undefined ? [] : [{ condition, problem }],
  );

/**
 * The field that has to be enabled before anything else can be, as the message of a service says that is held.
 *
 * @throws Error when it is held for another reason, or names a field that there is not
 */
export function wantedBy({ condition, problem: { reason, message } }: Held): string {
  const pattern = {
    DependencyDisabled: /spec\.(\w+), which is (?:disabled; enable|absent; state) it/u,
    InUse: /^spec\.(\w+)(?:\.enabled is false| is absent), but /u,
  }[reason as string];
  const field = pattern?.exec(message)?.[1];
  const unknown = [...message.matchAll(/spec\.(\w+)(?:\.(\w+Ref))?/gu)].filter(([, name, reference]) => {
    const child = children.find((one) => one.field === name);
    return child === undefined || (reference !== undefined && !child.has(reference));
  });
  if (field === undefined || unknown.length > 0) throw new Error(`${condition}: ${reason}: ${message}`);
  return field;
}

/**
 * A spec after somebody has done what its conditions say, until none says anything: services are enabled as another spec has them.
 *
 * @throws Error when that does not end
 */
export function mended(spec: Spec, templates?: Spec): Spec {
  let now = spec;
  for (const _ of children) {
    const wanted = new Set(heldIn(now).map(wantedBy));
    if (wanted.size === 0) return now;
    now = withServices(now, wanted, templates);
  }
  throw new Error(
    `still held: ${heldIn(now)
      .map(({ condition }) => condition)
      .join(', ')}`,
  );
}

/** What the API server would refuse of a control plane with such a spec. */
export const refusedOf = (spec: Spec): readonly string[] =>
  validateResource(cloudOf(spec)).map(({ field, message }) => `${field}: ${message}`);

const mistakesBySpec = new Map<string, readonly string[]>();

/** What the operator would refuse of it, and of each of its services, when it composes them. */
export function mistakesOf(spec: Spec): readonly string[] {
  const key = JSON.stringify(Object.entries(spec).sort(([one], [other]) => (one < other ? -1 : 1)));
  const known = mistakesBySpec.get(key);
  if (known !== undefined) return known;
  const mistakes = composedMistakes([cloudOf(spec)]).flatMap(({ field, message, isWarning }) =>
    isWarning === true ? [] : [`${field}: ${message}`],
  );
  mistakesBySpec.set(key, mistakes);
  return mistakes;
}
