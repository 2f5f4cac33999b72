import { describe, expect, test } from 'vitest';
import { OpenStackControlPlane } from '../control-plane/kind.ts';
import { kindOf, kinds } from '../registry/kinds.ts';
import { crd, objectSchema } from './crd.ts';
import type { OpenApiSchema } from './schema.ts';

/** Every schema below a spec or a status, with its path. */
function* walk(schema: OpenApiSchema, path: string): Generator<readonly [string, OpenApiSchema]> {
  yield [path, schema];
  for (const [name, child] of Object.entries(schema.properties ?? {})) yield* walk(child, `${path}.${name}`);
  if (schema.additionalProperties !== undefined) yield* walk(schema.additionalProperties, `${path}{}`);
  if (schema.items !== undefined) yield* walk(schema.items, `${path}[]`);
}

describe.each(kinds.map((kind) => [kind.kind, kind] as const))('%s', (_name, api) => {
  const { spec = {}, status = {} } = objectSchema(api).properties ?? {};
  const all = [...walk(spec, 'spec'), ...walk(status, 'status')];

  test('every field says what it is', () => {
    // Below a control plane the shapes that services share are documented by the child's own CRD.
    const known = /\.(tolerations|bridgeMappings|ceph|nodeSelector|config)\b./;
    const silent = all.filter(
      ([path, { description }]) => !description && !(api === OpenStackControlPlane && known.test(path)),
    );
    expect(silent.map(([path]) => path)).toEqual([]);
  });

  test('every list, map and text has a bound: the cost of CEL rules is estimated from it', () => {
    const unbounded = all.filter(
      ([, { type, maxItems, maxProperties, maxLength, enum: values, additionalProperties }]) =>
        (type === 'array' && maxItems === undefined) ||
        (additionalProperties !== undefined && !maxProperties) ||
        (type === 'string' && maxLength === undefined && values === undefined),
    );
    expect(unbounded.map(([path]) => path)).toEqual([]);
  });

  test('every column of its own is of a field', () => {
    const paths = all.map(([path]) => `.${path.replaceAll('[]', '[0]')}`);
    expect(api.columns.map(({ jsonPath }) => jsonPath).filter((path) => !paths.includes(path))).toEqual([]);
  });

  test('kubectl get shows phase, readiness, message and age', () => {
    const [served] = (crd(api)['spec'] as { versions: { additionalPrinterColumns: { name: string }[] }[] }).versions;
    const names = served?.additionalPrinterColumns.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['Phase', 'Ready', 'Message', 'Age']));
    expect(names?.at(-1)).toBe('Age');
  });
});

test('only what can never change is written into objects as a default', () => {
  const defaults = kinds.flatMap((api) =>
    [...walk(api.spec.schema, '')]
      .filter(([, schema]) => schema.default !== undefined)
      .map(([path, schema]) => `${api.kind}${path}: ${String(schema.default)}`),
  );
  expect(new Set(defaults.filter((one) => /\.region:/.test(one)).map((one) => one.split(': ')[1]))).toEqual(
    new Set(['RegionOne']),
  );
  expect(defaults.filter((one) => !/\.region:/.test(one))).toEqual([
    'OpenStackControlPlane.storageBackend: pvc',
    'OpenStackControlPlane.networkBackend: ovn',
    'OpenStackControlPlane.publicDomain: openstack.local',
    'MariaDB.galeraEnabled: false',
    'RabbitMQ.clusterEnabled: false',
    'OVNNetwork.enableRaftClustering: false',
    'OVNNetwork.sharedWithCNI: false',
    'CephStorage.mode: external',
    'Keystone.fernetKeyRotationInterval: 24',
    'Glance.storageType: pvc',
    'Neutron.mechanism: ovn',
    'Neutron.tunnelType: geneve',
    'Nova.ephemeralStorage: local',
    'Magnum.certificateStore: database',
  ]);
});

test('names and short names are told apart', () => {
  const names = kinds.flatMap(({ plural, singular, shortNames }) => [...new Set([plural, singular]), ...shortNames]);
  expect(new Set(names).size).toBe(names.length);
});

test('the kind of an object is found by its names', () => {
  expect(kindOf({ apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'Nova' }).plural).toBe('novas');
  expect(kindOf({ apiVersion: 'apps/v1', kind: 'Deployment' }).plural).toBe('deployments');
  expect(() => kindOf({ apiVersion: 'v2', kind: 'Pod' })).toThrow('no Kind is known for v2 Pod');
});
