import type { Context } from '../engine/vocabulary/context.ts';
import type { Counting, Scheduling } from '../engine/vocabulary/counting.ts';
import type { Staying } from '../engine/vocabulary/service.ts';
import { type Backend, type BackendWords, backendsOf, hostOf, pathOf } from './backends.ts';

/**
 * What is remembered of backends. What users keep is recorded under `host@backend#pool`, so that a name stays what it was.
 * One that is stated no more gets nothing new, and keeps its process, made from its entry as it was stated last, until
 * nothing lies in it; then it is forgotten.
 */

/** How a service counts what lies in its backends, and keeps new things away from one. */
export interface BackendCounting {
  readonly counts: readonly Counting[];
  readonly scheduling: Scheduling;
}

type Stating<B> = Context & { readonly spec: { readonly backends?: readonly B[] } };

/** Why a process of a backend is disabled: by these words its own service is known again. */
const reason = 'openstack-operator: spec.backends has no such backend any more';

/** What a backend is: a word for what keeps its data, and where in that they lie. */
interface Place {
  readonly type: string;
  readonly place: string | undefined;
  /** What else stays while anything lies there, by the field of the backend: others find it by that. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** What each backend was, by its field, and what fields of it that stay were. */
export function lastingBackends<B extends Backend>(
  words: BackendWords,
  context: Stating<B>,
  placeOf: (backend: B) => Place,
): Record<string, string> {
  const stated = backendsOf(context.spec).flatMap((backend) => {
    const { name } = backend;
    const { type, place, fields = {} } = placeOf(backend);
    const where = place === undefined ? '' : `#${place}`;
    return [
      [pathOf(name), `${type} ${hostOf(context, backend)}@${name}${where}`],
      ...Object.entries(fields).map(([field, is]) => [`${pathOf(name)}.${field}`, is]),
    ];
  });
  const disabled = removed(context).map(({ host }) => [processOf(words, host), 'disabled']);
  return Object.fromEntries([...stated, ...disabled]) as Record<string, string>;
}

/** The way out for who means another place: what a backend was is forgotten once nothing lies in it. */
export const backendWayOut = (field: string): string | undefined =>
  field.startsWith('spec.backends[')
    ? 'or take the backend away, wait until RemovedBackendsEmpty is True, and add it as it is to be'
    : undefined;

/** Their entries, by the same field. */
export function rememberedBackends<B extends Backend>({ spec }: Stating<B>): Record<string, B> {
  return Object.fromEntries(backendsOf(spec).map((backend) => [pathOf(backend.name), backend]));
}

/** The backends that have a process: those that are stated, and those that are not forgotten yet. */
export function servedBackends<B extends Backend>(context: Stating<B>): readonly B[] {
  return [...backendsOf(context.spec), ...removedBackends(context)];
}

/** Those of them that are stated no more. */
export function removedBackends<B extends Backend>(context: Stating<B>): readonly B[] {
  const { remembered } = context.surroundings;
  return removed(context).flatMap(({ field, name }) => {
    const entry = remembered[field];
    return isTrusted(entry, name) ? [entry as B] : [];
  });
}

/**
 * Whether a process may be made of an entry. Who may write ConfigMaps may have written it: it must be the entry of that
 * backend, and brings no process that may become root, which is left as it is.
 */
function isTrusted(entry: unknown, name: string): boolean {
  const { name: own, type, rootHelpers } = (entry ?? {}) as Readonly<Record<string, unknown>>;
  return own === name && typeof type === 'string' && rootHelpers !== true;
}

/** What stays until it is counted, and until the process of what is stated again is enabled. */
export function stayingBackends<B extends Backend>(
  words: BackendWords,
  context: Stating<B>,
  { counts, scheduling }: BackendCounting,
): Staying | undefined {
  const { lasting, remembered } = context.surroundings;
  const gone = removed(context);
  const back = backendsOf(context.spec)
    .map((backend) => `${hostOf(context, backend)}@${backend.name}`)
    .filter((host) => lasting[processOf(words, host)] !== undefined);
  if (gone.length === 0 && back.length === 0) return undefined;
  const unknown = gone.filter(({ field, name }) => !isTrusted(remembered[field], name));
  return {
    step: 'RemovedBackendsEmpty',
    plan: {
      counts,
      backends: { scheduling, binary: binaryOf(words), reason, gone: gone.map(({ host }) => host), back },
    },
    fields: [...gone.flatMap(({ field }) => fieldsOf(field, lasting)), ...back.map((host) => processOf(words, host))],
    components: [words.component, ...(words.beside === undefined ? [] : [words.beside])].flatMap((component) =>
      unknown.map(({ name }) => `${component}-${name}`),
    ),
  };
}

/** The field of a backend, and those below it that are remembered. */
const fieldsOf = (field: string, lasting: Readonly<Record<string, string>>): string[] => [
  field,
  ...Object.keys(lasting).filter((one) => one.startsWith(`${field}.`)),
];

const binaryOf = ({ project, component }: BackendWords): string => `${project}-${component}`;

/** Field under which it is remembered that a process was disabled. */
const processOf = (words: BackendWords, host: string): string => `${binaryOf(words)} ${host}`;

/** Backends that are remembered and not stated, each with what is recorded of it as `host@backend`. */
function removed<B extends Backend>({ spec, surroundings }: Stating<B>) {
  const stated = new Set(backendsOf(spec).map(({ name }) => pathOf(name)));
  return Object.entries(surroundings.lasting)
    .flatMap(([field, is]) => {
      const [, name] = /^spec\.backends\[name=(.*)\]$/.exec(field) ?? [];
      if (name === undefined || stated.has(field)) return [];
      const end = is.lastIndexOf(`@${name}`);
      return end === -1 ? [] : [{ field, name, host: is.slice(is.indexOf(' ') + 1, end + 1 + name.length) }];
    })
    .sort((one, other) => (one.field < other.field ? -1 : 1));
}
