import { expect, test } from 'vitest';
import { minimalControlPlane } from './minimal-control-plane.ts';

import { readResources } from './read-resources.ts';
import { validateResource } from './validate.ts';

const controlPlane = (spec: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  ...minimalControlPlane,
  spec,
  ...more,
});

test('the demo brings up the minimal sample', () => {
  expect([minimalControlPlane]).toEqual(readResources('config/samples/controlplane_minimal.yaml'));
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
    expect.stringContaining('"https://registry.example.com/openstack": should match'),
  ],
  [
    'a service that is not offered',
    { heat: {} },
    'spec.heat',
    'heat is not offered by this version of the operator; remove spec.heat or set spec.heat.enabled to false',
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
  expect(() => readResources('/does/not/exist.yaml')).toThrow('/does/not/exist.yaml cannot be read');
  expect(() => readResources('package.json')).toThrow(
    'a document is not a Kubernetes object: apiVersion or kind is missing',
  );
});
