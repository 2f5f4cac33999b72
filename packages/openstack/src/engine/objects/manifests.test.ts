import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { apiVersionOf, type KubeObject } from '@openstack-operator/kube';
import { builtinResourceTypes, pruneUnknown, resourceTypeFromCrd } from '@openstack-operator/sandbox/schema';
import { describe, expect, test } from 'vitest';
import { crd } from '../../api/crd.ts';
import { referencesIn } from '../../oslo/references.ts';
import { kinds } from '../../registry/kinds.ts';
import { services } from '../../services/index.ts';
import { composed, objectsOf, resource, samples, surroundings } from '../../testing/compositions.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

const types = new Map(
  [...builtinResourceTypes(), ...kinds.map((api) => resourceTypeFromCrd(crd(api), api.version))].map((type) => [
    `${apiVersionOf(type.kind)} ${type.kind.kind}`,
    type,
  ]),
);

/** What an API server with strict field validation would say of a new object. */
function mistakes(object: KubeObject): string[] {
  const type = types.get(`${object.apiVersion} ${object.kind}`);
  if (type === undefined) return [];
  const copy = structuredClone(object);
  const unknown = pruneUnknown(type.schema, copy).map((field) => `unknown field ${field}`);
  type.prepareForCreate(copy);
  return [...unknown, ...type.validateCreate(copy).map(({ field, detail }) => `${field}: ${detail}`)];
}

test('a misspelt field is found', () => {
  const [desired] = objectsOf(composed(resource(read('placement')), surroundings(read))).filter(
    ({ object }) => object.kind === 'Deployment',
  );
  const broken = structuredClone(desired?.object) as unknown as {
    spec: { template: { spec: Record<string, unknown> } };
  };
  broken.spec.template.spec['enableServiceLink'] = false;
  expect(mistakes(broken as unknown as KubeObject)).toEqual(['unknown field spec.template.spec.enableServiceLink']);
});

test.each(services.map((service) => [service.name, service] as const))(
  '%s: what the schema allows one pod of is left to no autoscaler',
  (_name, { kind, single = () => [] }) => {
    const schema = JSON.stringify(kinds.filter((api) => api.kind === kind.kind).map(crd));
    const [, limited = ''] = /replicas of ([a-z, -]+) is at most 1/.exec(schema) ?? [];
    const sample = samples.find((name) => resource(read(name)).kind === kind.kind) ?? 'mariadb';
    const one = resource(read(sample));
    const deployed = objectsOf(composed(one, surroundings(read))).flatMap(({ object }) =>
      object.kind === 'Deployment' ? [object.metadata.labels?.['app.kubernetes.io/component'] ?? ''] : [],
    );
    const isDeployed = (name: string) => deployed.some((component) => `${component}-`.startsWith(`${name}-`));
    expect(limited.split(', ').filter(isDeployed)).toEqual(single(one.spec ?? {}));
  },
);

describe.each(samples)('%s', (name) => {
  const composition = composed(resource(read(name)), surroundings(read));
  const objects = objectsOf(composition);

  test('every object is valid', () => {
    const found = objects.map(({ object }) => [`${object.kind} ${object.metadata.name}`, mistakes(object)] as const);
    expect(Object.fromEntries(found.filter(([, mistakes]) => mistakes.length > 0))).toEqual({});
  });

  test('names fit, and no object stands twice', () => {
    const names = objects.map(({ object }) => `${object.kind} ${object.metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    const long = objects.filter(({ object: { kind, metadata } }) =>
      ['ConfigMap', 'Secret'].includes(kind) ? (metadata.name ?? '').length > 253 : (metadata.name ?? '').length > 63,
    );
    expect(long).toEqual([]);
  });

  test('no secret and no reference to one stands outside of Secrets', () => {
    const open = objects.filter(
      ({ object }) => object.kind !== 'Secret' && referencesIn(JSON.stringify(object)).length > 0,
    );
    expect(open.map(({ object }) => object.metadata.name)).toEqual([]);
    const literals = objects.flatMap(({ object }) =>
      [...JSON.stringify(object).matchAll(/"name":"([A-Z_]*(?:PASSWORD|SECRET)[A-Z_]*)","value":/g)].map(
        (match) => match[1],
      ),
    );
    expect(literals).toEqual([]);
  });

  test('start scripts are texts that bash understands', () => {
    const scripts = objects.flatMap(({ object }) =>
      Object.entries((object['data'] ?? {}) as Record<string, string>).filter(([name]) => name.endsWith('.sh')),
    );
    for (const [, script] of scripts) execFileSync('bash', ['-n'], { input: script });
  });

  test('the same input gives the same bytes', () => {
    const again = composed(resource(read(name)), surroundings(read));
    expect(JSON.stringify(again)).toBe(JSON.stringify(composition));
  });

  test('every step can be reached: needs are steps of the same resource, in order', () => {
    const seen: string[] = [];
    for (const { condition, needs } of composition.steps) {
      expect(needs.filter((need) => !seen.includes(need))).toEqual([]);
      seen.push(condition);
    }
  });

  test('pods keep to restricted security, but for node agents and what has to become root', () => {
    const templates = objects.flatMap(({ object }) => {
      const spec = (object['spec'] as { template?: { spec?: PodSpec } } | undefined)?.template?.spec;
      return spec === undefined || object.kind === 'DaemonSet' ? [] : [{ name: object.metadata.name, spec }];
    });
    const open = templates.filter(
      ({ spec }) =>
        spec.securityContext?.runAsNonRoot !== true ||
        spec.hostNetwork === true ||
        [...(spec.initContainers ?? []), ...spec.containers].some(
          ({ securityContext: own }) =>
            own?.allowPrivilegeEscalation !== false ||
            own.readOnlyRootFilesystem !== true ||
            own.runAsUser === 0 ||
            own.capabilities?.drop?.includes('ALL') !== true,
        ) ||
        spec.volumes?.some((volume) => 'hostPath' in volume) === true,
    );
    expect(open.map(({ name }) => name)).toEqual(atTheirNode[name] ?? []);
  });
});

/** Pods that are no node agents, and have to do with their node all the same, by sample. */
const atTheirNode: Readonly<Record<string, readonly string[]>> = {
  cinder: ['cinder-backup'],
  cinder_lvm: ['cinder-target-ssd', 'cinder-target-hdd', 'cinder-volume-ssd', 'cinder-volume-hdd'],
  ironic: ['ironic-boot'],
};

interface PodSpec {
  readonly hostNetwork?: boolean;
  readonly securityContext?: { readonly runAsNonRoot?: boolean };
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly object[];
}
interface Container {
  readonly securityContext?: {
    readonly allowPrivilegeEscalation?: boolean;
    readonly readOnlyRootFilesystem?: boolean;
    readonly runAsUser?: number;
    readonly capabilities?: { readonly drop?: readonly string[] };
  };
}
