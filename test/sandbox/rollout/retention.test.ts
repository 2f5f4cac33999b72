import { Glance, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud, withResources } from './cloud.ts';

const withImages = Object.fromEntries(
  ['ovnNetwork', 'placement', 'neutron', 'nova'].map((name) => [name, { enabled: false }]),
);
const kept = (cloud: Cloud, part = '') => {
  const claims = cloud.list('PersistentVolumeClaim').filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const secrets = cloud
    .list('Secret')
    .filter(({ metadata }) => /-(root-password|credential-keys)$/.test(metadata.name));
  return [...claims, ...secrets]
    .flatMap(({ metadata: { name, uid } }) => (name.includes(part) ? [`${name} ${uid}`] : []))
    .sort();
};
const paused = (value: string | null) => ({ metadata: { annotations: { 'openstack.k8s.io/paused': value } } });
const retain = { spec: { deletionPolicy: 'Retain' } };
const gone = async (cloud: Cloud) => {
  await cloud.until(() => cloud.get('OpenStackControlPlane', 'my-cloud') === undefined, 10);
  await cloud.clock.advance(120_000);
};

test('Retain that is set at once before the deletion, or while no operator runs, keeps volumes and keys', async () => {
  const { cloud, operator } = await readyCloud({ spec: { ...identityOnly, deletionPolicy: 'Delete' } });
  const before = kept(cloud);
  expect(before).toHaveLength(3);
  await cloud.settle(operator.stop());
  await cloud.change(OpenStackControlPlane, 'my-cloud', retain);
  await cloud.remove(OpenStackControlPlane, 'my-cloud');
  await cloud.startOperator({ identity: 'next' });
  await gone(cloud);
  expect(kept(cloud)).toEqual(before);
});

test('a control plane that is set to Retain and deleted while it is paused keeps them', async () => {
  const { cloud } = await readyCloud({ spec: { ...identityOnly, deletionPolicy: 'Delete' } });
  const before = kept(cloud);
  await cloud.change(OpenStackControlPlane, 'my-cloud', paused('true'));
  await cloud.change(OpenStackControlPlane, 'my-cloud', retain);
  await cloud.remove(OpenStackControlPlane, 'my-cloud');
  await cloud.clock.advance(60_000);
  await cloud.change(OpenStackControlPlane, 'my-cloud', paused(null));
  await gone(cloud);
  expect(kept(cloud)).toEqual(before);
});

test('Retain reaches the services of a cloud whose database does not come up', async () => {
  const { cloud } = await readyCloud({ spec: { ...withImages, deletionPolicy: 'Delete' } });
  const before = kept(cloud);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { mariadb: { image: 'registry.invalid/no-such:1' } } });
  await cloud.clock.advance(300_000);
  await cloud.change(OpenStackControlPlane, 'my-cloud', retain);
  await cloud.clock.advance(600_000);
  await cloud.remove(OpenStackControlPlane, 'my-cloud');
  await gone(cloud);
  expect(kept(cloud)).toEqual(before);
});

test('a service that is disabled by the change that says Retain keeps its volume', async () => {
  const { cloud } = await readyCloud({ spec: { ...withImages, deletionPolicy: 'Delete' } });
  const before = kept(cloud, 'glance');
  expect(before).toHaveLength(1);
  const spec = { ...retain.spec, glance: { enabled: false } };
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec });
  await cloud.until(() => cloud.get('Glance', 'my-cloud-glance') === undefined, 10);
  await cloud.clock.advance(120_000);
  expect(kept(cloud, 'glance')).toEqual(before);
});

test('a deletion waits for a child that is paused, says so, and goes on', async () => {
  const { cloud } = await readyCloud({ spec: { ...withImages, deletionPolicy: 'Delete' } });
  const before = kept(cloud);
  await cloud.change(Glance, 'my-cloud-glance', paused('true'));
  await cloud.change(OpenStackControlPlane, 'my-cloud', retain);
  await cloud.remove(OpenStackControlPlane, 'my-cloud');
  await cloud.clock.advance(60_000);
  expect(cloud.condition(OpenStackControlPlane, 'my-cloud', 'Reconciled')?.message).toBe(
    'Glance my-cloud-glance does not let go of its volumes and Secrets yet, which deletionPolicy Retain keeps: it is paused; take annotation openstack.k8s.io/paused from it; the deletion goes on when it has',
  );
  await cloud.change(Glance, 'my-cloud-glance', paused(null));
  await gone(cloud);
  expect(kept(cloud)).toEqual(before);
});

test.each([
  ['', {}],
  [', switched on again', { glance: { enabled: true } }],
])('Retain that is said while a Glance that was disabled still goes keeps its volume%s', async (_what, more) => {
  const { cloud } = await readyCloud({ spec: { ...withImages, deletionPolicy: 'Delete' } });
  const before = kept(cloud, 'glance');
  expect(before).toHaveLength(1);
  // The Job that takes its endpoints back cannot run.
  cloud.rehearsal.sandbox.nodes.stop('node-1');
  await cloud.change(OpenStackControlPlane, 'my-cloud', { ...withResources, spec: { glance: { enabled: false } } });
  await cloud.clock.advance(10_000);
  expect(cloud.get('Glance', 'my-cloud-glance')?.metadata.deletionTimestamp).toBeDefined();
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { ...retain.spec, ...more } });
  await cloud.clock.advance(30_000);
  cloud.rehearsal.sandbox.nodes.start('node-1');
  await cloud.clock.advance(1_200_000);
  expect(kept(cloud, 'glance')).toEqual(before);
});
