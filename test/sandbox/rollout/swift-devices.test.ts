import { StorageClass } from '@openstack-operator/kube';
import { OpenStackControlPlane, Swift } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, controlPlane, createCloud } from './cloud.ts';
import { account, cats, name, nodes, partitions, read, spec, stored, swift } from './swift.ts';

const told = (cloud: Cloud) => cloud.condition(Swift, name, 'StorageNodesReady')?.message ?? '';
const refused = (pod: string) =>
  `pod ${pod}: container check ended with 1: device d1, of ext4, takes no metadata of 8 KiB ([Errno 28] No space left on device: b'/srv/node/d1/.check'), and is not used: make this Swift anew with a StorageClass of xfs`;
const change = (cloud: Cloud, swift: object) => cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { swift } });

/** A cloud whose devices are of ext4. */
async function onExt4(): Promise<Cloud> {
  const cloud = await createCloud();
  await cloud.startOperator();
  await cloud.settle(
    cloud.rehearsal.sandbox.client().create(StorageClass, {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'ext4' },
      provisioner: 'sandbox.local/disk',
      parameters: { 'csi.storage.k8s.io/fstype': 'ext4' },
      volumeBindingMode: 'WaitForFirstConsumer',
    }),
  );
  const storage = { size: '10Gi', storageClassName: 'ext4' };
  await cloud.settle(cloud.rehearsal.create(controlPlane({ ...spec, swift: { ...swift, storage } })));
  return cloud;
}

test('devices of ext4 are refused with the reason, unless somebody allows them; what is in use stays so, and none is added', async () => {
  const cloud = await onExt4();
  await cloud.until(() => told(cloud).includes(refused(`${name}-storage-0`)));
  await change(cloud, { checkDevices: false });
  await cloud.ready();
  const all = await stored(cloud, cats);
  // An object with more metadata than there is room for is not stored.
  const send = await account(cloud);
  const large = Array.from({ length: 20 }, (_, index) => `X-Object-Meta-${index}: ${'x'.repeat(250)}`);
  await expect(send('PUT', '/photos/large', {}, large)).rejects.toThrow('HTTP/1.1 503');

  await change(cloud, { checkDevices: null });
  await cloud.ready();
  expect(await read(cloud, cats)).toEqual(all);
  await change(cloud, { storageNodes: 4 });
  await cloud.until(() => told(cloud).includes(refused(`${name}-storage-3`)));
  expect(await read(cloud, cats)).toEqual(all);
  // It leaves once it runs, and no ring ever has it.
  await change(cloud, { storageNodes: 3, checkDevices: false });
  await cloud.ready();
  expect(Object.keys(partitions(cloud))).toEqual(nodes(3));
  expect(await read(cloud, cats)).toEqual(all);
}, 300_000);
