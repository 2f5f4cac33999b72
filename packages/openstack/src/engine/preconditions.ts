import { referencesIn } from '../oslo/references.ts';
import type { Desired, DesiredObject, Problem, Step } from './step.ts';
import type { Surroundings } from './surroundings.ts';

/**
 * The steps, with a problem where one relies on something that users bring and that is not there: a Secret, a key of
 * it, a StorageClass. Found from the objects themselves, so that no field of a kind can be forgotten; the message names
 * the field of the spec that holds the name. What the surroundings do not know is not judged (`render`).
 */
export function withPreconditions(steps: readonly Step[], spec: unknown, surroundings: Surroundings): Step[] {
  const fields = fieldsByValue(spec);
  return steps.map((step) => {
    if (step.problem !== undefined) return step;
    const problems = step.objects.flatMap((desired) => [
      ...secretProblems(desired, fields, surroundings),
      ...storageProblems(desired, fields, surroundings),
    ]);
    const [first] = problems;
    if (first === undefined) return step;
    const message = [...new Set(problems.map((problem) => problem.message))].join('; ');
    return { ...step, problem: { reason: first.reason, message } };
  });
}

function secretProblems(
  desired: Desired,
  fields: ReadonlyMap<string, string>,
  { secretKeys }: Surroundings,
): Problem[] {
  if (secretKeys === undefined || !('object' in desired)) return [];
  return secretsIn(desired).flatMap(({ secret, key }): Problem[] => {
    const field = fields.get(secret);
    // Only what the spec itself names is the user's; the rest is made by us, and awaited.
    if (field === undefined) return [];
    const keys = secretKeys[secret];
    if (keys === undefined)
      return [{ reason: 'SecretMissing', message: `${field}: Secret ${secret} does not exist; create it` }];
    if (key === undefined || keys.includes(key)) return [];
    const has = keys.length === 0 ? 'is empty' : `has ${keys.join(', ')}`;
    return [{ reason: 'SecretKeyMissing', message: `${field}: Secret ${secret} has no key ${key}; it ${has}` }];
  });
}

function storageProblems(
  desired: Desired,
  fields: ReadonlyMap<string, string>,
  { storageClasses }: Surroundings,
): Problem[] {
  if (storageClasses === undefined || !('object' in desired)) return [];
  const { kind, spec, metadata } = desired.object;
  const { volumeClaimTemplates = [] } = (spec ?? {}) as { volumeClaimTemplates?: { spec: Claim }[] };
  const claims =
    kind === 'PersistentVolumeClaim' ? [spec as Claim] : volumeClaimTemplates.map((template) => template.spec);
  return claims.flatMap(({ storageClassName }) => {
    if (storageClassName === undefined) {
      if (Object.values(storageClasses).includes(true)) return [];
      const message = `${kind} ${metadata.name}: the cluster has no default StorageClass; mark one as default, or set storageClassName`;
      return [{ reason: 'StorageClassMissing', message }];
    }
    if (storageClassName in storageClasses) return [];
    const known = Object.keys(storageClasses).sort().join(', ') || 'none';
    const field = fields.get(storageClassName) ?? 'storageClassName';
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

/** Texts of the spec -> the path of the field that holds them. */
function fieldsByValue(spec: unknown): Map<string, string> {
  const fields = new Map<string, string>();
  const visit = (value: unknown, path: string): void => {
    if (typeof value === 'string') {
      if (!fields.has(value)) fields.set(value, path);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value))
        visit(inner, Array.isArray(value) ? `${path}[${name}]` : `${path}.${name}`);
    }
  };
  visit(spec, 'spec');
  return fields;
}

/** The Secrets and keys that an object reads: variables, volumes, references in templates. */
function secretsIn(desired: DesiredObject): { secret: string; key?: string }[] {
  if (desired.verb === 'resolve') {
    return Object.values((desired.object['stringData'] ?? {}) as Record<string, string>).flatMap(referencesIn);
  }
  const template = (desired.object['spec'] as { template?: { spec?: PodSpec } } | undefined)?.template?.spec;
  if (template === undefined) return [];
  const containers = [...(template.initContainers ?? []), ...template.containers];
  const variables = containers.flatMap(({ env = [] }) =>
    env.flatMap(({ valueFrom }) =>
      valueFrom?.secretKeyRef === undefined
        ? []
        : [{ secret: valueFrom.secretKeyRef.name, key: valueFrom.secretKeyRef.key }],
    ),
  );
  const volumes = (template.volumes ?? []).flatMap(({ name, secret }) => {
    if (secret === undefined) return [];
    const keys = containers.flatMap(({ volumeMounts = [] }) =>
      volumeMounts.flatMap((mount) => (mount.name === name ? [mount.subPath] : [])),
    );
    return keys.map((key) => ({ secret: secret.secretName, ...(key === undefined ? {} : { key }) }));
  });
  return [...variables, ...volumes];
}

interface PodSpec {
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly { readonly name: string; readonly secret?: { readonly secretName: string } }[];
}
interface Container {
  readonly env?: readonly {
    readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string; readonly key: string } };
  }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly subPath?: string }[];
}
