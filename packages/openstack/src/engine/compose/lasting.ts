import type { KubeObject } from '@openstack-operator/kube';
import { labelsOf, retainedFor, retainedForLabel } from '../names/names.ts';
import type { Context } from '../vocabulary/context.ts';
import type { Service } from '../vocabulary/service.ts';
import type { Desired } from '../vocabulary/step.ts';
import type { ReferenceField } from '../vocabulary/surroundings.ts';
import type { SpecFindings } from './spec-findings.ts';

/** Fields that the status shows. */
const mostShown = 64;

const key = 'fields.json';

/** Name of the ConfigMap that remembers what `Service.lasting` says; it outlives its resource as volumes do. */
export const lastingName = (name: string): string => `${name}-lasting`;

/** What was stated first, by field, stays; what is not stated any more is remembered all the same. */
const remembered = (service: Service, context: Context): Readonly<Record<string, string>> => {
  const before = context.surroundings.lasting;
  return { ...statedBy(service, context), ...before };
};

/** What the service's own fields say, and by what its data are found in what it refers to. */
function statedBy(service: Service, context: Context): Readonly<Record<string, string>> {
  const referred = [...(service.providers ?? [])].flatMap(([field, { offers }]) => {
    const { lasting } = offers?.[field] ?? {};
    const found = lasting && context.reference(field);
    const is = found && keepsIn(service, context, field) ? lasting(found) : undefined;
    return is === undefined ? [] : [[`spec.${field}`, is] as const];
  });
  return { ...Object.fromEntries(referred), ...service.lasting?.(context) };
}

/** Whether it keeps anything there: a field that is needed by some specs alone may be stated for nothing. */
function keepsIn({ dependsOn }: Service, { spec }: Context, field: ReferenceField): boolean {
  const moment = dependsOn[field];
  return typeof moment !== 'object' || moment.stated(spec);
}

/** What becomes of `status.lasting`: what is remembered, of a very long memory a part. */
export function lastingStatus(
  service: Service,
  context: Context,
): { readonly lasting?: Readonly<Record<string, string>> } {
  const all = remembered(service, context);
  if (service.lasting === undefined && Object.keys(all).length === 0) return {};
  const stated = Object.keys(statedBy(service, context));
  const others = Object.keys(all).filter((field) => !stated.includes(field));
  const shown = [...stated, ...others].slice(0, mostShown);
  return { lasting: Object.fromEntries(shown.map((field) => [field, all[field] ?? ''])) };
}

/** The ConfigMap that remembers, where there is something to. */
export function lastingObjects(service: Service, context: Context): readonly Desired[] {
  const fields = remembered(service, context);
  if (Object.keys(fields).length === 0) return [];
  const retained = context.spec.deletionPolicy !== 'Delete';
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: lastingName(context.name),
      namespace: context.namespace,
      labels: {
        ...labelsOf(service.name, context.name),
        ...(retained ? { [retainedForLabel]: retainedFor(context.resource) } : {}),
      },
    },
    data: { [key]: `${JSON.stringify(sorted(fields), undefined, 2)}\n` },
  };
  return [{ verb: 'apply', object, ...(retained ? { retained } : {}) }];
}

/** What such a ConfigMap remembers; undefined where it cannot be read, and is written anew from the status. */
export function lastingIn(configMap: KubeObject): Readonly<Record<string, string>> | undefined {
  const { [key]: text = '' } = (configMap['data'] ?? {}) as Record<string, string>;
  try {
    const fields: unknown = JSON.parse(text);
    if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return undefined;
    return Object.fromEntries(Object.entries(fields).map(([field, is]) => [field, String(is)]));
  } catch {
    return undefined;
  }
}

const sorted = (fields: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Fields by which data were found, and that say something else now. */
export function lastingFindings(service: Service, context: Context): SpecFindings {
  const before = context.surroundings.lasting;
  const memory = `ConfigMap ${lastingName(context.name)}`;
  const problems = Object.entries(statedBy(service, context)).flatMap(([field, is]) => {
    const was = before[field];
    if (was === undefined || was === is) return [];
    const message = `${field}: it was ${was} before (${memory}), and is ${is} now: data that are found by it are out of reach; state what it was, or another name; where nothing was ever kept, take the entry out of the ConfigMap`;
    return [{ reason: 'SpecRefused', message } as const];
  });
  return { problems };
}
