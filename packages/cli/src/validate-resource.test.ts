import type { KubeObject } from '@openstack-operator/kube';
import { crd, kinds, type OpenApiSchema, withWords } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { minimalControlPlane } from './minimal-control-plane.ts';

import { readResources } from './read-resources.ts';
import { validateResource } from './validate-resource.ts';

const controlPlane = (spec: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  ...minimalControlPlane,
  spec,
  ...more,
});

test('the demo brings up the minimal sample', () => {
  expect([minimalControlPlane]).toEqual(readResources(['config/samples/controlplane_minimal.yaml']));
});

test.each([
  [
    'a mistyped field',
    { keystone: { replcas: 2 } },
    'spec.keystone.replcas',
    'unknown field "replcas"; did you mean replicas?',
  ],
  [
    'a value out of bounds',
    { mariadb: { replicas: -1 } },
    'spec.mariadb.replicas',
    '-1: should be greater than or equal to 0',
  ],
  [
    'a value that is not among the choices',
    { nova: { virtType: 'xen' } },
    'spec.nova.virtType',
    '"xen": supported values: "kvm", "qemu"',
  ],
  [
    'a wrong type',
    { nova: { computeReplicas: 'two' } },
    'spec.nova.computeReplicas',
    'must be of type integer, not string',
  ],
  [
    'a registry with a scheme',
    { imageRegistry: 'https://registry.example.com/openstack' },
    'spec.imageRegistry',
    `"https://registry.example.com/openstack": expected host and path such as registry.example.com/openstack, without https:// and without '/' at the end`,
  ],
  [
    'a size with a blank and a B',
    { mariadb: { storage: { size: '10 GB' } } },
    'spec.mariadb.storage.size',
    '"10 GB": expected a size such as 10Gi: the units are k, M, G, T and Ki, Mi, Gi, Ti, without B and without blanks',
  ],
  [
    'a domain with a scheme',
    { publicDomain: 'https://cloud.example.com' },
    'spec.publicDomain',
    `"https://cloud.example.com": expected a name in lower case such as cloud.example.com, without https://`,
  ],
  [
    'memory with a B',
    { keystone: { components: { api: { resources: { limits: { memory: '8GB' } } } } } },
    'spec.keystone.components.api.resources.limits.memory',
    '"8GB": expected a quantity such as 500m, 2 or 4Gi: the units are k, M, G, T and Ki, Mi, Gi, Ti, without B',
  ],
  [
    'a schedule in words',
    { nova: { housekeeping: { schedule: 'every night' } } },
    'spec.nova.housekeeping.schedule',
    '"every night": expected five fields of cron, such as 30 2 * * *: minute, hour, day of the month, month, day of the week',
  ],
  [
    'a number out of the bounds of cron',
    { nova: { housekeeping: { schedule: '61 * * * *' } } },
    'spec.nova.housekeeping.schedule',
    '"61 * * * *": minute 61 is above 59; expected five fields of cron, such as 30 2 * * *: minute, hour, day of the month, month, day of the week',
  ],
  [
    'an image that no program of the service has',
    { keystone: { images: { apo: 'x' } } },
    'spec.keystone.images',
    'unknown name "apo"; did you mean api?',
  ],
  [
    'a component that the service does not have',
    { placement: { components: { scheduler: { replicas: 2 } } } },
    'spec.placement.components',
    'unknown name "scheduler"; the known names are api',
  ],
  [
    'an item that stands twice in a list',
    {
      neutron: {
        vlanRanges: [
          { physicalNetwork: 'physnet1', minimum: 1, maximum: 2 },
          { physicalNetwork: 'physnet1', minimum: 1, maximum: 2 },
        ],
      },
    },
    'spec.neutron.vlanRanges[1]',
    'the same as spec.neutron.vlanRanges[0]: remove one of the two',
  ],
  [
    'a network of nodes that stands twice',
    { nodeNetworks: ['10.0.0.0/24', '10.0.0.0/24'] },
    'spec.nodeNetworks[1]',
    '"10.0.0.0/24": duplicate of another item',
  ],
  [
    'a service that has to be told something',
    { venus: {} },
    'spec.venus.elasticsearchURL',
    'elasticsearchURL is required, unless enabled is false: kubectl explain venus.spec.elasticsearchURL',
  ],
])('%s', (_title, spec, field, message) => {
  expect(validateResource(controlPlane(spec))).toEqual([{ field, message }]);
});

