import { Glance, Keystone, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';

const paused = (value: string | null) => ({ metadata: { annotations: { 'openstack.k8s.io/paused': value } } });
const retain = { spec: { deletionPolicy: 'Retain' } };
const keysOf = (cloud: Cloud) => cloud.get('Secret', 'my-cloud-keystone-credential-keys');
const deleting = async () => (await readyCloud({ spec: { ...identityOnly, deletionPolicy: 'Delete' } })).cloud;

test('Retain reaches the keys of a Keystone whose reference does not resolve', async () => {
  const cloud = await deleting();
  const uid = keysOf(cloud)?.metadata.uid;
  await cloud.change(OpenStackControlPlane, 'my-cloud', {
    spec: { keystone: { cacheRef: { name: 'a-typing-error' } } },
  });
  await cloud.until(() => cloud.condition(Keystone, 'my-cloud-keystone')?.status === 'False');
  await cloud.change(OpenStackControlPlane, 'my-cloud', retain);
  await cloud.until(
    () =>
      keysOf(cloud)?.metadata.ownerReferences?.length === 0 || keysOf(cloud)?.metadata.ownerReferences === undefined,
  );
  await cloud.remove(OpenStackControlPlane, 'my-cloud');
  await cloud.until(() => cloud.get('Keystone', 'my-cloud-keystone') === undefined, 30);
  await cloud.clock.advance(60_000);
  expect(keysOf(cloud)?.metadata.uid).toBe(uid);
});

test('a deletion that is to retain waits for a Keystone that is paused', async () => {
  const cloud = await deleting();
  const uid = keysOf(cloud)?.metadata.uid;
  await cloud.change(Keystone, 'my-cloud-keystone', paused('true'));
  await cloud.change(OpenStackControlPlane, 'my-cloud', retain);
  await cloud.remove(OpenStackControlPlane, 'my-cloud');
  await cloud.clock.advance(600_000);
  expect(keysOf(cloud)?.metadata.uid).toBe(uid);
  const told = cloud.condition(OpenStackControlPlane, 'my-cloud', 'Reconciled');
  expect(told?.message).toContain('Keystone my-cloud-keystone does not let go of its volumes and Secrets yet');
  expect(told?.message).toContain('it is paused; take annotation openstack.k8s.io/paused from it');
  await cloud.change(Keystone, 'my-cloud-keystone', paused(null));
  await cloud.until(() => cloud.get('OpenStackControlPlane', 'my-cloud') === undefined, 30);
  await cloud.clock.advance(60_000);
  expect(keysOf(cloud)?.metadata.uid).toBe(uid);
});

test('a Keystone that is paused is not disabled before it has let go of what is to be retained', async () => {
  const cloud = await deleting();
  const uid = keysOf(cloud)?.metadata.uid;
  await cloud.change(Keystone, 'my-cloud-keystone', paused('true'));
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { ...retain.spec, keystone: { enabled: false } } });
  await cloud.clock.advance(600_000);
  expect(keysOf(cloud)?.metadata.uid).toBe(uid);
  await cloud.change(Keystone, 'my-cloud-keystone', paused(null));
  await cloud.until(() => cloud.get('Keystone', 'my-cloud-keystone') === undefined, 30);
  expect(keysOf(cloud)?.metadata.uid).toBe(uid);
});

test('Retain reaches the volume of a Glance whose reference does not resolve, and the deletion goes on', async () => {
  const withImages = { ...identityOnly, glance: {} };
  const { cloud } = await readyCloud({ spec: { ...withImages, deletionPolicy: 'Delete' } });
  const volume = () => cloud.list('PersistentVolumeClaim').find(({ metadata }) => metadata.name.includes('glance'));
  const uid = volume()?.metadata.uid;
  expect(uid).toBeDefined();
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { glance: { cacheRef: { name: 'a-typing-error' } } } });
  await cloud.until(() => cloud.condition(Glance, 'my-cloud-glance')?.status === 'False');
  await cloud.change(OpenStackControlPlane, 'my-cloud', retain);
  await cloud.remove(OpenStackControlPlane, 'my-cloud');
  await cloud.until(() => cloud.get('OpenStackControlPlane', 'my-cloud') === undefined, 30);
  await cloud.clock.advance(60_000);
  expect(volume()?.metadata).toMatchObject({ uid });
  expect(volume()?.metadata.deletionTimestamp).toBeUndefined();
});
