import { expect, test } from 'vitest';
import { surroundingsOf } from '../engine/vocabulary/surroundings.ts';
import { composeControlPlane } from './compose.ts';

const metadata = { name: 'my-cloud', namespace: 'openstack' };
const kind = { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'OpenStackControlPlane' };
const compose = (annotations: Readonly<Record<string, string>>) =>
  composeControlPlane({ ...kind, metadata: { ...metadata, annotations }, spec: {} }, surroundingsOf()).steps;

/** Kinds of the children that are asked to rotate their passwords. */
const asked = (rotate?: string) =>
  compose({ 'openstack.k8s.io/rotate-at': 'now', ...(rotate !== undefined && { 'openstack.k8s.io/rotate': rotate }) })
    .flatMap(({ objects }) => objects)
    .flatMap((one) =>
      'object' in one && one.object.metadata.annotations?.['openstack.k8s.io/rotate-at'] === 'now'
        ? [one.object.kind]
        : [],
    );
const step = (rotate?: string) =>
  compose(rotate === undefined ? {} : { 'openstack.k8s.io/rotate': rotate }).find(
    ({ condition }) => condition === 'RotationReady',
  );
const told = (rotate: string) => step(rotate)?.degraded;

test('a request is about all services, or about those that are named', () => {
  expect(asked()).toEqual(expect.arrayContaining(['Keystone', 'Glance', 'Placement', 'Neutron', 'Nova']));
  expect(asked('nova')).toEqual(['Nova']);
  expect(asked(' nova, placement,nova,')).toEqual(['Placement', 'Nova']);
  expect(asked('')).toEqual([]);
  expect(told('nova,placement')).toBeUndefined();
  expect(step('nova, placement')?.remarks).toEqual([
    'annotation openstack.k8s.io/rotate: openstack.k8s.io/rotate-at is about nova, placement alone; without it the others are rotated at once, unless openstack.k8s.io/rotate-at is removed with it',
  ]);
  expect(step()).toBeUndefined();
});

test.each([
  [' ,', 'no service is named'],
  ['barbican', 'barbican is no service of this cloud whose passwords can be rotated'],
  ['nova,mariadb,Nova', 'mariadb, Nova are no services of this cloud whose passwords can be rotated'],
])('nothing is rotated while a name is unknown, has no passwords, or is not in the cloud: %s', (rotate, words) => {
  expect(asked(rotate)).toEqual([]);
  expect(told(rotate)).toEqual([
    `annotation openstack.k8s.io/rotate: ${words}, and nothing is rotated on request; ` +
      'name some of keystone, glance, placement, neutron, nova, or remove the annotation to have all rotated',
  ]);
});