test('several mistakes are all said', () => {
  const mistakes = validateResource(controlPlane({ mariadb: { replicas: -1 }, nova: { virtType: 'xen' }, glnce: {} }));
  expect(mistakes.map(({ field }) => field)).toEqual(['spec.glnce', 'spec.mariadb.replicas', 'spec.nova.virtType']);
});

test('two items of one name', () => {
  const group = { name: 'a', nodeSelector: { role: 'compute' } };
  expect(validateResource(controlPlane({ nova: { nodeGroups: [group, group] } }))).toEqual([
    { field: 'spec.nova.nodeGroups[1]', message: '{"name":"a"}: duplicate of another item' },
  ]);
});

test('two variables of one name', () => {
  const env = [
    { name: 'A', value: 'x' },
    { name: 'A', value: 'y' },
  ];
  expect(validateResource(controlPlane({ keystone: { components: { api: { env } } } }))).toEqual([
    { field: 'spec.keystone.components[api].env[1]', message: '{"name":"A"}: duplicate of another item' },
  ]);
});

test.each(kinds.map((api) => [api.kind, api] as const))(
  'no field of %s is answered by a pattern alone',
  (_kind, api) => {
    const bare = (schema: OpenApiSchema, path: string): string[] => [
      ...(schema.pattern !== undefined && !withWords(`should match '${schema.pattern}'`).startsWith('expected')
        ? [path]
        : []),
      ...Object.entries(schema.properties ?? {}).flatMap(([name, child]) => bare(child, `${path}.${name}`)),
      ...[schema.items, schema.additionalProperties].flatMap((child) => (child ? bare(child, `${path}[]`) : [])),
    ];
    const { versions } = crd(api)['spec'] as { versions: { schema: { openAPIV3Schema: OpenApiSchema } }[] };
    expect(versions.flatMap(({ schema }) => bare(schema.openAPIV3Schema, ''))).toEqual([]);
  },
);

test('an unknown kind and an unknown version', () => {
  expect(validateResource({ ...minimalControlPlane, kind: 'OpenstackControlPlan' })[0]?.message).toContain(
    'did you mean OpenStackControlPlane?',
  );
  expect(validateResource({ ...minimalControlPlane, apiVersion: 'openstack.k8s.io/v1' })[0]).toEqual({
    field: 'apiVersion',
    message: '"openstack.k8s.io/v1" is not known; it has to be openstack.k8s.io/v1alpha1',
  });
});

test('a file that cannot be read, or is no object, says so', () => {
  expect(() => readResources(['/does/not/exist.yaml'])).toThrow('/does/not/exist.yaml cannot be read');
  expect(() => readResources(['package.json'])).toThrow(
    'package.json: line 1: apiVersion: this is not a Kubernetes object',
  );
});

test.each([
  ['labels', 'a text', 'must be of type object, not string'],
  ['ownerReferences', 3, 'must be of type array, not number'],
  ['finalizers', {}, 'must be of type array, not object'],
  ['name', 3, 'must be of type string, not number'],
  ['generation', 'x', 'must be of type integer, not string'],
  ['deletionTimestamp', 'x', '"x": parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'],
])('metadata.%s that cannot be read', (field, value, message) => {
  const metadata = { name: 'c', [field]: value };
  expect(validateResource({ ...controlPlane({}), metadata })).toEqual([{ field: `metadata.${field}`, message }]);
});

test('labels and annotations that are no texts are told one by one', () => {
  const metadata = { name: 'c', labels: { a: true, b: 'yes' }, annotations: { c: 1 } };
  expect(validateResource({ ...controlPlane({}), metadata } as unknown as KubeObject)).toEqual([
    { field: 'metadata.labels[a]', message: 'expected a text, not true: write it in quotes' },
    { field: 'metadata.annotations[c]', message: 'expected a text, not 1: write it in quotes' },
  ]);
});

test('of many unknown fields the first are told', () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`f${i}`, 1]));
  const mistakes = validateResource(controlPlane({ keystone: many }));
  expect(mistakes).toHaveLength(21);
  expect(mistakes.at(-1)).toEqual({ field: 'spec.keystone', message: '980 more unknown fields' });
});

test('a resource that etcd would not take is told, with the field that is to be shortened', () => {
  const config = { 'nova.conf': { DEFAULT: { host: 'x'.repeat(1.5 * 2 ** 20) } } };
  expect(validateResource(controlPlane({ nova: { config } }))).toEqual([
    {
      field: 'spec.nova.config["nova.conf"].DEFAULT.host',
      message: 'the resource has 1.51 MiB as JSON, most of it here; etcd takes objects of at most 1.5 MiB: shorten it',
    },
  ]);
});
