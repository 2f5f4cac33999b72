import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { bringCeph, fsid, keyOf, keyring, monitor, secret } from './ceph.ts';
import { controlPlane, createCloud, identityOnly } from './cloud.ts';

test('a gateway that comes later, goes and comes back gets one key of its own, which stays', async () => {
  const cloud = await createCloud();
  await cloud.startOperator();
  await bringCeph(cloud);
  const admin = secret('ceph-admin', { 'ceph.client.admin.keyring': keyring(keyOf('a')) });
  await cloud.settle(cloud.rehearsal.create(admin));
  const external = { monitorHosts: monitor, fsid, admin: { keyringSecretName: 'ceph-admin' } };
  const cinder = { backends: [{ name: 'fast', type: 'ceph', cephPoolName: 'volumes' }] };
  const spec = { ...identityOnly, rabbitmq: {}, cinder, cephStorage: { external } };
  await cloud.settle(cloud.rehearsal.create(controlPlane(spec)));
  await cloud.ready();
  const key = () => cloud.get('Secret', 'my-cloud-ceph-cephx-keys-swift')?.['data'];
  expect(key()).toBeUndefined();

  const images = { proxy: 'registry.example.com/openstack/ceph:18.2.7' };
  const keys = [];
  for (const enabled of [true, false, true]) {
    await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { swift: { enabled, mode: 'ceph-rgw', images } } });
    await cloud.until(() => (cloud.get('Swift', 'my-cloud-swift') !== undefined) === enabled);
    await cloud.ready();
    if (enabled) keys.push(key());
  }
  expect(keys[0]).toBeDefined();
  expect(keys[1]).toEqual(keys[0]);
});
