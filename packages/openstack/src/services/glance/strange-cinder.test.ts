import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composed, resource, surroundings } from '../../testing/compositions.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');
const sample = resource(read('glance'));
const inVolumes = {
  storageType: 'ceph',
  cephPoolName: 'images',
  cephStorageRef: { name: 'ceph' },
  cinderRef: { name: 'cinder' },
  nodeNetworks: ['10.0.0.0/16'],
  additionalStores: [{ name: 'blocks', type: 'cinder' }],
};

test('a store in the Cinder of a control plane that the Glance is no child of is told what that lacks', () => {
  const controller = { apiVersion: 'openstack.k8s.io/v1alpha1', kind: 'OpenStackControlPlane', name: 'c', uid: 'c' };
  const below = { ownerReferences: [{ ...controller, controller: true }] };
  const told = (own: object, cinders: object) => {
    const world = surroundings(read);
    const found = resource(read('cinder'));
    const backends = [{ name: 'ceph', type: 'ceph', cephPoolName: 'volumes' }];
    const cinder = { ...found, metadata: { ...found.metadata, ...cinders }, spec: { ...found.spec, backends } };
    const glance = { ...sample, metadata: { ...sample.metadata, ...own }, spec: { ...sample.spec, ...inVolumes } };
    const { steps } = composed(glance, { ...world, references: { ...world.references, cinderRef: { found: cinder } } });
    return steps.find(({ condition }) => condition === 'ConfigReady')?.remarks ?? [];
  };
  expect(told({}, below)).toEqual([
    expect.stringMatching(
      /^spec.cinderRef: Cinder cinder is of OpenStackControlPlane c, .*schemes=cinder.* quota set /u,
    ),
  ]);
  expect(told(below, {})).toEqual([expect.stringContaining('Cinder cinder is of no control plane')]);
  expect([...told({}, {}), ...told(below, below)]).toEqual([]);
});
