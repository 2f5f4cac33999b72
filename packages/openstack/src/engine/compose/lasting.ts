import type { StoredObject } from '@openstack-operator/kube';
import { labelsOf, lastingSuffix, retainedFor, retainedForLabel } from '../names/names.ts';
import type { Context } from '../vocabulary/context.ts';
import type { Service, Staying } from '../vocabulary/service.ts';
import type { Desired } from '../vocabulary/step.ts';
import type { ReferenceField, Surroundings } from '../vocabulary/surroundings.ts';
import type { SpecFindings } from './spec-findings.ts';

/** Fields that the status remembers (a bound of the CRDs). */
const mostRemembered = 512;

/** What fields were, by the field: what was stated first stays. Beyond the bound the oldest of what is not stated any more goes. */
function lastingOf(service: Service, context: Context): Readonly<Record<string, string>> {
  const before = context.surroundings.lasting;
  const stated = statedBy(service, context);
  const now = Object.entries(stated).map(([field, is]) => [field, before[field] ?? is] as const);
  const gone = Object.entries(before).filter(([field]) => !Object.hasOwn(stated, field));
  return Object.fromEntries([...now, ...gone].slice(0, mostRemembered));
}

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

/** Fields that refer to what says no more, or not yet, what data are found by there: it may be another one. */
function unknownOf(service: Service, context: Context): string[] {
  return [...(service.providers ?? [])].flatMap(([field, { offers }]) => {
    const { lasting } = offers?.[field] ?? {};
    const found = lasting && context.reference(field);
    const isUnknown = found && keepsIn(service, context, field) && lasting(found) === undefined;
    return isUnknown ? [`spec.${field}`] : [];
  });
}

/** Whether it keeps anything there: a field that is needed by some specs alone may be stated for nothing. */
function keepsIn({ dependsOn }: Service, { spec }: Context, field: ReferenceField): boolean {
  const moment = dependsOn[field];
  return typeof moment !== 'object' || moment.stated(spec);
}

/** `status.lasting`. */
export function lastingStatus(
  service: Service,
  context: Context,
): { readonly lasting?: Readonly<Record<string, string>> } {
  const lasting = lastingOf(service, context);
  return service.lasting === undefined && Object.keys(lasting).length === 0 ? {} : { lasting };
}

/** A status without what is forgotten once a step is done. */
export function withoutForgotten(
  status: Readonly<Record<string, unknown>>,
  staying: Staying | undefined,
  done: ReadonlySet<string>,
): Readonly<Record<string, unknown>> {
  if (staying === undefined || !done.has(staying.step)) return status;
  const { lasting = {} } = status as { readonly lasting?: Readonly<Record<string, string>> };
  const kept = Object.entries(lasting).filter(([field]) => !staying.fields.includes(field));
  return { ...status, lasting: Object.fromEntries(kept) };
}

/** Key of the ConfigMap. */
const file = 'lasting.json';

/** One field in it. */
interface Remembered {
  readonly is: string;
  readonly entry?: unknown;
}

/**
 * The ConfigMap `<name>-lasting`: the same for a resource of this name that comes later, and entries of the spec. It
 * outlives the resource as its data do. There is none where nothing was ever stated.
 */
export function lastingObjects(service: Service, context: Context): Desired[] {
  const lasting = lastingOf(service, context);
  const { surroundings, resource, spec } = context;
  if (Object.keys(lasting).length === 0 && Object.keys(surroundings.lasting).length === 0) return [];
  const entries = { ...surroundings.remembered, ...service.remembers?.(context) };
  const content = Object.entries(lasting)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([field, is]): [string, Remembered] => [
      field,
      { is, ...(entries[field] === undefined ? {} : { entry: entries[field] }) },
    ]);
  const retained = spec.deletionPolicy !== 'Delete';
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: context.named(lastingSuffix),
      namespace: context.namespace,
      labels: {
        ...labelsOf(service.name, context.name),
        ...(retained ? { [retainedForLabel]: retainedFor(resource) } : {}),
      },
    },
    data: { [file]: `${JSON.stringify(Object.fromEntries(content), undefined, 2)}\n` },
  };
  return [{ verb: 'apply', object, ...(retained ? { retained } : {}) }];
}

/**
 * What is remembered of a resource: its status says it, and where it has none yet, such as after it was deleted and made
 * again, the ConfigMap that outlives it. Entries are in the ConfigMap alone.
 */
export function rememberedIn(
  status: Readonly<Record<string, string>> | undefined,
  configMap: StoredObject | undefined,
): Pick<Surroundings, 'lasting' | 'remembered'> {
  const content = Object.entries(contentOf(configMap));
  const lasting = status ?? Object.fromEntries(content.map(([field, { is }]) => [field, is]));
  const entries = content.flatMap(([field, { entry }]) =>
    entry === undefined || lasting[field] === undefined ? [] : [[field, entry] as const],
  );
  return { lasting, remembered: Object.fromEntries(entries) };
}

/** Somebody may have written something else into it: then it says nothing, and is written anew. */
function contentOf(configMap: StoredObject | undefined): Readonly<Record<string, Remembered>> {
  const { [file]: text = '{}' } = (configMap?.['data'] ?? {}) as Readonly<Record<string, string>>;
  try {
    const content = JSON.parse(text) as Readonly<Record<string, Partial<Remembered> | null>> | null;
    const valid = Object.entries(content ?? {}).filter(([, one]) => typeof one?.is === 'string');
    return Object.fromEntries(valid) as Readonly<Record<string, Remembered>>;
  } catch {
    return {};
  }
}

/** Fields by which data were found, and that say something else now. */
export function lastingFindings(service: Service, context: Context): SpecFindings {
  const before = context.surroundings.lasting;
  const problems = Object.entries(statedBy(service, context)).flatMap(([field, is]) => {
    const was = before[field];
    if (was === undefined || was === is) return [];
    const wayOut = service.wayOut?.(field);
    const message = `${field}: it was ${was} before (status.lasting, ConfigMap ${context.named(lastingSuffix)}), and is ${is} now: data that are found by it are out of reach; state what it was, or another name${wayOut === undefined ? '' : `, ${wayOut}`}`;
    return [{ reason: 'SpecRefused', message } as const];
  });
  const unknown = unknownOf(service, context).flatMap((field) => {
    const was = before[field];
    const message = `${field}: it was ${was} before (status.lasting, ConfigMap ${context.named(lastingSuffix)}), and has not said yet what it is now: nothing is changed until it has`;
    return was === undefined ? [] : [{ reason: 'SpecRefused', message } as const];
  });
  return { problems: [...problems, ...unknown] };
}
