import type { BroughtObject } from '../../api/brought-objects.ts';
import { referencesIn } from '../../oslo/references.ts';
import type { Desired, DesiredObject, Problem, Step } from '../vocabulary/step.ts';
import type { Surroundings } from '../vocabulary/surroundings.ts';

/**
 * The steps, with a problem where one relies on something that users bring and that is not there: a Secret, a ConfigMap,
 * a key of these, a StorageClass. Found from the objects themselves, so that no field of a kind can be forgotten; the
 * message names the field of the spec that holds the name. What the surroundings do not know is not judged (`render`).
 */
export function withPreconditions(
  steps: readonly Step[],
  brought: readonly BroughtObject[],
  surroundings: Surroundings,
): Step[] {
  return steps.map((step) => {
    if (step.problem !== undefined) return step;
    const problems = step.objects.flatMap((desired) => [
      ...keyProblems(desired, brought, surroundings),
      ...storageProblems(desired, brought, surroundings),
    ]);
    const [first] = problems;
    if (first === undefined) return step;
    const messages = [...new Set(problems.map((problem) => problem.message))];
    const more = messages.length > mostTold ? [`and ${messages.length - mostTold} more`] : [];
    const message = [...messages.slice(0, mostTold), ...more].join('; ');
    return { ...step, problem: { reason: first.reason, message } };
  });
}

/** Problems of a step that its message tells: a condition holds them, and each that waits for it. */
const mostTold = 10;

/** Keys that a message names, of those that an object has. */
const mostNamed = 10;

function keyProblems(desired: Desired, brought: readonly BroughtObject[], surroundings: Surroundings): Problem[] {
  if (!('object' in desired)) return [];
  return readsOf(desired).flatMap(({ kind, name, key, optional }): Problem[] => {
    const field = brought.find((one) => one.kind === kind && one.name === name)?.field;
    // Only what the spec itself names is the user's; the rest is made by us, and awaited.
    if (field === undefined || optional) return [];
    const lacking = surroundings.lacking(kind, name, key);
    if (lacking === undefined) return [];
    if (lacking === 'object')
      return [{ reason: `${kind}Missing`, message: `${field}: ${kind} ${name} does not exist; create it` }];
    const { keys } = lacking;
    const named = [...keys.slice(0, mostNamed), ...(keys.length > mostNamed ? ['...'] : [])];
    const has = keys.length === 0 ? 'is empty' : `has ${named.join(', ')}`;
    return [{ reason: `${kind}KeyMissing`, message: `${field}: ${kind} ${name} has no key ${key}; it ${has}` }];
  });
}

function storageProblems(desired: Desired, brought: readonly BroughtObject[], surroundings: Surroundings): Problem[] {
  if (!('object' in desired)) return [];
  const { kind, spec, metadata } = desired.object;
  const { volumeClaimTemplates = [] } = (spec ?? {}) as { volumeClaimTemplates?: { spec: Claim }[] };
  const claims =
    kind === 'PersistentVolumeClaim' ? [spec as Claim] : volumeClaimTemplates.map((template) => template.spec);
  const storageClasses = claims.length === 0 ? undefined : surroundings.storageClasses();
  if (storageClasses === undefined) return [];
  return claims.flatMap(({ storageClassName }) => {
    if (storageClassName === undefined) {
      if (Object.values(storageClasses).includes(true)) return [];
      const message = `${kind} ${metadata.name}: the cluster has no default StorageClass; mark one as default, or set storageClassName`;
      return [{ reason: 'StorageClassMissing', message }];
    }
    if (Object.hasOwn(storageClasses, storageClassName)) return [];
    const known = Object.keys(storageClasses).sort().join(', ') || 'none';
    const named = brought.find(({ kind: of, name }) => of === 'StorageClass' && name === storageClassName);
    const field = named?.field ?? 'storageClassName';
    return [
      {
        reason: 'StorageClassMissing',
        message: `${field}: StorageClass ${storageClassName} does not exist; the cluster has ${known}`,
      },
    ];
  });
}

interface Claim {
  readonly storageClassName?: string;
}

/** A Secret or ConfigMap that an object reads: one key of it, or the whole. */
interface Read {
  readonly kind: 'Secret' | 'ConfigMap';
  readonly name: string;
  readonly key?: string;
  readonly optional: boolean;
}

/** What an object reads: variables, volumes of Secrets, references in templates. */
function readsOf(desired: DesiredObject): Read[] {
  if (desired.verb === 'resolve') {
    return Object.values((desired.object['stringData'] ?? {}) as Record<string, string>)
      .flatMap(referencesIn)
      .map(({ secret, key }) => ({ kind: 'Secret', name: secret, key, optional: false }));
  }
  const template = (desired.object['spec'] as { template?: { spec?: PodSpec } } | undefined)?.template?.spec;
  if (template === undefined) return [];
  const containers = [...(template.initContainers ?? []), ...template.containers];
  const variables = containers.flatMap(({ env = [] }) => variableReads(env));
  const volumes = (template.volumes ?? []).flatMap(({ name, secret, configMap }): Read[] => {
    if (configMap !== undefined) return [{ kind: 'ConfigMap', name: configMap.name, optional: false }];
    if (secret === undefined) return [];
    const keys = containers.flatMap(({ volumeMounts = [] }) =>
      volumeMounts.flatMap((mount) => (mount.name === name ? [mount.subPath] : [])),
    );
    const whole = { kind: 'Secret', name: secret.secretName, optional: false } as const;
    if (secret.items !== undefined) return secret.items.map(({ key }) => ({ ...whole, key }));
    return keys.map((key) => ({ ...whole, ...(key === undefined ? {} : { key }) }));
  });
  return [...variables, ...volumes];
}

/** The keys that environment variables (core/v1 EnvVar) are taken from. */
export function variableReads(env: readonly EnvVar[]): Read[] {
  return env.flatMap(({ valueFrom = {} }) => {
    const { secretKeyRef, configMapKeyRef } = valueFrom;
    const read = (kind: Read['kind'], ref: KeyRef | undefined): Read[] =>
      ref === undefined ? [] : [{ kind, name: ref.name, key: ref.key, optional: ref.optional === true }];
    return [...read('Secret', secretKeyRef), ...read('ConfigMap', configMapKeyRef)];
  });
}

/** What counts here of core/v1's EnvVar. */
export interface EnvVar {
  readonly valueFrom?: { readonly secretKeyRef?: KeyRef; readonly configMapKeyRef?: KeyRef };
}
interface KeyRef {
  readonly name: string;
  readonly key: string;
  readonly optional?: boolean;
}
interface PodSpec {
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly {
    readonly name: string;
    readonly secret?: { readonly secretName: string; readonly items?: readonly { readonly key: string }[] };
    readonly configMap?: { readonly name: string };
  }[];
}
interface Container {
  readonly env?: readonly EnvVar[];
  readonly volumeMounts?: readonly { readonly name: string; readonly subPath?: string }[];
}
